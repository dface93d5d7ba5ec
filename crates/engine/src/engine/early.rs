//! Timers that may fire early, as exhaustive exploration wants them: as steps that race like others.
//!
//! The clock is a task whose one operation is to fire the earliest timer. Which timer that is must not depend on
//! steps that have nothing to do with the clock, and nobody may keep it from firing. So here
//!
//! - a wait with a time limit reads the clock by a step of its own, `Now`, and its timer is started by that step.
//!   No time passes between that step and the wait;
//! - every timer fires, each by a step of its own. If its wait is over, that step does nothing. Thus the step that
//!   ended the wait in time and the timer are two steps that can come in either order: a race like any other;
//! - the budget is of the clock alone: its first so many steps by which time passes may come at any moment. After
//!   that, timers fire when nobody can go on, as they do without.

use super::Engine;
use crate::budget::Budget;
use crate::id::{ResourceId, TaskId};
use crate::operation::{Operation, outcome};
use crate::task::Status;
use crate::time::PathRank;
use crate::trace::Step;

impl Engine {
    /// Whether every timer fires, and waits with a time limit begin with a `Now`: timers may fire early, and the
    /// exploration is exhaustive.
    #[inline]
    pub fn every_timer_fires(&self) -> bool {
        self.limits.budgets[Budget::EarlyFires] > 0 && self.limits.spin_rounds.is_some() && !self.tearing_down
    }

    /// Whether the earliest timer may fire although somebody can go on, or, if its wait is over, has to.
    #[inline]
    pub(super) fn timers_race(&self) -> bool {
        self.every_timer_fires() && (self.left[Budget::EarlyFires] > 0 || self.timers.is_due())
    }

    /// Whether the clock can go on now.
    pub(super) fn racing_timer_may_fire(&self) -> bool {
        let begun = |task: TaskId| {
            let t = &self.tasks[task.index()];
            t.status != Status::Ready || t.pending.kind.parks()
        };
        self.timers_race() && self.timers.front(&self.tasks).is_some_and(|(timer, over)| over || begun(timer.task))
    }

    /// The next wait of `task` has the time limit that was set, or its last one is over.
    #[cold]
    pub(super) fn limit_wait(&mut self, task: TaskId) {
        self.leave_fast_path();
        let t = &mut self.tasks[task.index()];
        match t.is_limited() {
            true => self.start_timer(task),
            false => t.timer = t.timer.wrapping_add(1),
        }
    }

    /// Starts the timer of `task`, by the last step, unless it has been.
    pub(super) fn start_timer_by_last(&mut self, task: TaskId, deadline: u64) {
        self.leave_fast_path();
        if self.timers.has(task, self.tasks[task.index()].timer) {
            return;
        }
        debug_assert!(
            self.steps.last().is_some_and(|step| step.task == task && step.kind.reads_clock()),
            "a task with a time limit has read the clock"
        );
        let rank = PathRank::of(&self.tasks, task);
        let t = &mut self.tasks[task.index()];
        t.timer = t.timer.wrapping_add(1);
        self.timers.start_by(self.steps.len().saturating_sub(1), deadline, task, rank, t.timer);
    }

    /// Fires the earliest timer.
    pub(super) fn fire_racing_timer(&mut self) {
        let Some((&timer, over)) = self.timers.front(&self.tasks) else { return };
        let waits = matches!(self.tasks[timer.task.index()].status, Status::Waiting | Status::Disabled);
        let (begun, mut resource) = begin_of_wait(&self.steps, timer.read, timer.task);
        let pending = &self.tasks[timer.task.index()].pending;
        if begun == timer.read && resource == ResourceId::NONE && pending.kind.waits_first() {
            // It is no step yet.
            resource = pending.resource;
        }
        let ends_wait = !over && waits;
        let wait = Operation { site: self.steps[begun].site, resource, ..self.tasks[timer.task.index()].pending };
        let outcome = if ends_wait { outcome::TIMED_OUT } else { outcome::REFUSED } as u16;
        let fire = self.firing(timer.task, &wait, timer.deadline);
        self.steps.push(Step { after: begun as u32 + 1, outcome, ..fire });
        self.leave_trail();
        if !ends_wait {
            self.timers.drop_front();
            return;
        }
        if timer.deadline > self.timers.now() {
            self.left.take(Budget::EarlyFires);
        }
        self.timers.fire();
        self.end_wait(timer.task);
    }
}

/// By which step the wait of `task` began for which the one at `read` has read the clock, and what it is for. Parks
/// and sleeps and receives of processes are no requests: the wait begins at once.
pub(crate) fn begin_of_wait(steps: &[Step], read: usize, task: TaskId) -> (usize, ResourceId) {
    let next = steps[read + 1..].iter().position(|step| step.task == task).map(|at| read + 1 + at);
    match next {
        Some(at) if !steps[at].kind.waits_first() => (at, steps[at].resource),
        Some(at) => (read, steps[at].resource),
        None => (read, ResourceId::NONE),
    }
}
