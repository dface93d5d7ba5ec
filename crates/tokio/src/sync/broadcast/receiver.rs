//! The end that receives.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use drawloom::object::Awaited;

use super::error::{RecvError, TryRecvError};
use super::{Shared, State, Value};
use crate::context;
use crate::waiting::{Until, Wakers};

/// Receives all that is sent after it was made.
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The position of the next value that it has not seen.
    pub(super) next: u64,
}

/// The value at `next`, in a step.
fn take<T>(state: &mut State<T>, next: &mut u64) -> Result<Value<T>, TryRecvError> {
    let lost = state.first.saturating_sub(*next);
    if lost > 0 {
        *next = state.first;
        return Err(TryRecvError::Lagged(lost));
    }
    let at = (*next - state.first) as usize;
    match state.slots.get_mut(at) {
        Some(slot) => {
            *next += 1;
            Ok(slot.see().expect("a receiver sees what it has not seen"))
        }
        None if state.closed => Err(TryRecvError::Closed),
        None => Err(TryRecvError::Empty),
    }
}

impl<T> Receiver<T> {
    /// How many values wait for it, those that it has lost included.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.shared.state.look(|state| (state.next() - self.next) as usize)
    }

    /// Whether nothing waits for it.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether both receive the same values.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How many senders there are.
    #[track_caller]
    pub fn sender_strong_count(&self) -> usize {
        self.shared.state.look(|_| self.shared.senders.load(Ordering::Acquire))
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.shared.weak_senders.load(Ordering::Acquire)
    }

    /// Whether all senders are gone.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.shared.state.look(|state| state.closed)
    }
}

impl<T: Clone> Receiver<T> {
    /// A receiver of what is sent from now on.
    #[must_use]
    #[track_caller]
    pub fn resubscribe(&self) -> Self {
        subscribe(&self.shared)
    }

    /// Waits for the next value.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        let place = Location::caller();
        async move {
            let next = &mut self.next;
            let ready = |state: &mut State<T>| match take(state, next) {
                Ok(value) => Some(Ok(value)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Closed) => Some(Err(RecvError::Closed)),
                Err(TryRecvError::Lagged(lost)) => Some(Err(RecvError::Lagged(lost))),
            };
            let value = Until::new(&self.shared.state, place, Awaited::Message, |state| &mut state.sent, ready).await?;
            Ok(value.get())
        }
    }

    /// The next value, if it is there.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let next = &mut self.next;
        let value = self.shared.state.update(|state| take(state, next))?;
        Ok(value.get())
    }

    /// As [`recv`](Self::recv), for threads.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        context::block_on(self.recv())
    }
}

#[track_caller]
pub(super) fn subscribe<T>(shared: &Arc<Shared<T>>) -> Receiver<T> {
    let next = shared.state.update(|state| {
        state.receivers += 1;
        state.next()
    });
    Receiver { shared: shared.clone(), next }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (unseen, senders) = self.shared.state.update_from(self.shared.made_at, |state| {
            let seen = self.next.saturating_sub(state.first) as usize;
            let unseen: Vec<_> = state.slots.iter_mut().skip(seen).filter_map(super::Slot::see).collect();
            state.receivers -= 1;
            let gone = state.receivers == 0;
            (unseen, if gone { state.gone.take() } else { Wakers::default() })
        });
        senders.wake();
        drop(unseen);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Receiver").finish_non_exhaustive()
    }
}
