//! Waiting for time to pass: timers that wake futures.
//!
//! A task keeps the timers of the futures that it polls. The earliest one bounds its wait; when it is
//! due, what waits for it is woken. Nothing ticks: time that nobody waits for passes at once.
//!
//! Outside of an exploration a thread of its own keeps all timers, so that whichever executor polls is woken.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::native_timer;
use crate::time::Instant;

#[derive(Default)]
struct Timers {
    /// Few at a time, so a list is quicker than a heap.
    pending: Vec<Pending>,
}

/// Tells timers apart, in whichever task they are kept: a future may be polled by another one later.
static MADE: AtomicU64 = AtomicU64::new(0);

pub(super) fn new_number() -> u64 {
    MADE.fetch_add(1, Ordering::Relaxed)
}

struct Pending {
    number: u64,
    deadline: Instant,
    waker: Waker,
}

crate::thread_local! {
    static TIMERS: RefCell<Timers> = RefCell::new(Timers::default());
}

std::thread_local! {
    /// Whether any task of this thread has ever kept a timer: else nobody need be asked before each wait.
    static ANY: Cell<bool> = const { Cell::new(false) };
}

/// When the running task has to be woken at the latest.
#[inline]
pub(super) fn earliest() -> Option<Instant> {
    ANY.get().then(earliest_kept).flatten()
}

#[inline(never)]
fn earliest_kept() -> Option<Instant> {
    TIMERS.with(|timers| timers.borrow().pending.iter().map(|timer| timer.deadline).min())
}

/// Wakes what waits for instants up to `now`, except who has this waker: that one is awake.
pub(super) fn fire(now: Option<Instant>, awake: &Waker) {
    while let Some(waker) = TIMERS.with(|timers| {
        let pending = &mut timers.borrow_mut().pending;
        let due = pending.iter().position(|timer| Some(timer.deadline) <= now)?;
        Some(pending.remove(due).waker)
    }) {
        if !waker.will_wake(awake) {
            waker.wake();
        }
    }
}

/// Waits until `duration` has passed, in virtual time inside an exploration.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::future;
///
/// future::block_on(future::sleep(Duration::from_millis(1)));
/// ```
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let now = Instant::now();
    // What does not fit is "never"; a century stands for it.
    let deadline = now.checked_add(duration).unwrap_or_else(|| now + Duration::from_secs(100 * 365 * 24 * 3600));
    sleep_until(deadline)
}

/// Waits until `deadline`.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::future;
/// use drawloom::time::Instant;
///
/// let due = Instant::now() + Duration::from_millis(1);
/// future::block_on(future::sleep_until(due));
/// assert!(Instant::now() >= due);
/// ```
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { deadline, number: None, made_at: Location::caller() }
}

/// The future of [`sleep`] and [`sleep_until`].
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::future::{self, Sleep};
///
/// let sleep: Sleep = future::sleep(Duration::from_millis(1));
/// future::block_on(sleep);
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep {
    deadline: Instant,
    /// The number of its timer, in the task that has polled it.
    number: Option<u64>,
    made_at: &'static Location<'static>,
}

impl Sleep {
    /// The instant that it waits for.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether that instant has come.
    #[must_use]
    #[track_caller]
    pub fn is_elapsed(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Whether it was polled and not ready.
    #[doc(hidden)]
    #[must_use]
    pub fn was_polled(&self) -> bool {
        self.number.is_some()
    }

    /// Waits for another instant from now on.
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.forget();
        self.deadline = deadline;
    }

    fn forget(&mut self) {
        if let Some(number) = self.number.take() {
            if native_timer::forget(number) {
                return;
            }
            // Fails for the task's own locals only, when there is nobody left to wake.
            let _ = TIMERS.try_with(|timers| {
                let waker = {
                    let pending = &mut timers.borrow_mut().pending;
                    let at = pending.iter().position(|timer| timer.number == number && timer.deadline == self.deadline);
                    at.map(|at| pending.remove(at))
                };
                drop(waker);
            });
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now_at(self.made_at) >= self.deadline {
            self.forget();
            return Poll::Ready(());
        }
        let (deadline, mine) = (self.deadline, self.number);
        if crate::rt::current().is_none() {
            self.number = Some(native_timer::register(deadline, mine, context.waker()));
            return Poll::Pending;
        }
        let number = TIMERS.with(|timers| {
            let timers = &mut *timers.borrow_mut();
            let known =
                timers.pending.iter_mut().find(|timer| Some(timer.number) == mine && timer.deadline == deadline);
            if let Some(timer) = known {
                timer.waker.clone_from(context.waker());
                return timer.number;
            }
            ANY.set(true);
            let number = new_number();
            timers.pending.push(Pending { number, deadline, waker: context.waker().clone() });
            number
        });
        self.number = Some(number);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Waits for `future`, but no longer than `duration`. If both end at the same instant the future wins.
///
/// ```
/// use std::future::pending;
/// use std::time::Duration;
///
/// use drawloom::future;
///
/// let late = future::block_on(future::timeout(Duration::from_millis(1), pending::<()>()));
/// assert!(late.is_err());
/// ```
#[track_caller]
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    Timeout { future, sleep: sleep(duration) }
}

/// As [`timeout`], until `deadline`.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::future;
/// use drawloom::time::Instant;
///
/// let soon = Instant::now() + Duration::from_secs(1);
/// assert_eq!(future::block_on(future::timeout_at(soon, async { 42 })), Ok(42));
/// ```
#[track_caller]
pub fn timeout_at<F: Future>(deadline: Instant, future: F) -> Timeout<F> {
    Timeout { future, sleep: sleep_until(deadline) }
}

/// The future of [`timeout`].
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::future::{self, Timeout};
///
/// let limited: Timeout<_> = future::timeout(Duration::from_secs(1), async { 42 });
/// assert_eq!(future::block_on(limited), Ok(42));
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Timeout<F> {
    future: F,
    sleep: Sleep,
}

impl<F> Timeout<F> {
    /// The future itself, without its limit.
    pub fn into_inner(self) -> F {
        self.future
    }

    /// The future.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is pinned whenever `self` is: nothing moves it out of a pinned `Timeout`, which
        // has no destructor of its own; `sleep` is `Unpin`.
        let (future, sleep) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), Pin::new(&mut this.sleep))
        };
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        sleep.poll(context).map(|()| Err(Elapsed(())))
    }
}

/// The time limit of a [`timeout`] is over.
///
/// ```
/// use std::future::pending;
/// use std::time::Duration;
///
/// use drawloom::future;
///
/// let elapsed = future::block_on(future::timeout(Duration::ZERO, pending::<()>())).unwrap_err();
/// assert_eq!(elapsed.to_string(), "deadline has elapsed");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl Error for Elapsed {}
