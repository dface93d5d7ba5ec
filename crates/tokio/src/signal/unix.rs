//! `tokio::signal::unix`: signals come by [`raise`].

use std::future::Future;
use std::io;
use std::panic::Location;
use std::task::{Context, Poll};

use super::{count, next, poll_next, raise_number};
use crate::sync::permits::Place;

/// A kind of signal, as `tokio::signal::unix::SignalKind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignalKind(i32);

impl SignalKind {
    /// The signal with this number.
    #[must_use]
    pub const fn from_raw(signum: std::os::raw::c_int) -> Self {
        SignalKind(signum)
    }

    /// Its number.
    #[must_use]
    pub const fn as_raw_value(&self) -> std::os::raw::c_int {
        self.0
    }
}

macro_rules! kinds {
    ($($name:ident = $number:literal, $other:literal;)*) => {
        impl SignalKind {
            $(
                /// The signal of that name.
                #[must_use]
                pub const fn $name() -> Self {
                    SignalKind(if cfg!(any(target_os = "linux", target_os = "android")) { $number } else { $other })
                }
            )*
        }
    };
}

// The number on Linux, and that of the systems that descend from BSD.
kinds! {
    hangup = 1, 1;
    interrupt = 2, 2;
    quit = 3, 3;
    user_defined1 = 10, 30;
    user_defined2 = 12, 31;
    pipe = 13, 13;
    alarm = 14, 14;
    terminate = 15, 15;
    child = 17, 20;
    window_change = 28, 28;
    io = 29, 23;
}

impl From<std::os::raw::c_int> for SignalKind {
    fn from(signum: std::os::raw::c_int) -> Self {
        SignalKind(signum)
    }
}

impl From<SignalKind> for std::os::raw::c_int {
    fn from(kind: SignalKind) -> Self {
        kind.0
    }
}

/// Receives signals of one kind, as `tokio::signal::unix::Signal`. Those that come before it looks are one.
#[derive(Debug)]
pub struct Signal {
    kind: SignalKind,
    seen: u64,
    /// Under which it waits, where it was polled.
    ticket: Option<u64>,
    made_at: Place,
}

/// Receives signals that come from now on.
///
/// # Errors
///
/// If no program can receive that signal.
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    const FORBIDDEN: [i32; 6] = [4, 8, 9, 11, if cfg!(target_os = "linux") { 19 } else { 17 }, 0];
    if kind.0 < 0 || FORBIDDEN.contains(&kind.0) {
        let message = format!("Refusing to register signal {}", kind.0);
        return Err(io::Error::other(message));
    }
    let made_at = Location::caller();
    Ok(Signal { kind, seen: count(kind.0, made_at), ticket: None, made_at })
}

impl Signal {
    /// Waits for the next one.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<()>> {
        let place = Location::caller();
        async move {
            self.seen = next(self.kind.0, self.seen, place).await;
            Some(())
        }
    }

    /// As [`recv`](Self::recv), as a poll.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<()>> {
        let poll = poll_next(self.kind.0, self.seen, &mut self.ticket, context, self.made_at);
        poll.map(|seen| {
            self.seen = seen;
            Some(())
        })
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            super::forget(ticket, self.made_at);
        }
    }
}

/// Sends a signal: all who receive signals of that kind get it.
#[track_caller]
pub fn raise(kind: SignalKind) {
    raise_number(kind.0);
}
