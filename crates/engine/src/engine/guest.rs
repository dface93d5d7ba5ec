//! Tasks that a runtime of its own resumes: an event loop knows when one of its tasks can go on.
//!
//! What such a task waits for is not the engine's to know: the runtime says when the wait begins, and which step has
//! ended it.

use super::Engine;
use crate::finding::{Deadlock, FindingKind};
use crate::id::TaskId;
use crate::operation::{Operation, outcome};
use crate::task::Status;

impl Engine {
    /// `task`, which has carried out its operation, waits to be woken. `operation` is what it shows meanwhile.
    pub fn suspend(&mut self, task: TaskId, operation: Operation) {
        self.remove_ready(task);
        let t = &mut self.tasks[task.index()];
        t.pending = operation;
        t.status = Status::Waiting;
    }

    /// `task` waits in `operation`, and the runtime with it: none of its tasks goes on, and nobody else is there who could
    /// end the wait.
    pub fn stand_still(&mut self, task: TaskId, operation: Operation) {
        self.suspend(task, operation);
        let blocked = Deadlock { stands_still: true, ..self.blocked_now() };
        self.fail(FindingKind::Deadlock(Box::new(blocked)), task);
    }

    /// The last step has ended the wait of a suspended `task`, which is to be settled before the next choice.
    pub fn wake(&mut self, task: TaskId) {
        if self.tasks[task.index()].status == Status::Waiting {
            self.grant(task, outcome::OK);
        }
    }
}
