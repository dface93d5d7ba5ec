//! Queues: objects of which it is known that what is put in is taken out in order.

use std::panic::Location;

pub use drawloom_engine::Tally;

use super::lock::Lock;
use super::{Act, Shared};
use crate::label::Labelled;
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Seen, Slot, State};

/// A state that keeps count of what was put in and taken out.
pub trait Tallied {
    /// What is known of it now.
    fn tally(&self) -> Tally;
}

/// Shared state as an [`Object`](super::Object) is, with a queue in it: putting something in and taking something else out
/// commute, where nobody waits and there is room. What a use comes to shows by what it has changed of the [`Tally`].
pub struct Queue<S> {
    slot: Slot,
    capacity: u64,
    state: Lock<S>,
}

impl<S: Tallied> Queue<S> {
    /// A queue with room for so much; reports name it by the place of this call.
    #[track_caller]
    pub const fn new(state: S, capacity: u64) -> Self {
        Queue { slot: Slot::new(), capacity, state: Lock::new(state) }
    }

    /// Puts one thing in, if that is possible.
    pub fn put<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
        self.put_doing(place, |state| (f(state), Act::Uses))
    }

    /// As [`put`](Self::put); reports tell what was done.
    #[inline]
    pub fn put_doing<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> (R, Act)) -> R {
        self.step(OpKind::Put, place, f)
    }

    /// Takes one thing out, if there is one.
    pub fn take<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
        self.take_doing(place, |state| (f(state), Act::Uses))
    }

    /// As [`take`](Self::take); reports tell what was done.
    #[inline]
    pub fn take_doing<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> (R, Act)) -> R {
        self.step(OpKind::Take, place, f)
    }

    /// One of those who put something in goes away: it matters if it is the last.
    pub fn leave<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
        self.step(OpKind::Leave, place, |state| (f(state), Act::Uses))
    }

    /// Changes the state: a step that depends on every other use.
    #[track_caller]
    pub fn update<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
        self.update_from(Location::caller(), f)
    }

    /// As [`update`](Self::update), as a step of `place`.
    pub fn update_from<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
        self.step(OpKind::Rearrange, place, |state| (f(state), Act::Uses))
    }

    /// Reads the state: a step that does not depend on other looks.
    #[track_caller]
    pub fn look<R>(&self, f: impl FnOnce(&S) -> R) -> R {
        self.step(OpKind::Peek, Location::caller(), |state| (f(state), Act::Uses))
    }

    #[inline]
    fn step<R>(&self, kind: OpKind, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> (R, Act)) -> R {
        let Some(rt) = rt::current() else { return self.state.with(f).0 };
        let id = self.resource(rt);
        rt.access(Operation::new(kind, id, rt::site(place)), || {
            self.state.with(|state| {
                let mut before = state.tally();
                let (result, act) = f(state);
                // What was in use before the exploration cannot be counted from the beginning.
                let counted = rt.with_engine(|engine| engine.resources()[id.index()].initial != State::Plain);
                before.is_plain &= counted;
                let mut after = state.tally();
                after.is_plain &= counted;
                let (outcome, other) = before.tell(kind, after, self.capacity);
                (result, Seen { value: act.code(), other, outcome })
            })
        })
    }

    fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Object, || {
            let is_new = self.state.with(|state| state.tally()) == Tally::NEW;
            if is_new { State::Count(self.capacity) } else { State::Plain }
        })
    }
}

impl<S: Tallied> Shared for Queue<S> {
    type State = S;

    fn update_doing<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut S) -> (R, Act)) -> R {
        self.step(OpKind::Rearrange, place, f)
    }
}

impl<S: Tallied> Labelled for Queue<S> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        Some(self.resource(rt))
    }
}
