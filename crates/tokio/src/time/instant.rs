//! [`Instant`], as `tokio::time::Instant`.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use drawloom::time;

/// A measurement of the virtual clock, as `tokio::time::Instant`.
#[derive(Clone, Copy, Eq, PartialEq, PartialOrd, Ord, Hash)]
pub struct Instant(time::Instant);

impl Instant {
    /// Now.
    #[must_use]
    #[track_caller]
    pub fn now() -> Instant {
        Instant(time::Instant::now())
    }

    pub(super) fn new(instant: time::Instant) -> Instant {
        Instant(instant)
    }

    pub(super) fn inner(self) -> time::Instant {
        self.0
    }

    /// In a century: as good as never.
    pub(super) fn far_future() -> Instant {
        Instant::now() + Duration::from_secs(86400 * 365 * 100)
    }

    /// The virtual instant that is as far from the virtual present as `std` is from the real one, to a
    /// millisecond.
    #[must_use]
    #[track_caller]
    pub fn from_std(std: std::time::Instant) -> Instant {
        let (now, real) = (Instant::now(), std::time::Instant::now());
        match std.checked_duration_since(real) {
            Some(ahead) => now + whole_milliseconds(ahead),
            None => now.checked_sub(whole_milliseconds(real - std)).unwrap_or(now),
        }
    }

    /// The real instant that is as far from the real present as this one is from the virtual one.
    #[must_use]
    #[track_caller]
    pub fn into_std(self) -> std::time::Instant {
        let (now, real) = (Instant::now(), std::time::Instant::now());
        match self.checked_duration_since(now) {
            Some(ahead) => real + ahead,
            None => real.checked_sub(now - self).unwrap_or(real),
        }
    }

    /// The time since `earlier`; zero if that is later.
    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// The time since `earlier`; none if that is later.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// The time since `earlier`; zero if that is later.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// The time since then.
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Later by `duration`, if there is such an instant.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// Earlier by `duration`, if there is such an instant.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

fn whole_milliseconds(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from((duration.as_nanos() + 500_000) / 1_000_000).unwrap_or(u64::MAX))
}

impl From<std::time::Instant> for Instant {
    #[track_caller]
    fn from(std: std::time::Instant) -> Instant {
        Instant::from_std(std)
    }
}

impl From<Instant> for std::time::Instant {
    #[track_caller]
    fn from(instant: Instant) -> std::time::Instant {
        instant.into_std()
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    #[track_caller]
    fn add(self, other: Duration) -> Instant {
        Instant(self.0 + other)
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, other: Duration) {
        self.0 += other;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    #[track_caller]
    fn sub(self, other: Duration) -> Instant {
        Instant(self.0 - other)
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, other: Instant) -> Duration {
        self.0 - other.0
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
