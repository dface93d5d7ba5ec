//! Why a message was not sent or received. Those that std has are std's own.

use std::error::Error;
use std::fmt;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// Why [`Sender::send_timeout`](super::Sender::send_timeout) did not send; the message comes back.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::channel;
///
/// let (sender, _receiver) = channel::bounded(1);
/// sender.send(1).unwrap();
/// let error = sender.send_timeout(2, Duration::from_millis(1)).unwrap_err();
/// assert!(error.is_timeout());
/// assert_eq!(error.into_inner(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room in time.
    Timeout(T),
    /// The channel is disconnected.
    Disconnected(T),
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Disconnected(message) => message,
        }
    }

    /// Whether there was no room in time.
    pub fn is_timeout(&self) -> bool {
        matches!(self, SendTimeoutError::Timeout(_))
    }

    /// Whether the channel is disconnected.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, SendTimeoutError::Disconnected(_))
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() { "Timeout(..)" } else { "Disconnected(..)" })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() {
            "timed out waiting on send operation"
        } else {
            "sending on a disconnected channel"
        })
    }
}

impl<T> Error for SendTimeoutError<T> {}
