//! Executions under a virtual guard ([`crate::guard`]): the steps that obey it.
//!
//! Before anybody is picked, the guard looks at what was announced since the last time. Where it wants
//! something done first, the task makes a *detour*: its pending operation becomes the guard's, and what it
//! announced comes back when that has been carried out. The executor never sees a detour: the engine
//! carries it out itself, and picks again.
//!
//! A task of async code that has the turn of its thread keeps it only as long as the new lock is free. Else it does as a lock of
//! async code does: it gives the turn up, waits for the lock, and then for its turn.
//!
//! All this happens where periodic checks are made, which is at every step under a guard, and else hardly
//! ever: an execution without a guard pays nothing.

mod detour;
mod guarding;

pub(super) use self::guarding::Guarding;
use self::guarding::{Detour, OfTask, Statement};
use super::{Engine, Next};
use crate::guard::{Guard, NEW_LOCK};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::{State, Traits};
use crate::strategy::Strategy;
use crate::task::{NOT_READY, Status};

/// What reports call the resource of a guard that orders.
const NEW_ORDER: &str = "the new order";

/// Permits that are there once what has to come first is over: enough for everybody.
const FOR_ALL: u64 = 1 << 32;

/// The beginning and the end of an execution under a guard.
impl Engine {
    /// Puts the execution that begins under the guard of its limits, if there is one.
    pub(super) fn arm(&mut self) {
        let Some(armed) = &self.limits.guard else {
            self.guarding = None;
            return;
        };
        let mut guarding = Guarding::new(armed);
        guarding.next_check = std::mem::replace(&mut self.next_periodic_check, 0);
        let made = match &armed.guard {
            Guard::Lock(_) => Some((ResourceKind::Mutex, State::Plain, NEW_LOCK)),
            Guard::Order { .. } => Some((ResourceKind::Semaphore, State::Count(0), NEW_ORDER)),
            Guard::Atomic(_) | Guard::NotifyAll(_) => None,
        };
        if let Some((kind, state, name)) = made {
            guarding.resource = self.create_outside(kind, state, name);
        }
        self.guarding = Some(Box::new(guarding));
    }

    /// Nobody chooses any more: those who were on a detour stand before what they announced.
    pub(super) fn disarm(&mut self) {
        for i in 0..self.guarding.as_ref().map_or(0, |guarding| guarding.of_tasks.len()) {
            let task = TaskId(i as u32);
            let Some(detour) = self.guarding.as_mut().and_then(|g| g.of_tasks[i].detour.take()) else { continue };
            let pending = self.tasks[i].pending;
            if self.tasks[i].status == Status::Waiting {
                self.leave_queue(task, &pending);
            }
            self.tasks[i].status = Status::Ready;
            self.tasks[i].pending = detour.operation;
        }
    }

    /// Whether the step at an index is not the program's but the guard's.
    pub fn is_of_guard(&self, at: usize) -> bool {
        let on_its_own = |g: &Guarding| self.steps[at].resource == g.resource && g.resource != ResourceId::NONE;
        self.guarding.as_ref().is_some_and(|g| on_its_own(g) || g.made.binary_search(&at).is_ok())
    }

    /// Whether a task has come to where the guard has something to say.
    pub fn has_met_guard(&self) -> bool {
        self.guarding.as_ref().is_some_and(|guarding| guarding.met)
    }

    /// Whether a region ended in its midst, where a future waited at a place that does not say whether it is meant to wait in
    /// there. Then a failure says nothing against the guard.
    pub fn guard_was_cut(&self) -> bool {
        self.guarding.as_ref().is_some_and(|guarding| guarding.cut)
    }

    /// Whether the steps show all that the guard has brought about so far: only then can an exploration that has
    /// seen every behaviour under it say so.
    pub fn guard_is_exact(&self) -> bool {
        self.guarding.as_ref().is_none_or(|guarding| guarding.exact)
    }

    /// Limits are to be checked again when so many steps were made.
    pub(super) fn check_again_at(&mut self, steps: u64) {
        match &mut self.guarding {
            Some(guarding) => guarding.next_check = steps,
            None => self.next_periodic_check = steps,
        }
    }
}

/// One turn under a guard.
impl Engine {
    /// As [`next`](Self::next), under a guard.
    pub(super) fn next_guarded(&mut self, strategy: &mut dyn Strategy) -> Next {
        loop {
            self.keep_to_the_guard();
            if let Some(next) = self.next_before_all() {
                return next;
            }
            match self.pick_guarded(strategy) {
                Next::Run(task) if self.detour(task).is_some() => self.carry_out_detour(task, strategy),
                next => return next,
            }
        }
    }

    fn pick_guarded(&mut self, strategy: &mut dyn Strategy) -> Next {
        let due = self.guarding.as_ref().is_some_and(|g| self.steps.len() as u64 >= g.next_check);
        if let Some(next) = due.then(|| self.check_limits()).flatten() {
            return next;
        }
        if let Some(task) = self.runs_alone() {
            self.next_was_choice = false;
            self.current = task;
            return Next::Run(task);
        }
        if self.timers_may_fire() {
            return self.next_unusual(strategy);
        }
        self.next_ready(strategy)
    }

    /// The task in an atomic region, if it can go on; if it cannot, the region is over.
    fn runs_alone(&mut self) -> Option<TaskId> {
        let guarding = self.guarding.as_mut()?;
        if !matches!(guarding.armed.guard, Guard::Atomic(_)) {
            return None;
        }
        let inside = self.tasks.get(guarding.inside.index())?;
        if inside.ready_at == NOT_READY {
            guarding.open.clear();
            guarding.inside = TaskId::NONE;
            return None;
        }
        Some(guarding.inside)
    }

    fn detour(&mut self, task: TaskId) -> Option<&mut Detour> {
        self.guarding.as_mut()?.of_tasks.get_mut(task.index())?.detour.as_mut()
    }

    /// Looks at what has happened, and at what was announced, until nobody's wait is ended by that.
    fn keep_to_the_guard(&mut self) {
        self.look_for_the_guard();
        while self.guarding.as_ref().is_some_and(|guarding| !guarding.granted.is_empty()) {
            self.look_for_the_guard();
        }
    }

    fn look_for_the_guard(&mut self) {
        let Some(mut guarding) = self.guarding.take() else { return };
        while guarding.of_tasks.len() < self.tasks.len() {
            guarding.fresh.push(TaskId(guarding.of_tasks.len() as u32));
            guarding.of_tasks.push(OfTask::default());
        }
        for (at, step) in self.steps.iter().enumerate().skip(guarding.known) {
            let is_its_own = step.resource == guarding.resource && step.resource != ResourceId::NONE;
            if !is_its_own && guarding.made.last() != Some(&at) {
                guarding.saw(step, self.act(step));
            }
        }
        guarding.known = self.steps.len();
        let granted = std::mem::take(&mut guarding.granted);
        self.guarding = Some(guarding);
        for task in granted {
            self.make_ready(task);
            self.return_from_detour(task, outcome::OK);
        }
        let Some(mut guarding) = self.guarding.take() else { return };
        let fresh = std::mem::take(&mut guarding.fresh);
        self.guarding = Some(guarding);
        for task in fresh {
            match self.tasks[task.index()].status {
                // The environment keeps to nothing.
                Status::Ready if self.tasks[task.index()].environment => {}
                Status::Ready => self.look_at(task),
                // A wait for a notification gives up what it holds; any other is part of its statement.
                Status::Waiting if self.tasks[task.index()].pending.also() != ResourceId::NONE => {
                    self.waits_for_notification(task);
                    self.look_later(task);
                }
                Status::Waiting | Status::Unsettled => self.look_later(task),
                Status::Disabled | Status::Finished => {}
            }
        }
    }

    fn look_later(&mut self, task: TaskId) {
        if let Some(guarding) = &mut self.guarding {
            guarding.fresh.push(task);
        }
    }

    /// Looks at what `task` has announced: what ends before it, and what must come before it.
    fn look_at(&mut self, task: TaskId) {
        let operation = self.tasks[task.index()].pending;
        let Some(guarding) = &mut self.guarding else { return };
        let own = &mut guarding.of_tasks[task.index()];
        if own.detour.is_some() {
            return;
        }
        if !own.interrupted.is_empty() {
            self.make_detour(task, OpKind::Lock, 0, operation.site);
            return;
        }
        let goes_on = own.statement.is_some_and(|s| s.goes_on_with(&operation));
        let (awaits, gives_back) = (own.statement, own.gives_back(&operation));
        if !operation.kind.ends_task() && guarding.is_of_a_wait(task, operation.site) {
            // The future's place counts, not that of its task.
            let elsewhere = awaits.is_some_and(|awaits| !guarding.is_among_open_lines(awaits.site));
            guarding.cut |= elsewhere && guarding.inside == task;
            if !(elsewhere && self.ends(task, operation.site)) {
                self.go_on_announced(task);
            }
            return;
        }
        if !goes_on {
            let statement = guarding.of_tasks[task.index()].statement.take();
            if let Some(statement) = statement {
                if self.statement_is_over(task, statement) {
                    return;
                }
            }
            let ends = operation.kind.ends_task() || self.waits_elsewhere(task, &operation);
            let detours =
                (ends && self.ends(task, operation.site)) || (!gives_back && self.must_wait_at(task, &operation));
            if detours {
                return;
            }
        }
        self.go_on_announced(task);
    }

    /// The regions that end with `statement` are over, or what waits for it may go on. Whether `task` has to
    /// make a detour for that.
    fn statement_is_over(&mut self, task: TaskId, statement: Statement) -> bool {
        let Some(guarding) = &mut self.guarding else { return false };
        let leaves = guarding.place(statement.site).leaves.clone();
        if statement.takes || leaves.is_empty() {
            return false;
        }
        if matches!(guarding.armed.guard, Guard::Order { .. }) {
            self.make_detour(task, OpKind::Release, FOR_ALL, statement.site);
            return true;
        }
        guarding.inside == task && guarding.end(&leaves) && self.has_left(task, statement.site)
    }

    /// `task` is in no region any more. Whether it has to make a detour to give the lock back.
    fn has_left(&mut self, task: TaskId, site: Site) -> bool {
        let Some(guarding) = &mut self.guarding else { return false };
        guarding.inside = TaskId::NONE;
        let locks = matches!(guarding.armed.guard, Guard::Lock(_));
        if locks {
            self.make_detour(task, OpKind::Unlock, 0, site);
        }
        locks
    }

    /// `task` ends, whatever it was in.
    fn ends(&mut self, task: TaskId, site: Site) -> bool {
        let Some(guarding) = &mut self.guarding else { return false };
        guarding.inside == task && {
            guarding.open.clear();
            self.has_left(task, site)
        }
    }

    /// `task` waits for a notification: it gives the lock back, and takes it again for what it has not left.
    /// Nobody can come between, so that this is no choice.
    fn waits_for_notification(&mut self, task: TaskId) {
        let Some(guarding) = &mut self.guarding else { return };
        let Some(statement) = guarding.of_tasks[task.index()].statement.take() else { return };
        let locks = matches!(guarding.armed.guard, Guard::Lock(_));
        if locks && guarding.inside == task {
            let leaves = guarding.place(statement.site).leaves.clone();
            guarding.end(&leaves);
            guarding.of_tasks[task.index()].interrupted = std::mem::take(&mut guarding.open);
            guarding.inside = TaskId::NONE;
            guarding.exact = false;
            self.give_back_at_once(task, statement.site);
        }
    }

    /// Whether `operation` is a wait that no region of `task` can be meant to contain: it was left by another
    /// way.
    fn waits_elsewhere(&mut self, task: TaskId, operation: &Operation) -> bool {
        let waits = operation.kind.is(Traits::NEEDS_ENABLING);
        let guarding = self.guarding.as_mut().filter(|guarding| waits && guarding.inside == task);
        guarding.is_some_and(|guarding| !guarding.is_among_open_lines(operation.site))
    }

    /// `task` has come to `operation`: whether the guard has something done before.
    fn must_wait_at(&mut self, task: TaskId, operation: &Operation) -> bool {
        let Some(guarding) = &mut self.guarding else { return false };
        let enters = guarding.enters(operation.site);
        if enters.is_empty() {
            return false;
        }
        match &guarding.armed.guard {
            Guard::NotifyAll(_) => {
                if let Some(kind) = operation.kind.notifies_all_instead() {
                    guarding.met = true;
                    self.tasks[task.index()].pending.kind = kind;
                }
                false
            }
            Guard::Atomic(_) => {
                // It was left by another way, and begins anew with the step.
                if guarding.inside == task && guarding.end(&enters) {
                    guarding.inside = TaskId::NONE;
                }
                false
            }
            Guard::Order { .. } => {
                self.make_detour(task, OpKind::Acquire, 1, operation.site);
                true
            }
            Guard::Lock(_) => {
                // It was left by another way, and begins anew.
                if guarding.inside == task && guarding.end(&enters) {
                    return self.has_left(task, operation.site);
                }
                if guarding.inside == task {
                    guarding.enter(task, operation.site);
                    return false;
                }
                self.make_detour(task, OpKind::Lock, 0, operation.site);
                true
            }
        }
    }
}
