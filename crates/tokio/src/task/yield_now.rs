//! Letting other tasks continue.

use std::future::Future;

use crate::waiting::pinned;

/// Lets other tasks continue, as `tokio::task::yield_now`.
///
/// A yield is a hint: the task may continue at once. Time passes only when all wait; a task that yields does not. Where all
/// do nothing but yield, though, they wait for something, which may be time.
#[track_caller]
pub fn yield_now() -> impl Future<Output = ()> {
    pinned(drawloom::future::yield_now())
}
