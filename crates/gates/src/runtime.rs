//! What tasks see of the executor: the baton, with which they announce, wait and spawn.

use std::cell::{Cell, UnsafeCell};
use std::ptr::NonNull;
use std::sync::Arc;

use drawloom_engine::finding::{FindingKind, Panic};
use drawloom_engine::strategy::Strategy;
use drawloom_engine::{Committed, Ending, Engine, Next, OpKind, Operation, ResourceId, Site, Stop, TaskId, outcome};

use crate::gate::Gate;
use crate::given_up;
use crate::guests::Errand;
use crate::teardown::{MAX_ACCESSES, MAX_FORCED, MAX_OF_FRAMEWORKS};
use crate::turns::Turns;
use crate::waits::Wait;

/// What a task runs, on a thread of the other runtime; what it fails with, if it does.
pub type Body = Box<dyn FnOnce() -> Option<Panic>>;

/// The other runtime's part.
#[derive(Clone, Copy)]
pub struct Foreign {
    /// Opens the gate of another thread, if there is one to open, and waits at the caller's own. Whatever the runtime
    /// has a thread hold while it runs is given up before, and taken again when the caller comes through.
    pub switch: fn(next: Option<&Gate>, own: &Gate),
    /// Starts a thread that calls [`serve`] with these.
    pub start_thread: fn(Baton, Arc<Gate>),
    /// Nobody can go on: what it knows of tasks that wait. It makes no step.
    pub waits: fn(Baton) -> Vec<Wait>,
}

/// The execution is being torn down: the task is to unwind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TornDown;

thread_local! {
    static BATON: Cell<Option<Baton>> = const { Cell::new(None) };
}

/// What the calling thread has to do with an execution, if it is a task of one.
#[inline]
pub fn baton() -> Option<Baton> {
    let baton = BATON.get();
    if given_up::is_possible() {
        given_up::stop_if_so(baton);
    }
    baton
}

pub(crate) fn set_baton(baton: Option<Baton>) {
    BATON.set(baton);
}

/// State that all threads of an execution share.
///
/// Only the thread that was let through touches it, and gates order what one does before what the next one does. No
/// reference into it is held across a switch, nor while code of the program runs.
pub(crate) struct Shared {
    inner: UnsafeCell<Inner>,
}

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) strategy: Box<dyn Strategy>,
    /// By task: the gate of its thread, once it has begun.
    pub(crate) gates: Vec<Option<Arc<Gate>>>,
    /// By task: what it is to run, until it begins.
    pub(crate) bodies: Vec<Option<Body>>,
    /// Threads without a task.
    pub(crate) idle: Vec<Arc<Gate>>,
    /// Of the thread that runs executions, and main in them.
    pub(crate) conductor: Arc<Gate>,
    pub(crate) running: TaskId,
    /// By task: how often it was told to unwind.
    pub(crate) forced: Vec<u32>,
    pub(crate) accesses_in_teardown: u32,
    pub(crate) of_frameworks_in_teardown: u32,
    /// Tasks that let others unwind before them.
    pub(crate) giving_way: Vec<TaskId>,
    pub(crate) leaked: usize,
    /// By task: what it does next, if it is a guest.
    pub(crate) guests: Vec<Option<Errand>>,
    /// By what tasks take turns, if they do.
    pub(crate) turns: Option<Turns>,
    /// What it comes to, as the other runtime tells it, if it has been asked.
    pub(crate) told: Option<Ending>,
    pub(crate) foreign: Foreign,
}

/// The right to run, and what can be done with it. Only the thread that was let through may use it.
#[derive(Clone, Copy)]
pub struct Baton(NonNull<Shared>);

impl Shared {
    pub(crate) fn new(inner: Inner) -> Shared {
        Shared { inner: UnsafeCell::new(inner) }
    }

    pub(crate) fn engine(&self) -> &Engine {
        // SAFETY: called by the executor between executions, when no task runs.
        unsafe { &(*self.inner.get()).engine }
    }
}

impl Baton {
    pub(crate) fn new(shared: &Shared) -> Baton {
        Baton(NonNull::from(shared))
    }

    #[allow(clippy::mut_from_ref)]
    #[inline]
    pub(crate) fn inner(&self) -> &mut Inner {
        // SAFETY: the shared state outlives its threads' batons, which the executor takes back before it goes; and
        // the caller was let through, so the reference is the only one at its time, as `Shared` explains.
        unsafe { &mut *self.0.as_ref().inner.get() }
    }

    /// The task whose code runs.
    #[inline]
    pub fn running(self) -> TaskId {
        self.inner().running
    }

    /// The engine. Code of the program must not run meanwhile.
    #[inline]
    pub fn with_engine<R>(self, act: impl FnOnce(&mut Engine) -> R) -> R {
        act(&mut self.inner().engine)
    }

    /// Whether the execution is over, and what is left of it is unwound.
    #[inline]
    pub fn is_tearing_down(self) -> bool {
        self.inner().engine.is_tearing_down()
    }

    /// Announces `operation` and waits for its turn and its grant. An access is to be carried out on return, without
    /// delay; all else has been carried out.
    #[inline]
    pub fn step(self, operation: Operation) -> Result<u32, TornDown> {
        let inner = self.inner();
        if inner.engine.is_tearing_down() {
            return self.step_in_teardown(operation);
        }
        if !inner.guests.is_empty() && self.is_guest() {
            return Err(self.refuse_within_a_piece(operation.kind));
        }
        if self.takes_turns() {
            return self.step_between_turns(operation);
        }
        self.step_in_sight(operation)
    }

    /// The same, where it is a choice who goes next.
    #[inline]
    pub(crate) fn step_in_sight(self, operation: Operation) -> Result<u32, TornDown> {
        let inner = self.inner();
        let me = inner.running;
        inner.engine.announce(me, operation);
        let next = match inner.engine.next_at_once() {
            Some(task) => Next::Run(task),
            None => inner.engine.next(&mut *inner.strategy),
        };
        if next == Next::Run(me) {
            if let Committed::Done(result) = inner.engine.carry_out(me, operation, &mut *inner.strategy) {
                return Ok(result);
            }
            let next = inner.engine.next(&mut *inner.strategy);
            self.let_others_run(next, me)?;
            return Ok(self.inner().engine.result(me));
        }
        self.let_others_run(next, me)?;
        let inner = self.inner();
        if operation.kind.is_told() {
            inner.engine.carry_out(me, operation, &mut *inner.strategy);
            return Ok(outcome::OK);
        }
        Ok(inner.engine.result(me))
    }

    /// As [`step`](Self::step), for a wait that ends after `nanos` of virtual time at the latest.
    pub fn step_with_timeout(self, operation: Operation, nanos: u64) -> Result<u32, TornDown> {
        let inner = self.inner();
        let deadline = inner.engine.now().saturating_add(nanos);
        inner.engine.set_deadline(inner.running, Some(deadline));
        let result = self.step(operation);
        let inner = self.inner();
        inner.engine.set_deadline(inner.running, None);
        result
    }

    /// Spawns a task: a step of the running one, which takes [another turn](Self::take_another_turn) then, if it takes turns.
    pub fn spawn(self, name: Option<&str>, site: Site, body: Body) -> Result<TaskId, TornDown> {
        let operation = Operation::new(OpKind::Spawn, ResourceId::NONE, site);
        if self.takes_turns() {
            self.step_in_sight(operation)?
        } else {
            self.step(operation)?
        };
        let inner = self.inner();
        let child = inner.engine.spawn(inner.running, site, name.map(Into::into), &mut *inner.strategy);
        inner.enlist(child, body);
        Ok(child)
    }

    /// The execution has failed because of `kind`; the caller is to unwind.
    pub fn fail(self, kind: FindingKind) -> TornDown {
        let inner = self.inner();
        inner.engine.fail(kind, inner.running);
        TornDown
    }

    /// Gives the execution up, and the exploration with it; the caller is to unwind.
    pub fn stop(self, why: Stop) -> TornDown {
        self.inner().engine.stop(why);
        TornDown
    }

    /// Lets others run until it is the turn of `me` again.
    pub(crate) fn let_others_run(self, next: Next, me: TaskId) -> Result<(), TornDown> {
        let next = self.inner().resolve(next);
        if next != Some(me) {
            let own = self.inner().own_gate(me);
            self.switch(next, &own);
            self.inner().running = me;
        }
        if self.is_tearing_down() { self.must_unwind(me) } else { Ok(()) }
    }

    fn must_unwind(self, me: TaskId) -> Result<(), TornDown> {
        let inner = self.inner();
        let operation = inner.engine.task(me).pending;
        if operation.kind.only_releases() {
            if let Committed::Done(result) = inner.engine.carry_out(me, operation, &mut *inner.strategy) {
                inner.engine.set_result(me, result);
            }
            return Ok(());
        }
        inner.engine.abandon_wait(me);
        Err(self.forced(me))
    }

    /// Hands over to `next`, or, if that is nobody, to the conductor; comes back when the gate `own` is opened.
    pub(crate) fn switch(self, next: Option<TaskId>, own: &Gate) {
        if next.is_none() {
            self.hear_of_waits();
        }
        let inner = self.inner();
        let gate = match next {
            Some(task) => inner.gate_for(task, self),
            None => {
                inner.end();
                Arc::clone(&inner.conductor)
            }
        };
        let switch = inner.foreign.switch;
        if std::ptr::eq(&*gate, own) {
            return;
        }
        switch(Some(&gate), own);
    }

    /// A task has been told to unwind; who never does is held for good.
    pub(crate) fn forced(self, me: TaskId) -> TornDown {
        let inner = self.inner();
        inner.forced.resize(inner.engine.tasks().len().max(inner.forced.len()), 0);
        inner.forced[me.index()] += 1;
        if inner.forced[me.index()] > MAX_FORCED && me != TaskId::MAIN {
            let own = inner.own_gate(me);
            loop {
                self.switch(None, &own);
            }
        }
        TornDown
    }

    /// What an access comes to while the execution is torn down: it is let through, but not for ever.
    #[cold]
    pub fn access_in_teardown(self) -> Result<(), TornDown> {
        let inner = self.inner();
        inner.accesses_in_teardown += 1;
        if inner.accesses_in_teardown < MAX_ACCESSES { Ok(()) } else { Err(self.forced(inner.running)) }
    }

    /// The same of an instruction of a framework.
    #[cold]
    pub fn framework_in_teardown(self) -> Result<(), TornDown> {
        let inner = self.inner();
        inner.of_frameworks_in_teardown += 1;
        if inner.of_frameworks_in_teardown < MAX_OF_FRAMEWORKS { Ok(()) } else { Err(self.forced(inner.running)) }
    }

    fn step_in_teardown(self, operation: Operation) -> Result<u32, TornDown> {
        let inner = self.inner();
        let me = inner.running;
        if !operation.kind.only_releases() {
            return Err(self.forced(me));
        }
        inner.engine.announce(me, operation);
        match inner.engine.carry_out(me, operation, &mut *inner.strategy) {
            Committed::Done(result) => Ok(result),
            Committed::Wait => Err(TornDown),
        }
    }
}

impl Inner {
    /// Who is to be resumed: operations that the engine carries out are carried out on behalf of those who announced
    /// them, and if these have to wait then, somebody else is next. Nobody, if the execution is over.
    pub(crate) fn resolve(&mut self, mut next: Next) -> Option<TaskId> {
        loop {
            match next {
                Next::Settle(task) => return Some(task),
                Next::Stop => return None,
                Next::Run(task) => {
                    let operation = self.engine.task(task).pending;
                    if operation.kind.is_told() {
                        return Some(task);
                    }
                    if let Committed::Done(result) = self.engine.carry_out(task, operation, &mut *self.strategy) {
                        self.engine.set_result(task, result);
                        return Some(task);
                    }
                }
            }
            next = self.engine.next(&mut *self.strategy);
        }
    }

    /// The execution is over, if it was not already: from now on nobody chooses.
    pub(crate) fn end(&mut self) {
        if !self.engine.is_tearing_down() {
            let ending = self.told.as_ref().unwrap_or(self.engine.ending());
            self.strategy.end(&self.engine.view(), ending);
            self.engine.begin_teardown();
        }
    }

    pub(crate) fn enlist(&mut self, task: TaskId, body: Body) {
        while self.bodies.len() <= task.index() {
            self.bodies.push(None);
            self.gates.push(None);
        }
        self.bodies[task.index()] = Some(body);
        self.gates[task.index()] = None;
    }

    pub(crate) fn own_gate(&self, me: TaskId) -> Arc<Gate> {
        Arc::clone(self.gates[me.index()].as_ref().expect("who runs has a gate"))
    }

    /// The gate behind which the thread of `task` waits; an idle thread's, if it has not begun.
    fn gate_for(&mut self, task: TaskId, baton: Baton) -> Arc<Gate> {
        if let Some(gate) = &self.gates[task.index()] {
            return Arc::clone(gate);
        }
        let gate = self.idle.pop().unwrap_or_else(|| {
            let gate = Arc::new(Gate::new());
            (self.foreign.start_thread)(baton, Arc::clone(&gate));
            gate
        });
        gate.assign(task);
        self.gates[task.index()] = Some(Arc::clone(&gate));
        gate
    }
}

/// What a thread of the pool does: runs the tasks that it is let through for, until it is let through for none.
pub fn serve(foreign: Foreign, shared: Baton, gate: &Arc<Gate>) {
    gate.belongs_to_caller();
    set_baton(Some(shared));
    given_up::is_at(gate);
    // Nothing is touched before somebody lets it through.
    (foreign.switch)(None, gate);
    loop {
        let me = gate.assigned();
        if me == TaskId::NONE {
            return;
        }
        shared.inner().running = me;
        shared.run_task(me);
        let inner = shared.inner();
        inner.gates[me.index()] = None;
        inner.idle.push(Arc::clone(gate));
        let next = if inner.engine.is_tearing_down() {
            None
        } else {
            let next = inner.engine.next(&mut *inner.strategy);
            inner.resolve(next)
        };
        shared.switch(next, gate);
    }
}

impl Baton {
    /// Runs the body of `me` to its end, the exit included.
    pub(crate) fn run_task(self, me: TaskId) {
        let body = self.inner().bodies[me.index()].take();
        if let Some(body) = body.filter(|_| !self.is_tearing_down()) {
            if let Some(panic) = body() {
                if !self.is_tearing_down() {
                    self.inner().engine.fail(FindingKind::Panic(Box::new(panic)), me);
                }
            }
        }
        let _ = self.step(Operation::new(OpKind::Exit, ResourceId::NONE, Site::UNKNOWN));
        self.inner().engine.bury(me);
    }
}
