//! `std::sync::Barrier`, under control.

use std::fmt;

use crate::rt::{self, OpKind, Operation, ResourceKind, Slot, State, outcome};

/// Lets tasks wait for each other: [`std::sync::Barrier`] outside an exploration; under control inside.
///
/// Which task comes last, and so leads, is decided by the order of arrivals, which is explored.
pub struct Barrier {
    slot: Slot,
    size: usize,
    native: std::sync::Barrier,
}

/// Says who leads, as [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

impl Barrier {
    /// As [`std::sync::Barrier::new`]: 0 behaves as 1.
    #[must_use]
    #[track_caller]
    pub const fn new(n: usize) -> Barrier {
        Barrier { slot: Slot::new(), size: n, native: std::sync::Barrier::new(n) }
    }

    /// As [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let Some(rt) = rt::current() else {
            return BarrierWaitResult(self.native.wait().is_leader());
        };
        let size = self.size.max(1) as u64;
        let id = self.slot.resource(rt, ResourceKind::Barrier, || State::Barrier { size, arrived: 0 });
        BarrierWaitResult(rt.step(Operation::new(OpKind::Arrive, id, rt::here())) == outcome::LEADER)
    }
}

impl BarrierWaitResult {
    /// As [`std::sync::BarrierWaitResult::is_leader`].
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}

impl crate::label::Labelled for Barrier {
    fn id(&self, rt: crate::rt::Handle) -> Option<crate::rt::ResourceId> {
        let state = || State::Barrier { size: self.size.max(1) as u64, arrived: 0 };
        Some(self.slot.resource(rt, ResourceKind::Barrier, state))
    }
}
