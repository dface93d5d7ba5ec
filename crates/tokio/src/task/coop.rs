//! Cooperative scheduling: nothing to do here, since any task can be passed over at any step.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Yields if a budget were used up; there is none.
pub async fn consume_budget() {}

/// Whether there is budget left: there always is.
#[must_use]
pub fn has_budget_remaining() -> bool {
    true
}

/// `future`, which has no budget anyway.
pub fn unconstrained<F>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

/// `future`, as it is.
pub fn cooperative<F: Future>(future: F) -> F {
    future
}

/// What [`unconstrained`] returns.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Unconstrained<F> {
    future: F,
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: nothing moves it out, and there is no destructor.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(context)
    }
}

/// Goes on, since there is no budget.
pub fn poll_proceed(_context: &mut Context<'_>) -> Poll<RestoreOnPending> {
    Poll::Ready(RestoreOnPending(()))
}

/// What [`poll_proceed`] returns.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending(());

impl RestoreOnPending {
    /// Uses the budget that there is not.
    pub fn made_progress(&self) {}
}
