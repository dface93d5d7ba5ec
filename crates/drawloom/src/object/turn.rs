//! A turn: what tasks take that share a thread, so that one of them continues at a time.

use std::fmt;
use std::panic::Location;

use crate::label::Labelled;
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Slot, State, outcome};

/// The turn of one thread: a lock of the engine's around nothing. Outside of an exploration it is always free.
pub struct Turn {
    slot: Slot,
}

impl Turn {
    /// A turn that is nobody's.
    #[expect(clippy::new_without_default, reason = "reports name it by the place of this call")]
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Turn { slot: Slot::new() }
    }

    /// Takes the turn as soon as it is free, those who came first before.
    pub fn take(&self, place: &'static Location<'static>) {
        if let Some(rt) = rt::current() {
            rt.lock(self.resource(rt), rt::site(place));
        }
    }

    /// Takes the turn if it is free, and says whether it was.
    pub fn try_take(&self, place: &'static Location<'static>) -> bool {
        let Some(rt) = rt::current() else { return true };
        rt.step(Operation::new(OpKind::TryLock, self.resource(rt), rt::site(place))) == outcome::OK
    }

    /// Gives it to the next one.
    pub fn give(&self, place: &'static Location<'static>) {
        if let Some(rt) = rt::current() {
            rt.unlock(self.resource(rt), rt::site(place));
        }
    }

    fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Mutex, || State::Turn)
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}

impl Labelled for Turn {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        Some(self.resource(rt))
    }
}
