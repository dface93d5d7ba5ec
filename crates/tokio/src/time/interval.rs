//! Waiting again and again.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::{Instant, Sleep, sleep_until};
use crate::waiting::pinned;

/// Ticks now, and every `period` from now on.
///
/// # Panics
///
/// If `period` is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::now(), period)
}

/// Ticks at `start`, and every `period` after it.
///
/// # Panics
///
/// If `period` is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    Interval { delay: Box::pin(sleep_until(start)), period, missed_tick_behavior: MissedTickBehavior::default() }
}

/// What an [`Interval`] does when it was not asked in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// Ticks as fast as it is asked, until it has caught up.
    #[default]
    Burst,
    /// Ticks at once, and then a period after that.
    Delay,
    /// Ticks at once, and then at the next multiple of the period.
    Skip,
}

impl MissedTickBehavior {
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            MissedTickBehavior::Burst => due + period,
            MissedTickBehavior::Delay => now + period,
            MissedTickBehavior::Skip => {
                let late = (now - due).as_nanos() % period.as_nanos();
                let late =
                    u64::try_from(late).expect("too much time has elapsed since the interval was supposed to tick");
                now + period - Duration::from_nanos(late)
            }
        }
    }
}

/// As late as this a tick is still in time.
const TOLERANCE: Duration = Duration::from_millis(5);

/// What [`interval`] and [`interval_at`] return.
#[derive(Debug)]
pub struct Interval {
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
}

impl Interval {
    /// Waits for the next tick, and says when it was due.
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        pinned(poll_fn(|context| self.poll_tick(context)))
    }

    /// As [`tick`](Self::tick), as a poll.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.delay.as_mut().poll(context));
        let due = self.delay.deadline();
        let now = Instant::now();
        let next = if now > due + TOLERANCE {
            self.missed_tick_behavior.next(due, now, self.period)
        } else {
            due.checked_add(self.period).unwrap_or_else(Instant::far_future)
        };
        self.reset_at(next);
        Poll::Ready(due)
    }

    /// The next tick is a period from now.
    #[track_caller]
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// The next tick is now.
    #[track_caller]
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }

    /// The next tick is `after` from now.
    #[track_caller]
    pub fn reset_after(&mut self, after: Duration) {
        self.reset_at(Instant::now() + after);
    }

    /// The next tick is at `deadline`.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// What it does when it was not asked in time.
    #[must_use]
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Says what to do when it was not asked in time.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// The time between ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }
}
