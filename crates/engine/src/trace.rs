//! The trace: the record of one execution.
//!
//! A step takes 40 bytes. The schedule is not stored beside the trace; it *is* the sequence of tasks
//! and outcomes in it (see [`crate::schedule`]).

use crate::dependence::Label;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::OpKind;

/// One operation carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where in the user's source.
    pub site: Site,
    /// The operation's second operand.
    pub arg: u64,
    /// What it read, wrote, sent or chose, where known; the ticket of channel steps.
    pub value: u64,
    /// On what.
    pub resource: ResourceId,
    /// Who.
    pub task: TaskId,
    /// One more than the index of the step that granted the wait before this one; 0 if none did.
    pub after: u32,
    /// What it came to.
    pub outcome: u16,
    /// What it did.
    pub kind: OpKind,
    /// Whether another task could have gone instead.
    pub was_choice: bool,
}

impl Step {
    /// The step as the dependence table sees it.
    #[inline]
    pub fn label(&self) -> Label {
        Label {
            task: self.task,
            kind: self.kind,
            resource: self.resource,
            arg: self.arg,
            outcome: u32::from(self.outcome),
            value: self.value,
        }
    }
}
const _: () = assert!(std::mem::size_of::<Step>() == 40);
