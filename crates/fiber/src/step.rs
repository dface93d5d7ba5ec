//! Steps, as a task makes them: announce, wait for the turn and for the grant, go on.
//!
//! What a step costs is decided here, so the usual cases come first and in as few frames as possible:
//! the running task is picked again; another one that is about to access memory is switched to; a task
//! that requests or gives back a mutex goes on in the same frame with those of others that come before
//! it. All else is left to `hand_over`.

use drawloom_engine::{Committed, Contended, Look, Next, OpKind, Operation, ResourceId, Site, TaskId, outcome};

use crate::runtime::Handle;

/// What the trace is to know of an access that was carried out.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// What was read; of a store, what was written.
    pub value: u64,
    /// What was left behind; of a store, what it found; of a comparison that failed, what it expected.
    pub other: u64,
    /// What it came to.
    pub outcome: u32,
}

impl Handle {
    /// Announces `operation`, waits for its turn and its grant; it has been carried out on return.
    ///
    /// Inlined into the user's code on purpose: with a constant kind most of it folds away, and every
    /// frame between the user and the switch costs a mispredicted return. Not so in debug builds, where nothing folds away, and each
    /// place that steps would be a copy of all this to compile.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn step(self, operation: Operation) -> u32 {
        self.make_owed_wakes();
        self.step_unowed(operation)
    }

    /// Gives `task` its park token: a step, but not at once. It is made before the next one of the running task.
    ///
    /// Who wakes may hold a lock that we know nothing of. If others were let run there, one of them might want that
    /// lock, and the thread that all of them share would wait for itself. Nothing is lost by it: until its next step
    /// the running task does nothing that others could notice.
    pub fn wake(self, task: TaskId, site: Site) {
        let inner = self.inner();
        if inner.engine.is_tearing_down() {
            self.step_in_teardown(OpKind::Unpark, ResourceId::NONE, u64::from(task.0), site);
            return;
        }
        inner.owed_wakes.push((task, site));
    }

    /// Makes the wake-ups that the running task owes, a step each.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn make_owed_wakes(self) {
        if self.owes_wakes() {
            self.make_owed_wakes_now();
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn owes_wakes(self) -> bool {
        !self.inner().owed_wakes.is_empty()
    }

    #[inline(never)]
    fn make_owed_wakes_now(self) {
        let unpark = |(task, site): (TaskId, Site)| {
            self.step_unowed(Operation::new(OpKind::Unpark, ResourceId::NONE, site).with_arg(u64::from(task.0)));
        };
        // Others run meanwhile, and owe steps of their own: nothing of ours may be left there.
        let owed = &mut self.inner().owed_wakes;
        match owed[..] {
            [one] => {
                owed.clear();
                unpark(one);
            }
            _ => std::mem::take(owed).into_iter().for_each(unpark),
        }
    }

    /// As [`step`](Self::step), for an `Await`: `look` says what there is to be seen, and is asked again whenever that
    /// may be something else.
    pub fn step_when(self, operation: Operation, mut look: impl FnMut() -> Look) {
        loop {
            self.make_owed_wakes();
            let made = self.inner().engine.steps().len();
            let seen = look();
            let untouched = self.inner().engine.steps().len() == made || self.is_tearing_down();
            assert!(untouched, "the condition of a wait must not touch shared state");
            if self.step_unowed(operation.with_arg(seen.operand())) != outcome::LOOK_AGAIN {
                return;
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step_unowed(self, operation: Operation) -> u32 {
        let inner = self.inner();
        let me = inner.running;
        if inner.engine.is_tearing_down() {
            return self.step_in_teardown(operation.kind, operation.resource, operation.arg, operation.site);
        }
        inner.engine.announce(me, operation);
        let picked = inner.engine.next_at_once();
        if picked == Some(me) {
            match inner.engine.carry_out(me, operation, &mut *inner.strategy) {
                Committed::Done(result) => return result,
                Committed::Wait => self.let_others_run(None, me, operation.kind),
            }
        } else {
            self.let_others_run(picked, me, operation.kind);
            if operation.kind.is_told() {
                let inner = self.inner();
                inner.engine.carry_out(me, operation, &mut *inner.strategy);
                return outcome::OK;
            }
        }
        self.inner().engine.result(me)
    }

    /// The step that requests a mutex. Who may be unwinding asks [`is_panicking`](Self::is_panicking)
    /// before: others run in this step, and must not be taken for the one that unwinds.
    #[inline(never)]
    pub fn lock(self, mutex: ResourceId, site: Site) {
        if self.owes_wakes() {
            return self.wake_and_step(mutex, site, OpKind::Lock);
        }
        self.step_of_mutex(Operation::new(OpKind::Lock, mutex, site));
    }

    /// The step that gives a mutex back. As for [`lock`](Self::lock), ask whether the task unwinds before.
    #[inline(never)]
    pub fn unlock(self, mutex: ResourceId, site: Site) {
        if self.owes_wakes() {
            return self.wake_and_step(mutex, site, OpKind::Unlock);
        }
        self.step_of_mutex(Operation::new(OpKind::Unlock, mutex, site));
    }

    /// Makes the wake-ups that are owed, and then the step that it was called from. There is nothing to come back to there, and what is
    /// handed on stays in its registers: so who owes nothing saves and moves nothing for it.
    #[cold]
    #[inline(never)]
    fn wake_and_step(self, mutex: ResourceId, site: Site, kind: OpKind) {
        self.make_owed_wakes_now();
        match kind {
            OpKind::Lock => self.lock(mutex, site),
            _ => self.unlock(mutex, site),
        }
    }

    /// As [`step`](Self::step), for locks and unlocks of a task that owes nothing: in one frame with those
    /// of other tasks that come before it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step_of_mutex(self, operation: Operation) {
        let inner = self.inner();
        match inner.engine.lock_or_unlock(inner.running, operation) {
            Contended::Done(task) => {
                if task == inner.running {
                    return;
                }
                inner.resumes = task;
            }
            Contended::Picked(task) => {
                if !self.hand_over(Next::Run(task), inner.running) {
                    return;
                }
            }
            Contended::Open => match inner.engine.settle_at_once() {
                Some(task) => {
                    inner.resumes = task;
                    if task == inner.running {
                        return;
                    }
                }
                None => {
                    if !self.next_apart() {
                        return;
                    }
                }
            },
        }
        self.switch_to_others();
    }

    /// Who goes next, when that takes more than a look; whether that is another than the running task.
    #[inline(never)]
    fn next_apart(self) -> bool {
        let inner = self.inner();
        let me = inner.running;
        if inner.engine.is_tearing_down() {
            let Operation { kind, resource, arg, site } = inner.engine.task(me).pending;
            self.step_in_teardown(kind, resource, arg, site);
            return false;
        }
        let next = inner.engine.next(&mut *inner.strategy);
        self.hand_over(next, me)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn switch_to_others(self) {
        self.switch();
        if self.inner().engine.is_tearing_down() {
            self.resumed_in_teardown();
        }
    }

    /// Notes that the access at `site` asks for a weaker ordering than `SeqCst`, which it gets all the same.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn weaker_access(self, site: Site) {
        self.inner().weaker.note(site);
    }

    /// As [`step`](Self::step), for an access: `act` carries it out when its turn has come, and says
    /// what the trace is to know of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn access<R>(self, mut access: Operation, act: impl FnOnce() -> (R, Seen)) -> R {
        self.make_owed_wakes();
        let inner = self.inner();
        let me = inner.running;
        inner.engine.announce(me, access);
        let picked = inner.engine.next_at_once();
        if picked != Some(me) {
            if picked.is_none() && inner.engine.is_tearing_down() {
                self.step_in_teardown(access.kind, access.resource, access.arg, access.site);
                return act().0;
            }
            self.let_others_run(picked, me, access.kind);
        }
        let unwound = CommitOnUnwind(self, me, access);
        let (result, seen) = act();
        std::mem::forget(unwound);
        access.arg = seen.other;
        self.inner().engine.commit_told(me, access, seen.value, seen.outcome);
        result
    }

    /// Lets the task that was `picked`, or else the next one, go on, and those that follow, until it is
    /// the turn of `me` again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn let_others_run(self, picked: Option<TaskId>, me: TaskId, kind: OpKind) {
        let inner = self.inner();
        if !kind.is_told() && std::thread::panicking() {
            // Whoever runs next must not be taken for the one that unwinds.
            inner.panics.is_panicking(me);
        }
        let next = match picked {
            Some(task) => Next::Run(task),
            None => inner.engine.next(&mut *inner.strategy),
        };
        let mine = match next {
            Next::Settle(task) => {
                inner.resumes = task;
                task == me
            }
            Next::Run(task) if inner.engine.task(task).pending.kind.is_told() => {
                inner.resumes = task;
                task == me
            }
            Next::Run(_) | Next::Stop => !self.hand_over(next, me),
        };
        if !mine {
            self.switch_to_others();
        }
    }

    /// Finds out which task is to be resumed, and whether that is another than `me`.
    ///
    /// A task that is let run has its operation carried out here, on its behalf: if it has to wait
    /// then, it need not be resumed at all, which saves most switches of contended locks. (Accesses
    /// never wait; a task carries them out itself when it is resumed.)
    #[inline(never)]
    pub(crate) fn hand_over(self, mut next: Next, me: TaskId) -> bool {
        let inner = self.inner();
        loop {
            match next {
                Next::Run(task) => {
                    let operation = inner.engine.task(task).pending;
                    if operation.kind.is_told() {
                        inner.resumes = task;
                        return task != me;
                    }
                    if let Committed::Done(result) = inner.engine.carry_out(task, operation, &mut *inner.strategy) {
                        inner.engine.set_result(task, result);
                        inner.resumes = task;
                        return task != me;
                    }
                }
                Next::Settle(task) => {
                    inner.resumes = task;
                    return task != me;
                }
                Next::Stop => {
                    inner.resumes = TaskId::NONE;
                    return true;
                }
            }
            next = match inner.engine.next_at_once() {
                Some(task) => Next::Run(task),
                None => inner.engine.next(&mut *inner.strategy),
            };
        }
    }
}

/// An access that panics (std does not accept every ordering) has had its turn all the same.
struct CommitOnUnwind(Handle, TaskId, Operation);

impl Drop for CommitOnUnwind {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.0.inner().engine.commit_told(self.1, self.2, 0, outcome::OK);
    }
}
