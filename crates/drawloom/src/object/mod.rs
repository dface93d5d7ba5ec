//! Objects: state whose every use is one step. What facades of other libraries are made of.

mod lock;
mod memo;
#[doc(hidden)]
pub mod queue;
mod turn;

use std::fmt;
use std::panic::Location;

#[doc(hidden)]
pub use drawloom_engine::act::{Act, Awaited};
/// The [label](crate::label) of an object by which a facade has tasks take turns: nothing is ever blamed on it.
#[doc(hidden)]
pub use drawloom_report::TURN;

use self::lock::Lock;
#[doc(hidden)]
pub use self::memo::{memo, set_memo};
#[doc(hidden)]
pub use self::turn::Turn;
use crate::label::Labelled;
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Seen, Slot, State, outcome};

/// What objects and queues have in common: anything can be done to their state, in one step of which reports tell.
#[doc(hidden)]
pub trait Shared {
    /// What is shared.
    type State;

    /// Changes the state, as a step of `place` that depends on every other use.
    fn update_doing<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut Self::State) -> (R, Act)) -> R;
}

impl<T> Shared for Object<T> {
    type State = T;

    #[inline]
    fn update_doing<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut T) -> (R, Act)) -> R {
        Object::update_doing(self, place, f)
    }
}

/// Shared state that is used as a whole: each use is one step, atomic for all other tasks.
///
/// A lock, a queue or a notification of some library becomes one by keeping what it knows in an object,
/// wakers included, and by doing in one [`update`](Self::update) what the original does in one critical
/// section. Everything that explores, replays and explains then knows about it: two uses of one object
/// depend on each other unless both only [`look`](Self::look).
///
/// ```
/// use drawloom::object::Object;
///
/// let permits = Object::new(2_u32);
/// let taken = permits.update(|permits| {
///     let there = *permits > 0;
///     *permits -= u32::from(there);
///     there
/// });
/// assert!(taken);
/// assert_eq!(permits.look(|permits| *permits), 1);
/// ```
///
/// What is passed to `update` and `look` must not take a step itself: wake, drop values of users and
/// return to their code afterwards.
pub struct Object<T> {
    slot: Slot,
    state: Lock<T>,
}

impl<T> Object<T> {
    /// An object in state `state`; reports name it by the place of this call.
    #[must_use]
    #[track_caller]
    pub const fn new(state: T) -> Self {
        Object { slot: Slot::new(), state: Lock::new(state) }
    }

    /// Changes the state: a step that depends on every other use.
    #[track_caller]
    pub fn update<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.update_from(Location::caller(), f)
    }

    /// As [`update`](Self::update), as a step of `place`: for destructors, which have no caller, and for futures,
    /// which are polled by somebody else than who made them.
    #[inline]
    pub fn update_from<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut T) -> R) -> R {
        self.step(OpKind::Rmw, place, || (self.state.with(f), Act::Uses))
    }

    /// As [`update_from`](Self::update_from); reports show the given act.
    #[doc(hidden)]
    #[inline]
    pub fn update_doing<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&mut T) -> (R, Act)) -> R {
        self.step(OpKind::Rmw, place, || self.state.with(f))
    }

    /// Reads the state: a step that does not depend on other looks.
    #[track_caller]
    pub fn look<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        self.look_from(Location::caller(), f)
    }

    /// As [`look`](Self::look), as a step of `place`.
    pub fn look_from<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&T) -> R) -> R {
        self.step(OpKind::Load, place, || (self.state.with(|state| f(state)), Act::Uses))
    }

    /// The state, without a step: `&mut` proves that nobody shares it.
    pub fn get_mut(&mut self) -> &mut T {
        self.state.get_mut()
    }

    /// The state itself.
    #[doc(hidden)]
    pub fn into_inner(self) -> T {
        self.state.into_inner()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step<R>(&self, kind: OpKind, place: &'static Location<'static>, act: impl FnOnce() -> (R, Act)) -> R {
        let Some(rt) = rt::current() else { return act().0 };
        let access = Operation::new(kind, self.resource(rt), rt::site(place));
        // What is in it is nobody's business: all there is to show is what was done.
        rt.access(access, || {
            let (result, act) = act();
            (result, Seen { value: act.code(), other: 0, outcome: outcome::OK })
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Object, || State::Plain)
    }
}

impl<T: Default> Default for Object<T> {
    #[track_caller]
    fn default() -> Self {
        Object::new(T::default())
    }
}

impl<T> fmt::Debug for Object<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").finish_non_exhaustive()
    }
}

impl<T> Labelled for Object<T> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        Some(self.resource(rt))
    }
}
