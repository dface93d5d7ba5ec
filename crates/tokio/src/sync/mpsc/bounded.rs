//! Channels with room for so many values.

use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::chan::Chan;
use super::error::{self, SendError, SendTimeoutError, TrySendError};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use super::{receives, sends};
use crate::waiting::pinned;
use crate::{context, time};

/// A channel with room for `buffer` values.
///
/// # Panics
///
/// If there is no room at all, or more than there can be.
#[must_use]
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    let chan = Arc::new(Chan::new(buffer));
    (Sender { chan: chan.clone() }, Receiver { chan })
}

/// Sends to a [`Receiver`], and waits while it is full.
pub struct Sender<T> {
    pub(super) chan: Arc<Chan<T>>,
}

/// A [`Sender`] that does not keep the channel open.
pub struct WeakSender<T> {
    chan: Arc<Chan<T>>,
}

/// Receives what the clones of a [`Sender`] send.
pub struct Receiver<T> {
    chan: Arc<Chan<T>>,
}

receives!(Receiver);
sends!(Sender, WeakSender);

impl<T> Receiver<T> {
    /// For how many more values there is room.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.chan.capacity()
    }

    /// For how many values there is room in all.
    pub fn max_capacity(&self) -> usize {
        self.chan.bound()
    }
}

impl<T> Sender<T> {
    /// Waits for room, and sends.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        pinned(self.chan.send(value, Location::caller()))
    }

    /// Sends if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.chan.try_send(message)
    }

    /// Waits for room, but not longer than `timeout`, and sends.
    #[track_caller]
    pub fn send_timeout(&self, value: T, timeout: Duration) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let place = Location::caller();
        let timeout = time::timeout(timeout, self.chan.reserve(1, place));
        async move {
            match timeout.await {
                Err(_) => Err(SendTimeoutError::Timeout(value)),
                Ok(Err(_)) => Err(SendTimeoutError::Closed(value)),
                Ok(Ok(())) => {
                    self.chan.fill(value, place);
                    Ok(())
                }
            }
        }
    }

    /// As [`send`](Self::send), for threads.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        context::block_on(self.send(value))
    }

    /// Waits for room, and keeps it.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            self.chan.reserve(1, place).await?;
            Ok(Permit { chan: &self.chan, place })
        }
    }

    /// Waits for room for `n` values, and keeps it.
    #[track_caller]
    pub fn reserve_many(&self, n: usize) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            self.chan.reserve(n, place).await?;
            Ok(PermitIterator { chan: &self.chan, left: n, place })
        }
    }

    /// As [`reserve`](Self::reserve); the permit has the sender.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            self.chan.reserve(1, place).await?;
            Ok(OwnedPermit { sender: Some(self), place })
        }
    }

    /// As [`reserve`](Self::reserve), if there is room.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.chan.try_reserve(1)?;
        Ok(Permit { chan: &self.chan, place: Location::caller() })
    }

    /// As [`reserve_many`](Self::reserve_many), if there is room.
    #[track_caller]
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.chan.try_reserve(n)?;
        Ok(PermitIterator { chan: &self.chan, left: n, place: Location::caller() })
    }

    /// As [`reserve_owned`](Self::reserve_owned), if there is room.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.chan.try_reserve(1) {
            Ok(()) => Ok(OwnedPermit { sender: Some(self), place: Location::caller() }),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    /// For how many more values there is room.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.chan.capacity()
    }

    /// For how many values there is room in all.
    pub fn max_capacity(&self) -> usize {
        self.chan.bound()
    }
}
