//! Receivers whose messages come by themselves, when their time has come.

use std::time::Duration;

use super::Receiver;
use super::core::Channel;
use crate::time::Instant;

/// What makes the messages of such a channel, each of the instant at which it was due.
pub(super) struct Timer<T> {
    message: fn(Instant) -> T,
    period: Option<Duration>,
}

impl<T> Timer<T> {
    pub(super) fn message(&self, due: Instant) -> T {
        (self.message)(due)
    }

    /// When the next one comes, once one was received. Periods are counted from there, so that who is slow does
    /// not find a heap of them.
    pub(super) fn next_after(&self, now: Instant) -> Option<Instant> {
        self.period.and_then(|period| now.checked_add(period))
    }
}

/// A receiver that gets one message, after `duration`: the instant at which that was over.
///
/// ```
/// use drawloom::channel::{after, unbounded};
/// use std::time::Duration;
///
/// let (sender, receiver) = unbounded::<u32>();
/// let late = drawloom::select! {
///     recv(receiver) -> _ => false,
///     recv(after(Duration::from_millis(1))) -> _ => true,
/// };
/// assert!(late);
/// # drop(sender);
/// ```
#[must_use]
#[track_caller]
pub fn after(duration: Duration) -> Receiver<Instant> {
    timed(Instant::now().checked_add(duration), None)
}

/// A receiver that gets one message, at `instant`.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::channel;
/// use drawloom::time::Instant;
///
/// let due = Instant::now() + Duration::from_millis(1);
/// assert_eq!(channel::at(due).recv(), Ok(due));
/// ```
#[must_use]
#[track_caller]
pub fn at(instant: Instant) -> Receiver<Instant> {
    timed(Some(instant), None)
}

/// A receiver that gets a message every `period`, each the instant at which it was due. There is room for one.
///
/// ```
/// use std::time::Duration;
///
/// let ticks = drawloom::channel::tick(Duration::from_millis(1));
/// assert!(ticks.recv().unwrap() < ticks.recv().unwrap());
/// ```
#[must_use]
#[track_caller]
pub fn tick(period: Duration) -> Receiver<Instant> {
    timed(Instant::now().checked_add(period), Some(period))
}

#[track_caller]
fn timed(due: Option<Instant>, period: Option<Duration>) -> Receiver<Instant> {
    Receiver::new(Channel::timed(due, Timer { message: |due| due, period }))
}
