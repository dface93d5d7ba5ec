//! Waiting for time to pass.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use drawloom::future;

use super::Instant;
use crate::context;
use crate::runtime::Handle;
use crate::task::coop;

/// Waits until `duration` has passed.
///
/// # Panics
///
/// Outside of a runtime, and in one without timers.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::new(future::sleep(duration))
}

/// Waits until `deadline`.
///
/// # Panics
///
/// Outside of a runtime, and in one without timers.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(future::sleep_until(deadline.inner()))
}

/// What [`sleep`] and [`sleep_until`] return.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Sleep {
    inner: future::Sleep,
    runtime: Handle,
    elapsed: bool,
    /// As in tokio, where the timer is in here.
    _pinned: PhantomPinned,
}

impl Sleep {
    #[track_caller]
    fn new(inner: future::Sleep) -> Self {
        let runtime = context::current();
        runtime.needs_time();
        Sleep { inner, runtime, elapsed: false, _pinned: PhantomPinned }
    }

    /// The instant that it waits for.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        Instant::new(self.inner.deadline())
    }

    /// Whether that instant has come, as far as it was polled since.
    #[must_use]
    #[track_caller]
    pub fn is_elapsed(&self) -> bool {
        self.elapsed || self.inner.is_elapsed() && self.inner.was_polled()
    }

    /// Waits for another instant from now on.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.parts();
        this.elapsed = false;
        Pin::new(&mut this.inner).reset(deadline.inner());
    }

    fn parts(self: Pin<&mut Self>) -> &mut Self {
        // SAFETY: nothing in it is pinned: all of it is `Unpin` but for the mark.
        unsafe { self.get_unchecked_mut() }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.parts();
        let budget = ready!(coop::poll_proceed(context));
        assert!(!this.runtime.has_no_timers(), "{}", context::SHUT_DOWN);
        let poll = Pin::new(&mut this.inner).poll(context);
        this.elapsed = poll.is_ready();
        budget.after(poll)
    }
}
