//! A value that can be watched, as `tokio::sync::watch`.
//!
//! As in tokio, the value is in a lock that blocks: who holds a [`Ref`] keeps senders from sending, and a
//! deadlock that comes of it is found.

pub mod error;
mod receiver;
mod sender;

use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use drawloom::object::Object;
use drawloom::sync::{RwLock, RwLockReadGuard};

pub use receiver::Receiver;
pub use sender::Sender;

use super::permits::Place;
use crate::waiting::Waiting;

/// What both ends share.
struct Shared<T> {
    value: RwLock<Versioned<T>>,
    state: Object<State>,
    /// Changed in the steps of `state` only, except for clones: these never bring anything about.
    senders: AtomicUsize,
    receivers: AtomicUsize,
    made_at: Place,
}

struct Versioned<T> {
    version: u64,
    value: T,
}

struct State {
    /// That of the value, or soon will be.
    version: u64,
    /// All senders are gone.
    closed: bool,
    /// Receivers, for another version.
    changed: Waiting,
    /// Senders, for the last receiver to go.
    gone: Waiting,
}

impl<T> Shared<T> {
    fn read(&self) -> RwLockReadGuard<'_, Versioned<T>> {
        self.value.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn receiver_count(&self) -> usize {
        self.state.look(|_| self.receivers.load(Ordering::Acquire))
    }
}

/// A channel whose value is `init` at first, which its receiver has seen.
#[must_use]
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let state = State { version: 0, closed: false, changed: Waiting::new(), gone: Waiting::new() };
    let shared = Arc::new(Shared {
        value: RwLock::new(Versioned { version: 0, value: init }),
        state: Object::new(state),
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
        made_at: Location::caller(),
    });
    (Sender { shared: shared.clone() }, Receiver { shared, seen: 0 })
}

/// The value; nobody sends while it is held.
#[derive(Debug)]
pub struct Ref<'a, T> {
    inner: RwLockReadGuard<'a, Versioned<T>>,
    has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Whether the receiver had not seen it before.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner.value
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Versioned<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}
