//! Virtual time: timers that end waits.

use super::Engine;
use super::commit::step;
use crate::id::TaskId;
use crate::operation::{OpKind, Operation, outcome};
use crate::task::Status;
use crate::time::PathRank;
use crate::trace::Step;

impl Engine {
    pub(super) fn start_timer(&mut self, task: TaskId) {
        let Some(deadline) = self.tasks[task.index()].deadline() else { return };
        if self.every_timer_fires() {
            return self.start_timer_by_last(task, deadline);
        }
        let rank = PathRank::of(&self.tasks, task);
        let t = &mut self.tasks[task.index()];
        t.timer = t.timer.wrapping_add(1);
        self.timers.start(deadline, task, rank, t.timer);
        self.attend();
    }

    /// Makes the clock's pending operation that of the earliest timer.
    pub(super) fn describe_clock(&mut self) {
        if let Some(task) = self.timers.earliest() {
            let pending = self.tasks[task.index()].pending;
            self.tasks[TaskId::CLOCK.index()].pending =
                Operation { kind: OpKind::TimerFire, arg: u64::from(task.0), ..pending };
        }
    }

    /// Fires the earliest timer, and those of the same instant with it: so that the order in which
    /// tasks wake at one instant is a choice.
    pub(super) fn fire_timers(&mut self) {
        self.fire_timer();
        self.timers.forget_stale(&self.tasks);
        while self.timers.is_due() {
            self.fire_timer();
            self.timers.forget_stale(&self.tasks);
        }
    }

    /// Moves virtual time to the earliest timer and ends the wait that it belongs to.
    pub(super) fn fire_timer(&mut self) {
        self.timers.forget_stale(&self.tasks);
        self.describe_clock();
        let Some(task) = self.timers.fire() else { return };
        let pending = self.tasks[task.index()].pending;
        self.steps.push(self.firing(task, &pending, self.timers.now()));
        self.leave_trail();
        self.end_wait(task);
    }

    /// The step by which the timer of `task` fires at `instant`, and ends `wait`.
    pub(super) fn firing(&self, task: TaskId, wait: &Operation, instant: u64) -> Step {
        let operation = Operation { kind: OpKind::TimerFire, arg: u64::from(task.0), ..*wait };
        Step { value: instant, ..step(TaskId::CLOCK, &operation, 0, self.next_was_choice) }
    }

    /// The timer of `task` has fired.
    pub(super) fn end_wait(&mut self, task: TaskId) {
        let pending = self.tasks[task.index()].pending;
        self.current = TaskId::CLOCK;
        self.looked.clear();
        self.yields_since_progress = 0;
        match self.tasks[task.index()].status {
            Status::Disabled => {
                self.enable(task);
            }
            Status::Waiting => {
                self.leave_queue(task, &pending);
                self.grant(task, outcome::TIMED_OUT);
            }
            Status::Ready | Status::Unsettled | Status::Finished => {
                unreachable!("a timer that is not stale belongs to a wait")
            }
        }
    }

    /// Takes a task whose wait ends without a grant out of its queue.
    pub(super) fn leave_queue(&mut self, task: TaskId, pending: &Operation) {
        let resource = &mut self.resources[pending.resource.index()];
        resource.waiters.remove(task, &mut self.tasks);
        resource.senders.remove(task, &mut self.tasks);
        pending.kind.room().withdraw(self, pending);
    }
}
