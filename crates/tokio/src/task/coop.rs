//! Cooperative scheduling: a task that never has to wait yields after so many operations.
//!
//! Under control any task can be passed over at any step, so nobody starves for want of it. It is here because it can be
//! seen: a loop over channels that are always ready returns to its task's executor once in a while.

use std::cell::Cell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use drawloom::object::{memo, set_memo};

/// How many operations a task may do in one poll.
const BUDGET: u8 = 128;

/// How many operations are left to the running task in this poll; any number without a value.
#[inline]
fn left() -> Option<u8> {
    memo().checked_sub(1)
}

#[inline]
fn set_left(left: Option<u8>) {
    set_memo(left.map_or(0, |left| left + 1));
}

/// While it lives, the running task has a budget of its own, or none.
pub(crate) struct Limited {
    before: Option<u8>,
}

impl Limited {
    #[inline]
    fn new(budget: Option<u8>) -> Self {
        let before = left();
        set_left(budget);
        Limited { before }
    }

    /// Without a limit.
    pub(crate) fn none() -> Self {
        Limited::new(None)
    }
}

impl Drop for Limited {
    #[inline]
    fn drop(&mut self) {
        set_left(self.before);
    }
}

/// `future`, each poll of which has a full budget.
pub(crate) fn budgeted<F: Future>(future: F) -> Budgeted<F> {
    Budgeted { future }
}

/// What [`budgeted`] returns.
pub(crate) struct Budgeted<F> {
    future: F,
}

impl<F: Future> Future for Budgeted<F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _limited = Limited::new(Some(BUDGET));
        // SAFETY: `future` is pinned whenever `self` is: nothing moves it out, and there is no destructor.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(context)
    }
}

/// Uses a unit of budget, and yields if there is none left.
pub async fn consume_budget() {
    poll_fn(|context| {
        ready!(poll_proceed(context)).made_progress();
        Poll::Ready(())
    })
    .await;
}

/// Whether there is budget left.
#[must_use]
pub fn has_budget_remaining() -> bool {
    left() != Some(0)
}

/// `future`, without a budget.
pub fn unconstrained<F>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

/// `future`, which uses a unit of budget when it is ready.
pub fn cooperative<F: Future>(future: F) -> Coop<F> {
    Coop { future }
}

/// What [`unconstrained`] returns.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Unconstrained<F> {
    future: F,
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _limited = Limited::none();
        // SAFETY: `future` is pinned whenever `self` is: nothing moves it out, and there is no destructor.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(context)
    }
}

/// What [`cooperative`] returns.
#[must_use = "futures do nothing unless polled"]
pub struct Coop<F: Future> {
    future: F,
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let budget = ready!(poll_proceed(context));
        // SAFETY: `future` is pinned whenever `self` is: nothing moves it out, and there is no destructor.
        let poll = unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(context);
        if poll.is_ready() {
            budget.made_progress();
        }
        poll
    }
}

impl<F: Future> fmt::Debug for Coop<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coop").finish_non_exhaustive()
    }
}

/// Uses a unit of budget, which comes back if the returned value is dropped before [progress was
/// made](RestoreOnPending::made_progress). Without budget the task yields.
#[inline]
pub fn poll_proceed(context: &mut Context<'_>) -> Poll<RestoreOnPending> {
    match left() {
        None => Poll::Ready(RestoreOnPending::new(None)),
        Some(0) => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
        Some(left) => {
            set_left(Some(left - 1));
            Poll::Ready(RestoreOnPending::new(Some(left)))
        }
    }
}

/// What [`poll_proceed`] returns.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending {
    before: Cell<Option<u8>>,
    /// The budget is that of the task that polls.
    here: PhantomData<*const ()>,
}

impl RestoreOnPending {
    #[inline]
    fn new(before: Option<u8>) -> Self {
        RestoreOnPending { before: Cell::new(before), here: PhantomData }
    }

    /// The unit of budget is used.
    #[inline]
    pub fn made_progress(&self) {
        self.before.set(None);
    }

    /// Progress was made if `poll` is ready.
    #[inline]
    pub(crate) fn after<T>(self, poll: Poll<T>) -> Poll<T> {
        if poll.is_ready() {
            self.made_progress();
        }
        poll
    }
}

impl Drop for RestoreOnPending {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before.get() {
            set_left(Some(before));
        }
    }
}
