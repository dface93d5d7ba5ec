//! What the engine does while an executor unwinds what an execution has left over.

use super::Engine;
use crate::id::TaskId;
use crate::operation::{Operation, outcome};
use crate::task::{Status, WaitList};

impl Engine {
    /// From now on nobody chooses: operations of destructors are carried out as they come.
    pub fn begin_teardown(&mut self) {
        self.keep_behaviour();
        self.disarm();
        self.tearing_down = true;
        self.leave_fast_path();
        self.steps_before_teardown = self.steps.len();
        self.unsettled = WaitList::EMPTY;
    }

    /// Teardown is over: its steps are nobody's choice and not part of the trace.
    pub fn end_teardown(&mut self) {
        self.steps.truncate(self.steps_before_teardown);
    }

    /// Whether left-over tasks are being unwound.
    #[inline]
    pub fn is_tearing_down(&self) -> bool {
        self.tearing_down
    }

    /// Makes `task` the current one, for the executor's teardown.
    pub fn resume_in_teardown(&mut self, task: TaskId) {
        self.current = task;
    }

    /// Gives up the wait of `task`, which is to be unwound; what it was granted meanwhile goes back.
    pub fn abandon_wait(&mut self, task: TaskId) {
        let t = &self.tasks[task.index()];
        let (pending, status, granted) = (t.pending, t.status, t.result);
        match status {
            Status::Waiting => self.leave_queue(task, &pending),
            Status::Unsettled => self.give_back(task, &pending, granted),
            Status::Ready | Status::Disabled | Status::Finished => {}
        }
        let t = &mut self.tasks[task.index()];
        t.status = Status::Ready;
        t.set_deadline(None);
        t.result = outcome::TORN_DOWN;
    }

    /// Undoes a grant that its task never learned of.
    pub(super) fn give_back(&mut self, task: TaskId, pending: &Operation, granted: u32) {
        pending.kind.room().give_back(self, task, pending, granted);
    }

    /// Marks `task` as gone without an `Exit` step.
    pub fn bury(&mut self, task: TaskId) {
        self.remove_ready(task);
        let t = &mut self.tasks[task.index()];
        if t.status != Status::Finished {
            t.status = Status::Finished;
            self.finished += 1;
        }
    }
}
