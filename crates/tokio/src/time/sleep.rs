//! Waiting for time to pass.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use drawloom::future;

use super::Instant;

/// Waits until `duration` has passed.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { inner: future::sleep(duration) }
}

/// Waits until `deadline`.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { inner: future::sleep_until(deadline.inner()) }
}

/// What [`sleep`] and [`sleep_until`] return.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Sleep {
    inner: future::Sleep,
}

impl Sleep {
    /// The instant that it waits for.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        Instant::new(self.inner.deadline())
    }

    /// Whether that instant has come.
    #[must_use]
    #[track_caller]
    pub fn is_elapsed(&self) -> bool {
        self.inner.is_elapsed()
    }

    /// Waits for another instant from now on.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        Pin::new(&mut self.get_mut().inner).reset(deadline.inner());
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.get_mut().inner).poll(context)
    }
}
