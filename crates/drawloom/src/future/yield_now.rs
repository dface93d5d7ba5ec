//! Letting other futures continue.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::rt::{self, OpKind, Operation, ResourceId};

/// Lets other tasks, and other futures of this task, continue: the future counterpart of
/// [`thread::yield_now`](crate::thread::yield_now).
///
/// ```
/// use drawloom::future;
///
/// future::block_on(async {
///     future::yield_now().await; // other tasks may run here
/// });
/// ```
#[track_caller]
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false, made_at: Location::caller() }
}

/// The future of [`yield_now`].
///
/// ```
/// use drawloom::future::{self, YieldNow};
///
/// let turn: YieldNow = future::yield_now();
/// future::block_on(turn);
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow {
    yielded: bool,
    made_at: &'static Location<'static>,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if !std::mem::replace(&mut self.yielded, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        // So that a loop of yields is known as one.
        match rt::current() {
            None => std::thread::yield_now(),
            Some(rt) => {
                rt.step(Operation::new(OpKind::Yield, ResourceId::NONE, rt::site(self.made_at)));
            }
        }
        Poll::Ready(())
    }
}
