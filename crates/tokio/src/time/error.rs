//! Errors of timers.

use std::error;
use std::fmt;
use std::io;

/// The time was up, as `tokio::time::error::Elapsed`.
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl Elapsed {
    pub(crate) fn new() -> Self {
        Elapsed(())
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(_: Elapsed) -> io::Error {
        io::ErrorKind::TimedOut.into()
    }
}

/// An error of the timer itself, as `tokio::time::error::Error`. Nothing here makes one.
#[derive(Debug, Copy, Clone)]
pub struct Error(Kind);

#[derive(Debug, Clone, Copy, Eq, PartialEq)]
enum Kind {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// The timer is shut down.
    #[must_use]
    pub fn shutdown() -> Error {
        Error(Kind::Shutdown)
    }

    /// Whether the timer is shut down.
    #[must_use]
    pub fn is_shutdown(&self) -> bool {
        self.0 == Kind::Shutdown
    }

    /// There are too many timers.
    #[must_use]
    pub fn at_capacity() -> Error {
        Error(Kind::AtCapacity)
    }

    /// Whether there are too many timers.
    #[must_use]
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Kind::AtCapacity
    }

    /// The deadline cannot be.
    #[must_use]
    pub fn invalid() -> Error {
        Error(Kind::Invalid)
    }

    /// Whether the deadline cannot be.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.0 == Kind::Invalid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Shutdown => "the timer is shutdown, must be called from the context of Tokio runtime",
            Kind::AtCapacity => "timer is at capacity and cannot create a new entry",
            Kind::Invalid => "timer duration exceeds maximum duration",
        })
    }
}

impl error::Error for Error {}
