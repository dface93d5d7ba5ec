//! The end that sends.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use drawloom::object::{Act, Awaited};

use super::error::SendError;
use super::receiver::subscribe;
use super::{Receiver, Shared, Slot, Value, shared};
use crate::waiting::{Until, Wakers, pinned};

/// Sends to all [`Receiver`]s.
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
}

/// A [`Sender`] that does not keep the channel open.
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// As [`channel`](super::channel), without a receiver.
    #[must_use]
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Sender { shared: shared(capacity, 0) }
    }

    /// Sends, and says to how many.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let value = Value(Arc::new(Mutex::new(value)));
        let kept = value.clone();
        let (receivers, overwritten, waiting) = self.shared.state.update_doing(Location::caller(), |state| {
            if state.receivers == 0 {
                return ((0, None, Wakers::default()), Act::WakesNobody);
            }
            let mut overwritten = None;
            if state.slots.len() == self.shared.capacity {
                overwritten = state.slots.pop_front();
                state.first += 1;
            }
            state.slots.push_back(Slot { value: Some(kept), unseen: state.receivers });
            ((state.receivers, overwritten, state.sent.take()), Act::Sends)
        });
        drop(overwritten);
        if receivers == 0 {
            // What was kept has been dropped with the step.
            let value = Arc::into_inner(value.0).expect("nobody has received it");
            return Err(SendError(value.into_inner().expect("nobody has cloned it")));
        }
        waiting.wake();
        Ok(receivers)
    }

    /// A receiver of what is sent from now on.
    #[must_use]
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        subscribe(&self.shared)
    }

    /// A sender that does not keep the channel open.
    #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
    pub fn downgrade(&self) -> WeakSender<T> {
        self.shared.weak_senders.fetch_add(1, Ordering::Relaxed);
        WeakSender { shared: self.shared.clone() }
    }

    /// How many values some receiver has still to see.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.shared.state.look(|state| state.slots.iter().skip_while(|slot| slot.unseen == 0).count())
    }

    /// Whether all receivers have seen all values.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many receivers there are.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.shared.state.look(|state| state.receivers)
    }

    /// Whether both send to the same receivers.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let ready = |state: &mut super::State<T>| (state.receivers == 0).then_some(());
        pinned(Until::new(&self.shared.state, Location::caller(), Awaited::Change, |state| &mut state.gone, ready))
    }

    /// How many senders there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.shared.state.look(|_| self.shared.senders.load(Ordering::Acquire))
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_senders.load(Ordering::Acquire)
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
            state.sent.take()
        });
        receivers.wake();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Sender").finish_non_exhaustive()
    }
}

impl<T> WeakSender<T> {
    /// A sender, if there still is one.
    #[must_use]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let alive = self.shared.state.update(|_| {
            let alive = self.shared.senders.load(Ordering::Acquire) > 0;
            self.shared.senders.fetch_add(usize::from(alive), Ordering::Relaxed);
            alive
        });
        alive.then(|| Sender { shared: self.shared.clone() })
    }

    /// How many senders there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.shared.state.look(|_| self.shared.senders.load(Ordering::Acquire))
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_senders.load(Ordering::Acquire)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        self.shared.weak_senders.fetch_add(1, Ordering::Relaxed);
        WeakSender { shared: self.shared.clone() }
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.shared.weak_senders.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::WeakSender").finish_non_exhaustive()
    }
}
