//! The end that sets the value.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use drawloom::object::{Act, Awaited};

use super::error::SendError;
use super::{Receiver, Ref, Shared, channel};
use crate::waiting::{Until, Wakers, pinned};

/// Sets the value that [`Receiver`]s watch.
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// A channel without a receiver; see [`subscribe`](Self::subscribe).
    #[must_use]
    #[track_caller]
    pub fn new(init: T) -> Self {
        channel(init).0
    }

    /// Sets the value, if there is a receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.receiver_count() == 0 {
            return Err(SendError(value));
        }
        self.send_replace(value);
        Ok(())
    }

    /// Changes the value, and tells receivers.
    #[track_caller]
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value, and tells receivers if `modify` says so.
    #[track_caller]
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        let mut lock = self.shared.value.write().unwrap_or_else(PoisonError::into_inner);
        match catch_unwind(AssertUnwindSafe(|| modify(&mut lock.value))) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(payload) => {
                drop(lock);
                resume_unwind(payload);
            }
        }
        lock.version += 1;
        // While the lock is held, so that who sees the version also sees the value.
        let version = lock.version;
        let receivers = self.shared.state.update_doing(Location::caller(), |state| {
            state.version = version;
            (state.changed.take(), Act::Sends)
        });
        drop(lock);
        receivers.wake();
        true
    }

    /// Sets the value, receivers or not; returns the one before.
    #[track_caller]
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| std::mem::swap(old, &mut value));
        value
    }

    /// The value.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref { inner: self.shared.read(), has_changed: false }
    }

    /// Whether there is no receiver.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let shared = &*self.shared;
        let ready = |_: &mut super::State| (shared.receivers.load(Ordering::Acquire) == 0).then_some(());
        pinned(Until::new(&shared.state, Location::caller(), Awaited::Change, |state| &mut state.gone, ready))
    }

    /// One more receiver, which has seen the present value.
    #[must_use]
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let seen = self.shared.state.update(|state| {
            self.shared.receivers.fetch_add(1, Ordering::Relaxed);
            state.version
        });
        Receiver { shared: self.shared.clone(), seen }
    }

    /// How many receivers there are.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.shared.receiver_count()
    }

    /// How many senders there are.
    #[track_caller]
    pub fn sender_count(&self) -> usize {
        self.shared.state.look(|_| self.shared.senders.load(Ordering::Acquire))
    }

    /// Whether both set the same value.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Self {
        Sender::new(T::default())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Sender { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let receivers = self.shared.state.update_from(self.shared.made_at, |state| {
            if self.shared.senders.fetch_sub(1, Ordering::AcqRel) > 1 {
                return Wakers::default();
            }
            state.closed = true;
            state.changed.take()
        });
        receivers.wake();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
