//! The trace: the record of one execution.
//!
//! A step takes 40 bytes. The schedule is not stored beside the trace; it *is* the sequence of tasks
//! and outcomes in it (see [`crate::schedule`]).

use crate::dependence::Label;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, outcome};
use crate::resource::Traits;

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
    /// What was announced.
    pub fn operation(&self) -> Operation {
        Operation::new(self.kind, self.resource, self.site).with_arg(self.arg)
    }

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

    /// Whether it was done as asked.
    #[inline]
    pub fn is_ok(&self) -> bool {
        u32::from(self.outcome) == outcome::OK
    }

    /// Whether it was refused; of a timer: whether it came too late.
    #[inline]
    pub(crate) fn is_refused(&self) -> bool {
        u32::from(self.outcome) == outcome::REFUSED
    }

    /// The other resource that it acted on, besides its own.
    #[inline]
    pub(crate) fn also(&self) -> ResourceId {
        also(self.kind, self.arg)
    }
}

impl Operation {
    /// The other resource that it acts on, besides its own.
    #[inline]
    pub(crate) fn also(&self) -> ResourceId {
        also(self.kind, self.arg)
    }
}

#[inline]
pub(crate) fn also(kind: OpKind, arg: u64) -> ResourceId {
    if kind.is(Traits::REACHES) { kind.room().also(kind, arg) } else { ResourceId::NONE }
}

const _: () = assert!(std::mem::size_of::<Step>() == 40);
