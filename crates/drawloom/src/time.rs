//! `std::time`, under control: inside an exploration clocks show virtual time.
//!
//! Virtual time stands still while tasks run and moves on when all of them wait. [`Instant`] counts
//! from the beginning of the execution; [`SystemTime`] shows 2025-01-01 00:00:00 UTC then.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::panic::Location;

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

use crate::rt::{self, Handle, OpKind, Operation, ResourceId, Site};

/// Reads the virtual clock: a step of the running task.
#[track_caller]
fn virtual_now(rt: Handle) -> u64 {
    virtual_now_at(rt, rt::here())
}

fn virtual_now_at(rt: Handle, site: Site) -> u64 {
    rt.step(Operation::new(OpKind::Now, ResourceId::NONE, site));
    rt.with_engine(|engine| engine.now())
}

/// A measurement of a clock that never goes back, as [`std::time::Instant`].
///
/// Inside an exploration [`now`](Self::now) is virtual, outside it is the real clock. The two have
/// nothing in common: a virtual instant is earlier than every real one, no time passes between them
/// ([`duration_since`](Self::duration_since) is zero), and the checked difference is `None`. Virtual
/// instants of different executions compare as if they were of the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Clock);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Clock {
    /// Nanoseconds since the execution began; what is before that is negative.
    Virtual(i128),
    Native(std::time::Instant),
}

/// Virtual instants reach as far as std's on most systems: 64 signed bits of seconds.
const MAX_NANOS: i128 = i64::MAX as i128 * 1_000_000_000 + 999_999_999;
const MIN_NANOS: i128 = i64::MIN as i128 * 1_000_000_000;

impl Instant {
    /// As [`std::time::Instant::now`].
    #[must_use]
    #[track_caller]
    pub fn now() -> Instant {
        Instant(match rt::current() {
            None => Clock::Native(std::time::Instant::now()),
            Some(rt) => Clock::Virtual(i128::from(virtual_now(rt))),
        })
    }

    /// As [`now`](Self::now), for futures, which are polled by somebody else than who made them.
    pub(crate) fn now_at(place: &'static Location<'static>) -> Instant {
        Instant(match rt::current() {
            None => Clock::Native(std::time::Instant::now()),
            Some(rt) => Clock::Virtual(i128::from(virtual_now_at(rt, rt::site(place)))),
        })
    }

    /// Nanoseconds since the execution began; nothing of the real clock.
    pub(crate) fn virtual_nanos(self) -> Option<u64> {
        match self.0 {
            Clock::Virtual(nanos) => Some(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)),
            Clock::Native(_) => None,
        }
    }

    /// As [`std::time::Instant::duration_since`].
    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// As [`std::time::Instant::checked_duration_since`].
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        match (self.0, earlier.0) {
            (Clock::Native(later), Clock::Native(earlier)) => later.checked_duration_since(earlier),
            (Clock::Virtual(later), Clock::Virtual(earlier)) => {
                let nanos = u128::try_from(later - earlier).ok()?;
                let seconds = u64::try_from(nanos / 1_000_000_000).ok()?;
                Some(Duration::new(seconds, (nanos % 1_000_000_000) as u32))
            }
            (Clock::Native(_), Clock::Virtual(_)) | (Clock::Virtual(_), Clock::Native(_)) => None,
        }
    }

    /// As [`std::time::Instant::saturating_duration_since`].
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// As [`std::time::Instant::elapsed`].
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now() - *self
    }

    /// As [`std::time::Instant::checked_add`].
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Clock::Native(instant) => Clock::Native(instant.checked_add(duration)?),
            Clock::Virtual(nanos) => in_range(nanos.checked_add(signed(duration))?)?,
        }))
    }

    /// As [`std::time::Instant::checked_sub`].
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Clock::Native(instant) => Clock::Native(instant.checked_sub(duration)?),
            Clock::Virtual(nanos) => in_range(nanos.checked_sub(signed(duration))?)?,
        }))
    }
}

fn signed(duration: Duration) -> i128 {
    // 64 bits of seconds in nanoseconds are 94 bits.
    duration.as_nanos() as i128
}

fn in_range(nanos: i128) -> Option<Clock> {
    (MIN_NANOS..=MAX_NANOS).contains(&nanos).then_some(Clock::Virtual(nanos))
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// If the result cannot be represented; see [`Instant::checked_add`].
    #[track_caller]
    fn add(self, other: Duration) -> Instant {
        self.checked_add(other).expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// If the result cannot be represented; see [`Instant::checked_sub`].
    #[track_caller]
    fn sub(self, other: Duration) -> Instant {
        self.checked_sub(other).expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, other: Duration) {
        *self = *self - other;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, other: Instant) -> Duration {
        self.duration_since(other)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Clock::Native(instant) => instant.fmt(f),
            Clock::Virtual(nanos) => f
                .debug_struct("Instant")
                .field("tv_sec", &nanos.div_euclid(1_000_000_000))
                .field("tv_nsec", &nanos.rem_euclid(1_000_000_000))
                .finish(),
        }
    }
}

impl From<std::time::Instant> for Instant {
    fn from(instant: std::time::Instant) -> Self {
        Instant(Clock::Native(instant))
    }
}

/// What [`SystemTime`] shows when an execution begins, in seconds since [`UNIX_EPOCH`]:
/// 2025-01-01 00:00:00 UTC.
const VIRTUAL_START_SECONDS: u64 = 1_735_689_600;

/// A measurement of the system's clock, as [`std::time::SystemTime`].
///
/// Inside an exploration [`now`](Self::now) begins at 2025-01-01 00:00:00 UTC in every execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

/// As [`std::time::UNIX_EPOCH`].
pub const UNIX_EPOCH: SystemTime = SystemTime(std::time::UNIX_EPOCH);

impl SystemTime {
    /// As [`std::time::SystemTime::UNIX_EPOCH`].
    pub const UNIX_EPOCH: SystemTime = UNIX_EPOCH;

    /// As [`std::time::SystemTime::now`].
    #[must_use]
    #[track_caller]
    pub fn now() -> SystemTime {
        match rt::current() {
            None => SystemTime(std::time::SystemTime::now()),
            Some(rt) => UNIX_EPOCH + Duration::from_secs(VIRTUAL_START_SECONDS) + Duration::from_nanos(virtual_now(rt)),
        }
    }

    /// As [`std::time::SystemTime::duration_since`].
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// As [`std::time::SystemTime::elapsed`].
    #[track_caller]
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().duration_since(*self)
    }

    /// As [`std::time::SystemTime::checked_add`].
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_add(duration).map(SystemTime)
    }

    /// As [`std::time::SystemTime::checked_sub`].
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_sub(duration).map(SystemTime)
    }
}

impl Add<Duration> for SystemTime {
    type Output = SystemTime;

    /// # Panics
    ///
    /// If the result cannot be represented; see [`SystemTime::checked_add`].
    #[track_caller]
    fn add(self, other: Duration) -> SystemTime {
        SystemTime(self.0 + other)
    }
}

impl AddAssign<Duration> for SystemTime {
    #[track_caller]
    fn add_assign(&mut self, other: Duration) {
        self.0 += other;
    }
}

impl Sub<Duration> for SystemTime {
    type Output = SystemTime;

    /// # Panics
    ///
    /// If the result cannot be represented; see [`SystemTime::checked_sub`].
    #[track_caller]
    fn sub(self, other: Duration) -> SystemTime {
        SystemTime(self.0 - other)
    }
}

impl SubAssign<Duration> for SystemTime {
    #[track_caller]
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other;
    }
}

impl fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<std::time::SystemTime> for SystemTime {
    /// For times that others have measured: of files, of certificates.
    fn from(time: std::time::SystemTime) -> Self {
        SystemTime(time)
    }
}

impl From<SystemTime> for std::time::SystemTime {
    fn from(time: SystemTime) -> Self {
        time.0
    }
}
