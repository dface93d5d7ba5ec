//! A latch: what is waited for until it has been counted down. One implementation for both faces; std has none.

use std::fmt;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[cfg(feature = "controlled")]
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Slot, State, outcome};

/// Lets tasks wait until others have counted down to zero, once and for all.
///
/// ```
/// use drawloom::sync::{Arc, Latch};
/// use drawloom::thread;
///
/// let ready = Arc::new(Latch::new(2));
/// for _ in 0..2 {
///     let ready = Arc::clone(&ready);
///     thread::spawn(move || ready.count_down());
/// }
/// ready.wait();
/// assert!(ready.is_open());
/// ```
///
/// All that came before a count-down happens before all that comes after a wait, as with C++'s `std::latch`.
pub struct Latch {
    #[cfg(feature = "controlled")]
    slot: Slot,
    count: u64,
    left: Mutex<u64>,
    opened: Condvar,
}

impl Latch {
    /// A latch that waits for `count` count-downs; with 0 it is open.
    #[must_use]
    #[track_caller]
    pub const fn new(count: u64) -> Latch {
        Latch {
            #[cfg(feature = "controlled")]
            slot: Slot::new(),
            count,
            left: Mutex::new(count),
            opened: Condvar::new(),
        }
    }

    /// Counts down by one; does not wait.
    ///
    /// # Panics
    ///
    /// If nothing is left to count: somebody counts twice, or the latch is too small.
    #[track_caller]
    pub fn count_down(&self) {
        self.count_down_by(1);
    }

    /// Counts down by `n`; does not wait.
    ///
    /// # Panics
    ///
    /// If less than that is left to count.
    #[track_caller]
    pub fn count_down_by(&self, n: u64) {
        if n == 0 {
            return;
        }
        #[cfg(feature = "controlled")]
        if let Some(rt) = rt::current() {
            let counted = rt.step(self.operation(rt, OpKind::CountDown).with_arg(n)) != outcome::REFUSED;
            assert!(counted, "a latch was counted down below zero");
            return;
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = left.checked_sub(n);
        assert!(rest.is_some(), "a latch was counted down below zero");
        *left = rest.unwrap_or(0);
        if *left == 0 {
            self.opened.notify_all();
        }
    }

    /// Waits until it has been counted down to zero.
    #[track_caller]
    pub fn wait(&self) {
        #[cfg(feature = "controlled")]
        if let Some(rt) = rt::current() {
            rt.step(self.operation(rt, OpKind::LatchWait));
            return;
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left > 0 {
            left = self.opened.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until it has been counted down to zero, but no longer than `limit`; whether it has been.
    #[track_caller]
    pub fn wait_timeout(&self, limit: Duration) -> bool {
        #[cfg(feature = "controlled")]
        if let Some(rt) = rt::current() {
            let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            return rt.step_with_timeout(self.operation(rt, OpKind::LatchWait), nanos) == outcome::OK;
        }
        let end = Instant::now().checked_add(limit);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left > 0 {
            let rest = end.map_or(limit, |end| end.saturating_duration_since(Instant::now()));
            if rest.is_zero() {
                return false;
            }
            left = self.opened.wait_timeout(left, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Counts down by one, and waits.
    ///
    /// # Panics
    ///
    /// As [`count_down`](Self::count_down).
    #[track_caller]
    pub fn arrive_and_wait(&self) {
        self.count_down();
        self.wait();
    }

    /// Whether it has been counted down to zero.
    #[must_use]
    #[track_caller]
    pub fn is_open(&self) -> bool {
        #[cfg(feature = "controlled")]
        if let Some(rt) = rt::current() {
            return rt.step(self.operation(rt, OpKind::LatchCheck)) == outcome::OK;
        }
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) == 0
    }
}

#[cfg(feature = "controlled")]
impl Latch {
    fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Latch, || State::Count(self.count))
    }

    #[track_caller]
    fn operation(&self, rt: Handle, kind: OpKind) -> Operation {
        Operation::new(kind, self.resource(rt), rt::here())
    }
}

#[cfg(feature = "controlled")]
impl crate::label::Labelled for Latch {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        Some(self.resource(rt))
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latch").field("count", &self.count).finish_non_exhaustive()
    }
}
