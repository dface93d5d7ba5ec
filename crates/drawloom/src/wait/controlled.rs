//! Waits of tasks.

use super::native;
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Slot, State};
use crate::thread::TaskOf;
use crate::time::Instant;

/// Set once, waited for once. Inside an exploration it is a semaphore: its two operations commute, so that
/// waiting adds no order to explore.
pub(super) struct Signal {
    slot: Slot,
    native: native::Signal,
}

impl Signal {
    #[track_caller]
    pub(super) fn new() -> Signal {
        Signal { slot: Slot::new(), native: native::Signal::default() }
    }

    fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Signal, || State::Count(0))
    }

    #[track_caller]
    pub(super) fn set(&self) {
        match rt::current() {
            None => self.native.set(),
            Some(rt) => {
                rt.step(Operation::new(OpKind::Release, self.resource(rt), rt::here()).with_arg(1));
            }
        }
    }

    /// Whether it was set before `deadline`.
    #[track_caller]
    pub(super) fn wait(&self, deadline: Option<Instant>) -> bool {
        let Some(rt) = rt::current() else { return self.native.wait(deadline) };
        let acquire = Operation::new(OpKind::Acquire, self.resource(rt), rt::here()).with_arg(1);
        let result = match deadline.and_then(Instant::virtual_nanos) {
            None => rt.step(acquire),
            Some(deadline) => rt.step_until(acquire, deadline),
        };
        result == rt::outcome::OK
    }
}

/// Who waits.
pub(crate) enum Owner {
    Task(TaskOf),
    Native(native::Owner),
}

impl Owner {
    pub(crate) fn here() -> Owner {
        match rt::current() {
            Some(rt) => Owner::Task(TaskOf { task: rt.running(), epoch: rt.epoch() }),
            None => Owner::Native(native::Owner::here()),
        }
    }

    /// Of any two one is the elder, whatever the schedule.
    pub(crate) fn is_elder_than(&self, other: &Owner) -> bool {
        match (self, other) {
            (Owner::Task(mine), Owner::Task(theirs)) => {
                mine.here().is_some_and(|rt| rt.with_engine(|engine| engine.path(mine.task) < engine.path(theirs.task)))
            }
            (Owner::Native(mine), Owner::Native(theirs)) => mine.is_elder_than(theirs),
            (Owner::Task(_), Owner::Native(_)) => true,
            (Owner::Native(_), Owner::Task(_)) => false,
        }
    }
}
