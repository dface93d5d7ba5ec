//! Letting other tasks go on.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::task::Poll;

use crate::sync::permits::Place;

/// As often in a row at the same place it is not yet a loop that waits for something.
const PATIENCE: u32 = 4;

drawloom::thread_local! {
    /// Where the running task has yielded last, and how often in a row.
    static LAST: Cell<(Option<Place>, u32)> = const { Cell::new((None, 0)) };
}

/// Lets other tasks go on, as `tokio::task::yield_now`.
///
/// Time passes only when all wait; a task that yields does not. One that does nothing but yield, though, waits for
/// something, which may be time.
#[track_caller]
pub fn yield_now() -> impl Future<Output = ()> {
    let place = Location::caller();
    async move {
        let (last, before) = LAST.get();
        let count = if last == Some(place) { before.saturating_add(1) } else { 1 };
        LAST.set((Some(place), count));
        if count > PATIENCE {
            return drawloom::future::yield_now().await;
        }
        let mut yielded = false;
        poll_fn(|context| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}
