//! Channels that are never full.

use std::sync::Arc;

use super::chan::Chan;
use super::error::{self, SendError};
use super::{receives, sends};

/// A channel that is never full.
#[must_use]
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Arc::new(Chan::new(Chan::<T>::UNBOUNDED));
    (UnboundedSender { chan: chan.clone() }, UnboundedReceiver { chan })
}

/// Sends to an [`UnboundedReceiver`].
pub struct UnboundedSender<T> {
    chan: Arc<Chan<T>>,
}

/// An [`UnboundedSender`] that does not keep the channel open.
pub struct WeakUnboundedSender<T> {
    chan: Arc<Chan<T>>,
}

/// Receives what the clones of an [`UnboundedSender`] send.
pub struct UnboundedReceiver<T> {
    chan: Arc<Chan<T>>,
}

receives!(UnboundedReceiver);
sends!(UnboundedSender, WeakUnboundedSender);

impl<T> UnboundedSender<T> {
    /// Sends, without waiting.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.chan.try_send(message).map_err(|error| SendError(error.into_inner()))
    }
}
