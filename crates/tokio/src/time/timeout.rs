//! Waiting no longer than so long.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use drawloom::future;

use super::Instant;
use super::error::Elapsed;

/// Waits for `future`, but no longer than `duration`. If both end at the same instant the future wins.
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { inner: future::timeout(duration, future.into_future()) }
}

/// As [`timeout`], until `deadline`.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { inner: future::timeout_at(deadline.inner(), future.into_future()) }
}

/// What [`timeout`] and [`timeout_at`] return.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Timeout<T> {
    inner: future::Timeout<T>,
}

impl<T> Timeout<T> {
    /// The future.
    pub fn get_ref(&self) -> &T {
        self.inner.get_ref()
    }

    /// The future.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    /// The future itself, without its limit.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `inner` is pinned whenever `self` is: nothing moves it out, and there is no destructor.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.inner) };
        inner.poll(context).map_err(|_| Elapsed::new())
    }
}
