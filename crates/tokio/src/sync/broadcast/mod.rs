//! Channels whose every receiver gets every value, as `tokio::sync::broadcast`.
//!
//! A receiver that is too slow loses the oldest values, and is told how many.

pub mod error;
mod receiver;
mod sender;

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, TryLockError};

use drawloom::object::Object;

pub use receiver::Receiver;
pub use sender::{Sender, WeakSender};

use super::permits::Place;
use crate::waiting::Waiting;

/// What both ends share.
struct Shared<T> {
    state: Object<State<T>>,
    capacity: usize,
    /// Changed in the steps of `state` only, except for clones: these never bring anything about.
    senders: AtomicUsize,
    weak_senders: AtomicUsize,
    made_at: Place,
}

struct State<T> {
    slots: VecDeque<Slot<T>>,
    /// The position of the first slot.
    first: u64,
    receivers: usize,
    /// All senders are gone.
    closed: bool,
    /// Receivers, for the next value.
    sent: Waiting,
    /// Senders, for the last receiver to go.
    gone: Waiting,
}

struct Slot<T> {
    /// Gone when all have seen it.
    value: Option<Value<T>>,
    /// How many receivers have still to see it.
    unseen: usize,
}

impl<T> State<T> {
    /// The position of the next value.
    fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }
}

impl<T> Slot<T> {
    /// One receiver has seen it, or never will. The last one takes the value.
    fn see(&mut self) -> Option<Value<T>> {
        self.unseen -= 1;
        if self.unseen == 0 { self.value.take() } else { self.value.clone() }
    }
}

/// A value that is cloned outside of steps, since that is code of users.
struct Value<T>(Arc<Mutex<T>>);

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        Value(self.0.clone())
    }
}

impl<T: Clone> Value<T> {
    fn get(&self) -> T {
        loop {
            match self.0.try_lock() {
                Ok(value) => return value.clone(),
                Err(TryLockError::Poisoned(value)) => return value.into_inner().clone(),
                // Somebody else is cloning it, and their clone has taken a step.
                Err(TryLockError::WouldBlock) => drawloom::thread::yield_now(),
            }
        }
    }
}

#[track_caller]
fn shared<T>(capacity: usize, receivers: usize) -> Arc<Shared<T>> {
    assert!(capacity > 0, "broadcast channel capacity cannot be zero");
    assert!(capacity <= usize::MAX >> 1, "broadcast channel capacity exceeded `usize::MAX / 2`");
    let state = State {
        slots: VecDeque::new(),
        first: 0,
        receivers,
        closed: false,
        sent: Waiting::new(),
        gone: Waiting::new(),
    };
    Arc::new(Shared {
        state: Object::new(state),
        capacity: capacity.next_power_of_two(),
        senders: AtomicUsize::new(1),
        weak_senders: AtomicUsize::new(0),
        made_at: Location::caller(),
    })
}

/// A channel that keeps at least `capacity` values for who is slow: the next power of two, as tokio does.
///
/// # Panics
///
/// If it is zero, or more than there can be.
#[must_use]
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = shared(capacity, 1);
    (Sender { shared: shared.clone() }, Receiver { shared, next: 0 })
}
