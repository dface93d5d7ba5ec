//! What tasks see of the executor: the handle through which they announce, wait and spawn.

use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use corosensei::Yielder;
use drawloom_engine::finding::FindingKind;
use drawloom_engine::strategy::{Sequential, Strategy};
use drawloom_engine::{
    Abandoned, Budget, Committed, Engine, Look, OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId,
    outcome,
};

use crate::fiber::Fiber;
use crate::foreign::Foreign;
use crate::locals::Locals;
use crate::panics::{ForcedUnwind, Panics};
use crate::teardown::{MAX_CELL_ACCESSES, MAX_FORCED_UNWINDS};
use crate::weaker::Weaker;

/// What a task runs.
pub type Body = Box<dyn FnOnce()>;

thread_local! {
    static CURRENT: Cell<Option<Handle>> = const { Cell::new(None) };
}

/// The execution that the calling code is part of, if it is part of one.
#[inline]
pub fn current() -> Option<Handle> {
    CURRENT.get()
}

pub(crate) fn set_current(handle: Option<Handle>) {
    CURRENT.set(handle);
}

/// State shared by the executor and the fibers that it runs.
///
/// Everything happens on one OS thread, and control passes between the executor and its fibers only
/// at suspend and resume. No reference into this struct is held across either, nor while user code
/// runs; so each short-lived `&mut` below is the only one at its time.
pub(crate) struct Runtime {
    inner: UnsafeCell<Inner>,
}

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) strategy: Box<dyn Strategy>,
    /// Every fiber there is. Boxed: a fiber's place must not change while it runs.
    #[allow(clippy::vec_box)]
    pub(crate) fibers: Vec<Box<Fiber>>,
    pub(crate) idle: Vec<*mut Fiber>,
    /// By task: its fiber, or `NO_FIBER`.
    pub(crate) fiber_of: Vec<*mut Fiber>,
    /// By task: what it is to run, until it begins.
    pub(crate) bodies: Vec<Option<Body>>,
    pub(crate) locals: Vec<Locals>,
    pub(crate) panics: Panics,
    /// Whom the executor is to resume when a fiber suspends; nobody, if the execution is over.
    pub(crate) resumes: TaskId,
    /// The task whose code runs now.
    pub(crate) running: TaskId,
    pub(crate) running_fiber: *mut Fiber,
    /// Distinguishes this execution from every other one in the process.
    pub(crate) epoch: u64,
    /// The same, shifted by [`RESOURCE_BITS`].
    pub(crate) mark: u64,
    pub(crate) stack_size: usize,
    pub(crate) quitting: bool,
    /// The running task was left where it was.
    pub(crate) left: bool,
    /// Whose tasks they are, if they are written in another language.
    pub(crate) foreign: Option<&'static dyn Foreign>,
    /// The same, if it hears of switches.
    pub(crate) hears_switches: Option<&'static dyn Foreign>,
    /// The fiber of a task that has ended in the midst of it.
    pub(crate) ended: *mut Fiber,
    /// By task: what a front end remembers of it. 0 for all that it does not reach to.
    pub(crate) memos: Vec<u8>,
    /// Whom the running task has woken since its last step, and where: paid before its next one.
    pub(crate) owed_wakes: Vec<(TaskId, Site)>,
    /// By task: how often it was forced to unwind. Only filled in teardown.
    pub(crate) forced: Vec<u32>,
    pub(crate) cell_accesses_in_teardown: u32,
    /// Addresses that atomics have held, in the order in which they came up.
    pub(crate) addresses: Vec<usize>,
    /// Places of accesses that asked for a weaker ordering, in all executions of this executor.
    pub(crate) weaker: Weaker,
}

pub(crate) const NO_FIBER: *mut Fiber = std::ptr::null_mut();

impl Default for Runtime {
    fn default() -> Runtime {
        Runtime {
            inner: UnsafeCell::new(Inner {
                engine: Engine::new(),
                strategy: Box::new(Sequential),
                fibers: Vec::new(),
                idle: Vec::new(),
                fiber_of: Vec::new(),
                bodies: Vec::new(),
                locals: Vec::new(),
                panics: Panics::default(),
                resumes: TaskId::NONE,
                running: TaskId::MAIN,
                running_fiber: NO_FIBER,
                epoch: 0,
                mark: 0,
                stack_size: 0,
                quitting: false,
                left: false,
                foreign: None,
                hears_switches: None,
                ended: NO_FIBER,
                memos: Vec::new(),
                owed_wakes: Vec::new(),
                forced: Vec::new(),
                cell_accesses_in_teardown: 0,
                addresses: Vec::new(),
                weaker: Weaker::default(),
            }),
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        Handle::new(self).drop_fibers();
    }
}

impl Runtime {
    pub(crate) fn engine(&self) -> &Engine {
        // SAFETY: called by the executor between executions, when no task runs; the borrow of the
        // runtime keeps the executor from running another one meanwhile.
        unsafe { &(*self.inner.get()).engine }
    }

    pub(crate) fn weaker(&self) -> &Weaker {
        // SAFETY: as above.
        unsafe { &(*self.inner.get()).weaker }
    }
}

/// Access to the execution that the calling task is part of.
#[derive(Clone, Copy)]
pub struct Handle(NonNull<Runtime>);

impl Handle {
    pub(crate) fn new(runtime: &Runtime) -> Handle {
        Handle(NonNull::from(runtime))
    }

    #[allow(clippy::mut_from_ref)]
    #[inline]
    pub(crate) fn inner(&self) -> &mut Inner {
        // SAFETY: the runtime outlives its fibers and the executor, who alone hold handles; the
        // reference is the only one at its time, as `Runtime` explains.
        unsafe { &mut *self.0.as_ref().inner.get() }
    }

    /// Suspends the running task for good.
    fn stop(self) -> ! {
        loop {
            self.inner().resumes = TaskId::NONE;
            self.switch();
            if self.inner().engine.is_tearing_down() {
                self.resumed_in_teardown();
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn switch(self) {
        if self.inner().hears_switches.is_some() {
            return self.leave_heard();
        }
        self.leave();
    }

    /// Leaves, and the other language hears of it.
    #[cold]
    #[inline(never)]
    fn leave_heard(self) {
        if let Some(foreign) = self.inner().hears_switches {
            foreign.stops(self.inner().running, &mut || self.leave());
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave(self) {
        // SAFETY: the running fiber is live, and its yielder lives on the stack that we are on.
        unsafe { (*(*self.inner().running_fiber).yielder).suspend(()) };
    }

    // ── teardown, as a task sees it ──────────────────────────────────────────────────────────────

    /// A task that is resumed in teardown unwinds, unless it is unwinding already.
    #[cold]
    pub(crate) fn resumed_in_teardown(self) {
        let inner = self.inner();
        let me = inner.running;
        let kind = inner.engine.task(me).pending.kind;
        if kind.only_releases() {
            // Most destructors do nothing else: let it be carried out.
            if let Committed::Done(result) = inner.engine.commit(me, kind, &mut *inner.strategy) {
                inner.engine.set_result(me, result);
            }
            return;
        }
        if inner.panics.is_panicking(me) {
            // It was suspended in a destructor: its wait, if it is in one, is over.
            match kind {
                OpKind::Await => inner.engine.set_result(me, outcome::LOOK_AGAIN),
                _ => drop(self.wait_in_teardown(me)),
            }
            return;
        }
        self.force_unwind(me);
    }

    /// Inlined, for each frame that is unwound costs as much as several steps.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn force_unwind(self, me: TaskId) -> ! {
        let inner = self.inner();
        inner.forced.resize(inner.engine.tasks().len(), 0);
        inner.forced[me.index()] += 1;
        if inner.forced[me.index()] > MAX_FORCED_UNWINDS {
            // It catches our panics and goes on: never resume it again.
            loop {
                inner.resumes = TaskId::NONE;
                self.switch();
            }
        }
        inner.engine.abandon_wait(me);
        inner.panics.begin_forced(me);
        resume_unwind(Box::new(ForcedUnwind));
    }

    /// Counts accesses to cells, so that a loop of them does not go on for ever.
    fn cell_access_in_teardown(self) -> bool {
        let inner = self.inner();
        inner.cell_accesses_in_teardown += 1;
        inner.cell_accesses_in_teardown < MAX_CELL_ACCESSES
    }

    #[cold]
    pub(crate) fn step_in_teardown(self, kind: OpKind, resource: ResourceId, arg: u64, site: Site) -> u32 {
        let operation = Operation { site, arg, resource, kind };
        let inner = self.inner();
        let me = inner.running;
        // Between the accesses to a plain cell a value may be in two places, or in none: code that is
        // in the middle of that is not unwound.
        let in_a_cell =
            matches!(operation.kind, OpKind::CellRead | OpKind::CellWrite) && self.cell_access_in_teardown();
        if !inner.panics.is_panicking(me) && !operation.kind.only_releases() && !in_a_cell {
            self.force_unwind(me);
        }
        match operation.kind {
            OpKind::Exit => {
                inner.engine.bury(me);
                return outcome::OK;
            }
            OpKind::Sleep | OpKind::Park => return outcome::TORN_DOWN,
            OpKind::Yield => {
                // A destructor that spins: let the others go on; it is leaked if that brings nothing.
                inner.resumes = TaskId::NONE;
                self.switch();
                return outcome::OK;
            }
            OpKind::Spawn => return outcome::OK,
            OpKind::Await if Look::of(operation.arg).holds() => return outcome::OK,
            OpKind::Await => {
                // As one that spins.
                inner.resumes = TaskId::NONE;
                self.switch();
                return outcome::LOOK_AGAIN;
            }
            _ => {}
        }
        inner.engine.announce(me, operation);
        if inner.engine.is_waiting(me) {
            return self.wait_in_teardown(me);
        }
        match inner.engine.commit(me, operation.kind, &mut *inner.strategy) {
            Committed::Done(result) => result,
            Committed::Wait => self.wait_in_teardown(me),
        }
    }

    /// Gives the others their turn until the wait is over. Receives and sends are not worth waiting
    /// for: nobody produces any more.
    fn wait_in_teardown(self, me: TaskId) -> u32 {
        loop {
            let inner = self.inner();
            if !inner.engine.is_waiting(me) {
                return inner.engine.result(me);
            }
            let kind = inner.engine.task(me).pending.kind;
            if matches!(kind, OpKind::Recv | OpKind::Send | OpKind::Sleep | OpKind::Park) {
                inner.engine.abandon_wait(me);
                return match kind {
                    OpKind::Recv | OpKind::Send => outcome::DISCONNECTED,
                    _ => outcome::TORN_DOWN,
                };
            }
            inner.resumes = TaskId::NONE;
            self.switch();
        }
    }

    // ── what front ends need besides steps ───────────────────────────────────────────────────────

    /// The task whose code runs.
    #[inline]
    pub fn running(self) -> TaskId {
        self.inner().running
    }

    /// The number of this execution, unique in the process.
    #[inline]
    pub fn epoch(self) -> u64 {
        self.inner().epoch
    }

    /// The same in the upper bits of a word, whose lower [`RESOURCE_BITS`] are free for the number of a resource.
    #[inline]
    pub fn mark(self) -> u64 {
        self.inner().mark
    }

    /// Whether the execution is over and what is left of it is being unwound.
    #[inline]
    pub fn is_tearing_down(self) -> bool {
        self.inner().engine.is_tearing_down()
    }

    /// Runs `f` on the engine. It must not run user code.
    #[inline]
    pub fn with_engine<R>(self, f: impl FnOnce(&mut Engine) -> R) -> R {
        f(&mut self.inner().engine)
    }

    /// Registers a resource that the running task is about to touch for the first time.
    #[inline]
    pub fn create_resource(self, kind: ResourceKind, state: State, created_at: Site) -> ResourceId {
        let inner = self.inner();
        inner.engine.create_resource(inner.running, kind, state, created_at)
    }

    /// As [`step`](Self::step), for a wait that ends after `nanos` of virtual time at the latest.
    pub fn step_with_timeout(self, operation: Operation, nanos: u64) -> u32 {
        let deadline = self.now_before_wait(operation.site).saturating_add(nanos);
        self.begin_wait(operation, deadline)
    }

    /// The virtual clock, for a wait that begins at once and has a time limit. It is read by a step only where the
    /// order of that step and of timers is explored.
    pub fn now_before_wait(self, site: Site) -> u64 {
        if self.inner().engine.every_timer_fires() {
            self.step(Operation::new(OpKind::Now, ResourceId::NONE, site));
        }
        self.inner().engine.now()
    }

    /// As [`step`](Self::step), for a wait that ends at the virtual instant `deadline` at the latest.
    pub fn step_until(self, operation: Operation, deadline: u64) -> u32 {
        self.now_before_wait(operation.site);
        self.begin_wait(operation, deadline)
    }

    fn begin_wait(self, operation: Operation, deadline: u64) -> u32 {
        self.make_owed_wakes();
        let inner = self.inner();
        inner.engine.set_deadline(inner.running, Some(deadline));
        let result = self.step(operation);
        let inner = self.inner();
        inner.engine.set_deadline(inner.running, None);
        result
    }

    /// A number for an address: the same for equal addresses, and not the address itself. 0 is null.
    pub fn number_of_address(self, address: usize) -> u64 {
        let addresses = &mut self.inner().addresses;
        if address == 0 {
            return 0;
        }
        let known = addresses.iter().position(|known| *known == address);
        let at = known.unwrap_or_else(|| {
            addresses.push(address);
            addresses.len() - 1
        });
        at as u64 + 1
    }

    /// The address that has this [number](Self::number_of_address).
    pub fn address_of_number(self, number: u64) -> usize {
        let at = number.checked_sub(1).map(|at| at as usize);
        at.and_then(|at| self.inner().addresses.get(at).copied()).unwrap_or(0)
    }

    /// Makes a choice among `outcomes` a step of the running task.
    pub fn choose(self, outcomes: u64, site: Site) -> u64 {
        let operation = Operation::new(OpKind::Choose, ResourceId::NONE, site).with_arg(outcomes);
        self.step(operation);
        self.inner().engine.steps().last().map_or(0, |step| step.value)
    }

    /// Whether a wait ends now although nobody ended it.
    pub fn wakes_spuriously(self, site: Site) -> bool {
        self.goes_wrong(Budget::SpuriousWakeups, site)
    }

    /// Whether a weak compare-exchange fails now although it need not.
    pub fn fails_spuriously(self, site: Site) -> bool {
        self.goes_wrong(Budget::WeakFailures, site)
    }

    /// Whether what `budget` counts happens now: a choice, while the budget lasts.
    fn goes_wrong(self, budget: Budget, site: Site) -> bool {
        let inner = self.inner();
        // Somebody else may have spent what was left before this task had its turn.
        inner.engine.may_go_wrong(inner.running, budget)
            && self.choose(2, site) == 1
            && self.inner().engine.spend(budget)
    }

    /// Gives the execution up, which is to be made again, and unwinds the running task.
    pub fn abandon(self, why: Abandoned) -> ! {
        self.inner().engine.abandon(why);
        self.stop();
    }

    /// The execution has failed by the doing of the running task, which never goes on.
    pub fn fail(self, kind: FindingKind) -> ! {
        let inner = self.inner();
        inner.engine.fail(kind, inner.running);
        self.stop();
    }

    /// Ends the running task, which is one of [another language](crate::Foreign), in the midst of its code.
    pub fn end_task(self) -> ! {
        let me = self.inner().running;
        let fiber = self.inner().running_fiber;
        self.step(Operation::new(OpKind::Exit, ResourceId::NONE, Site::UNKNOWN));
        self.choose_after_the_end_of(me);
        self.inner().ended = fiber;
        loop {
            self.leave();
        }
    }

    /// The running task has ended: says who goes on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn choose_after_the_end_of(self, me: TaskId) {
        let inner = self.inner();
        inner.engine.bury(me);
        inner.fiber_of[me.index()] = NO_FIBER;
        if inner.engine.is_tearing_down() {
            inner.resumes = TaskId::NONE;
        } else {
            let next = inner.engine.next(&mut *inner.strategy);
            self.hand_over(next, TaskId::NONE);
        }
    }

    /// Spawns a task: a step of the running one.
    pub fn spawn(self, name: Option<&str>, site: Site, body: Body) -> TaskId {
        self.step(Operation::new(OpKind::Spawn, ResourceId::NONE, site));
        let inner = self.inner();
        let parent = inner.running;
        let child = inner.engine.spawn(parent, site, name.map(Into::into), &mut *inner.strategy);
        inner.enlist(child, body);
        child
    }

    /// As [`spawn`](Self::spawn), for a task that is a process: nothing is spawned if a signal was fatal to it.
    pub fn spawn_if_alive(self, name: Option<&str>, site: Site, body: Body) -> Option<TaskId> {
        if self.step(Operation::new(OpKind::Spawn, ResourceId::NONE, site)) == outcome::KILLED {
            return None;
        }
        let inner = self.inner();
        let parent = inner.running;
        let child = inner.engine.spawn(parent, site, name.map(Into::into), &mut *inner.strategy);
        inner.enlist(child, body);
        Some(child)
    }

    /// Kills `task`: it makes no further step, and gives nothing back. It is unwound when the execution is over. A step of the
    /// running task, which may be `task` itself.
    pub fn kill(self, task: TaskId, site: Site) {
        self.step(Operation::new(OpKind::Kill, ResourceId::NONE, site).with_arg(u64::from(task.0)));
    }

    /// Puts `task`, which the running task has just spawned, and all that it will spawn into a group that can be killed as a whole.
    pub fn set_group(self, task: TaskId, group: u16) {
        self.inner().engine.set_group(task, group);
    }

    /// Kills all tasks of `group`, a step each; no schedule can tell that from a single step. Nobody but its members may spawn
    /// members meanwhile.
    pub fn kill_group(self, group: u16, site: Site) {
        let mut last = None;
        while let Some(task) = self.inner().engine.next_member(group, last) {
            self.kill(task, site);
            last = Some(task);
        }
    }

    /// Leaves `operations` to a task of the environment: a step of the running task. No fiber is ever made for that task.
    pub fn leave_to_environment(
        self,
        operations: &[Operation],
        budget: Option<Budget>,
        name: Option<&str>,
        site: Site,
    ) -> TaskId {
        self.step(Operation::new(OpKind::Spawn, ResourceId::NONE, site));
        let inner = self.inner();
        let parent = inner.running;
        inner.engine.create_environment(parent, operations, budget, name.map(Into::into), &mut *inner.strategy)
    }
}

/// What the task that serves the nodes of a cluster does.
impl Handle {
    /// Registers a node that the running task serves, with the task of the environment that stands for it: a step of the running task.
    pub fn create_node(self, name: &str, site: Site) -> (TaskId, ResourceId) {
        self.step(Operation::new(OpKind::Spawn, ResourceId::NONE, site));
        let inner = self.inner();
        inner.engine.create_node(inner.running, name, site, &mut *inner.strategy)
    }

    /// Creates a task of the environment that makes the operations that it is [given](Self::post_in_turn), one after another. `parent`
    /// names it.
    pub fn create_queue(self, parent: TaskId) -> TaskId {
        let inner = self.inner();
        inner.engine.create_queue(parent, &mut *inner.strategy)
    }

    /// The same, under a number of its own among the children of `parent`, from 1: it must not be taken.
    pub fn create_queue_as(self, parent: TaskId, ordinal: u32) -> TaskId {
        let inner = self.inner();
        inner.engine.create_queue_as(parent, ordinal, &mut *inner.strategy)
    }

    /// From now on something may happen, once and at any time. `parent` names it.
    #[inline]
    pub fn post(self, parent: TaskId, operation: Operation) -> TaskId {
        let inner = self.inner();
        inner.engine.post(parent, operation, &mut *inner.strategy)
    }

    /// The same, after what was posted in that queue before.
    #[inline]
    pub fn post_in_turn(self, queue: TaskId, operation: Operation) {
        self.inner().engine.post_in_turn(queue, operation);
    }

    /// Makes a choice among `outcomes` in the midst of what has happened last. `None` if there are too many.
    pub fn choose_within(self, outcomes: u64) -> Option<u64> {
        let inner = self.inner();
        inner.engine.choose_within(outcomes, &mut *inner.strategy)
    }

    /// Waits until something has happened at a node: by which task of the environment, and what. `None` if nothing is left that could.
    pub fn serve(self, site: Site) -> Option<(TaskId, u64)> {
        match self.step(Operation::new(OpKind::Serve, ResourceId::NONE, site)) {
            outcome::LOOK_AGAIN => self.inner().engine.take_happened(),
            _ => None,
        }
    }
}

/// Whoever keeps the number of a resource in one word with that of its execution has so many bits for it.
pub const RESOURCE_BITS: u32 = 24;

impl Inner {
    pub(crate) fn set_epoch(&mut self, epoch: u64) {
        (self.epoch, self.mark) = (epoch, epoch << RESOURCE_BITS);
    }

    pub(crate) fn enlist(&mut self, task: TaskId, body: Body) {
        while self.bodies.len() <= task.index() {
            self.bodies.push(None);
            self.fiber_of.push(NO_FIBER);
        }
        self.bodies[task.index()] = Some(body);
        self.fiber_of[task.index()] = NO_FIBER;
    }
}

/// What a fiber does: runs the task that it was resumed for, and so on, until the executor quits.
#[inline(never)]
pub(crate) fn run_tasks(runtime: Handle, yielder: &Yielder<(), ()>) {
    loop {
        let inner = runtime.inner();
        if inner.quitting {
            return;
        }
        let fiber = inner.running_fiber;
        // SAFETY: the fiber is this one; the executor holds no reference to it while it runs.
        unsafe { (*fiber).yielder = yielder };
        let me = inner.running;
        if let Some(body) = inner.bodies[me.index()].take() {
            if inner.engine.is_tearing_down() {
                inner.panics.begin_forced(me);
                runtime.outlive(me, AssertUnwindSafe(|| drop(body)));
            } else {
                runtime.outlive(me, AssertUnwindSafe(body));
            }
            runtime.outlive(me, AssertUnwindSafe(|| runtime.drop_locals(me)));
        }
        runtime.inner().panics.end(me);
        runtime.outlive(
            me,
            AssertUnwindSafe(|| {
                runtime.step(Operation::new(OpKind::Exit, ResourceId::NONE, Site::UNKNOWN));
            }),
        );
        runtime.inner().idle.push(fiber);
        runtime.choose_after_the_end_of(me);
        yielder.suspend(());
    }
}

impl Handle {
    /// Runs a part of a task; a panic that leaves it is a finding, except our own.
    pub(crate) fn outlive(self, me: TaskId, part: AssertUnwindSafe<impl FnOnce()>) {
        if let Err(payload) = catch_unwind(part) {
            let forced = payload.is::<ForcedUnwind>();
            let inner = self.inner();
            inner.panics.end(me);
            if !forced {
                self.report_panic(me);
            }
        }
    }
}
