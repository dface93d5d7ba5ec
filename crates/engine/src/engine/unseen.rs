//! What tasks do between two steps, where nobody is to be let in between: no choice, and no part of the trace.
//!
//! Who takes turns with others, and does alone what is between two turns, needs no step for it: the order of turns says
//! all. So what is done to a resource is carried out at once, by the rule of that resource, and whoever is granted
//! something by it was granted it by the last step. Requests that would have to wait take no ticket, since others
//! may come first when the wait is over: their tasks rest until they would not have to.

use super::{Committed, Engine};
use crate::id::TaskId;
use crate::operation::{OpKind, Operation, outcome};
use crate::strategy::Strategy;
use crate::task::Status;

impl Engine {
    /// Carries out what `task` has announced, as part of its last step.
    pub fn carry_out_unseen(&mut self, task: TaskId, operation: Operation, strategy: &mut dyn Strategy) -> Committed {
        let before = self.steps.len();
        let committed = self.carry_out(task, operation, strategy);
        self.steps.truncate(before);
        for granted in &mut self.tasks {
            granted.granted_by = granted.granted_by.min(before as u32);
        }
        committed
    }

    /// Whether a request for a mutex or for permits would have to wait.
    pub fn would_rest(&self, request: &Operation) -> bool {
        request.kind.room().must_wait(self, request)
    }

    /// `task`, whose request would have to wait, does so outside of any queue: until its deadline, if it has one.
    pub fn rest(&mut self, task: TaskId) {
        self.wait(task);
    }

    /// The last step has ended the rest of `task`, which is to ask again.
    pub fn end_rest(&mut self, task: TaskId) {
        let t = &mut self.tasks[task.index()];
        if t.status == Status::Waiting {
            // It was granted nothing that it could give back.
            t.pending.kind = OpKind::Start;
            self.grant(task, outcome::OK);
        }
    }
}
