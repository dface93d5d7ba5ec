//! Virtual time: timers that end waits.

use super::Engine;
use super::commit::step;
use crate::finding::Divergence;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::task::{Status, Task};
use crate::time::PathRank;
use crate::trace::Step;

/// The clock: the task of the environment whose steps are timers that fire. It comes after main, and nobody else knows it.
const CLOCK: TaskId = TaskId(1);

impl Engine {
    /// Makes the clock: a task of the environment that is there from the beginning, and never exits.
    pub(super) fn wind_up_clock(&mut self) {
        debug_assert_eq!(self.tasks.len(), CLOCK.index());
        let mut clock = Task::new(TaskId::NONE, 0, Site::UNKNOWN, None);
        clock.environment = true;
        clock.status = Status::Disabled;
        clock.pending.kind = OpKind::TimerFire;
        self.tasks.push(clock);
        self.finished += 1;
    }

    /// Registers a resource that is none of the program's. It is the clock's, so that nobody else's are numbered otherwise.
    pub(super) fn create_outside(&mut self, kind: ResourceKind, state: State, name: &str) -> ResourceId {
        let id = self.create_resource(CLOCK, kind, state, Site::UNKNOWN);
        self.name_resource(id, name);
        self.mark_from_outside(id);
        id
    }

    pub(super) fn start_timer(&mut self, task: TaskId) {
        let Some(deadline) = self.tasks[task.index()].deadline() else { return };
        if self.every_timer_fires() {
            return self.start_timer_by_last(task, deadline);
        }
        let rank = PathRank::of(&self.tasks, task);
        let t = &mut self.tasks[task.index()];
        t.timer = t.timer.wrapping_add(1);
        self.timers.start(deadline, task, rank, t.timer);
        self.leave_fast_path();
    }

    /// Asks the strategy, with the clock as one more ready task, whose operation is the earliest timer. Nobody, if it picks
    /// the clock.
    pub(super) fn pick_with_clock(&mut self, strategy: &mut dyn Strategy) -> Result<Option<TaskId>, Box<Divergence>> {
        self.describe_clock();
        self.make_ready(CLOCK);
        let picked = self.pick(strategy);
        self.remove_ready(CLOCK);
        picked.map(|task| Some(task).filter(|task| *task != CLOCK))
    }

    /// Makes the clock's pending operation that of the earliest timer.
    fn describe_clock(&mut self) {
        if let Some(task) = self.timers.earliest() {
            let pending = self.tasks[task.index()].pending;
            self.tasks[CLOCK.index()].pending =
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
        Step { value: instant, ..step(CLOCK, &operation, 0, self.next_was_choice) }
    }

    /// The clock has made the last step.
    pub(super) fn clock_has_ticked(&mut self) {
        self.current = CLOCK;
    }

    /// The timer of `task` has fired.
    pub(super) fn end_wait(&mut self, task: TaskId) {
        let pending = self.tasks[task.index()].pending;
        self.clock_has_ticked();
        self.second_looks.clear();
        self.yields_since_progress = 0;
        match self.tasks[task.index()].status {
            Status::Disabled => {
                self.stop_waiting_for_messages(task);
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
