//! Waiting no longer than so long.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::error::Elapsed;
use super::{Instant, Sleep, sleep, sleep_until};
use crate::task::coop;

/// Waits for `future`, but no longer than `duration`. If both end at the same instant the future wins.
///
/// # Panics
///
/// Outside of a runtime, and in one without timers.
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { delay: sleep(duration), future: future.into_future() }
}

/// As [`timeout`], until `deadline`.
///
/// # Panics
///
/// Outside of a runtime, and in one without timers.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { delay: sleep_until(deadline), future: future.into_future() }
}

/// What [`timeout`] and [`timeout_at`] return.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Timeout<T> {
    future: T,
    delay: Sleep,
}

impl<T> Timeout<T> {
    /// The future.
    pub fn get_ref(&self) -> &T {
        &self.future
    }

    /// The future.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.future
    }

    /// The future itself, without its limit.
    pub fn into_inner(self) -> T {
        self.future
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both are pinned whenever `self` is: nothing moves them out of a pinned `Timeout`, which has no
        // destructor of its own.
        let (future, delay) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), Pin::new_unchecked(&mut this.delay))
        };
        let had_budget = coop::has_budget_remaining();
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        // A future that has used up the budget must not keep the limit from being seen.
        let _unlimited = (had_budget && !coop::has_budget_remaining()).then(coop::Limited::none);
        delay.poll(context).map(|()| Err(Elapsed::new()))
    }
}
