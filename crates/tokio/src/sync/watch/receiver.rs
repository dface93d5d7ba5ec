//! The end that watches.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use drawloom::object::Awaited;

use super::error::RecvError;
use super::{Ref, Shared};
use crate::sync::permits::Place;
use crate::task::coop;
use crate::waiting::{Until, Wakers, pinned};

/// Watches the value that a [`Sender`](super::Sender) sends.
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The version that it has seen.
    pub(super) seen: u64,
}

impl<T> Receiver<T> {
    /// The value, which does not count as seen.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let inner = self.shared.read();
        let has_changed = inner.version != self.seen;
        Ref { inner, has_changed }
    }

    /// The value, which counts as seen from now on.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let inner = self.shared.read();
        let has_changed = inner.version != std::mem::replace(&mut self.seen, inner.version);
        Ref { inner, has_changed }
    }

    /// Whether there is a value that it has not seen.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let (version, closed) = self.shared.state.look(|state| (state.version, state.closed));
        if closed { Err(RecvError(())) } else { Ok(version != self.seen) }
    }

    /// Whether all senders are gone.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.shared.state.look(|state| state.closed)
    }

    /// The present value counts as not seen from now on.
    pub fn mark_changed(&mut self) {
        self.seen = self.seen.wrapping_sub(1);
    }

    /// The present value counts as seen from now on.
    #[track_caller]
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.state.look(|state| state.version);
    }

    /// Waits for a value that it has not seen, which then counts as seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        pinned(changed(&self.shared, &mut self.seen, Location::caller()))
    }

    /// Waits for a value that `f` accepts.
    #[track_caller]
    pub fn wait_for(&mut self, mut f: impl FnMut(&T) -> bool) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        let place = Location::caller();
        coop::cooperative(async move {
            let mut closed = false;
            loop {
                {
                    let inner = self.shared.read();
                    let has_changed = inner.version != std::mem::replace(&mut self.seen, inner.version);
                    if (!closed || has_changed) && f(&inner.value) {
                        return Ok(Ref { inner, has_changed });
                    }
                }
                if closed {
                    return Err(RecvError(()));
                }
                closed = changed(&self.shared, &mut self.seen, place).await.is_err();
            }
        })
    }

    /// Whether both watch the same value.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

fn changed<T>(shared: &Shared<T>, seen: &mut u64, place: Place) -> impl Future<Output = Result<(), RecvError>> {
    let ready = move |state: &mut super::State| {
        if state.version != *seen {
            *seen = state.version;
            return Some(Ok(()));
        }
        state.closed.then_some(Err(RecvError(())))
    };
    Until::new(&shared.state, place, Awaited::Value, |state| &mut state.changed, ready)
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.receivers.fetch_add(1, Ordering::Relaxed);
        Receiver { shared: self.shared.clone(), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let senders = self.shared.state.update_from(self.shared.made_at, |state| {
            match self.shared.receivers.fetch_sub(1, Ordering::AcqRel) {
                1 => state.gone.take(),
                _ => Wakers::default(),
            }
        });
        senders.wake();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
