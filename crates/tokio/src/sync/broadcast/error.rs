//! Why nothing was sent or received.

use std::error::Error;
use std::fmt;

/// There is no receiver; here is the value.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct SendError<T>(pub T);

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T: fmt::Debug> Error for SendError<T> {}

/// Why nothing was received.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum RecvError {
    /// All senders are gone, and nothing is left.
    Closed,
    /// The receiver was too slow, and has lost so many values.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Closed => f.write_str("channel closed"),
            RecvError::Lagged(lost) => write!(f, "channel lagged by {lost}"),
        }
    }
}

impl Error for RecvError {}

/// Why nothing was received at once.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum TryRecvError {
    /// There is nothing now.
    Empty,
    /// All senders are gone, and nothing is left.
    Closed,
    /// The receiver was too slow, and has lost so many values.
    Lagged(u64),
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("channel empty"),
            TryRecvError::Closed => f.write_str("channel closed"),
            TryRecvError::Lagged(lost) => write!(f, "channel lagged by {lost}"),
        }
    }
}

impl Error for TryRecvError {}
