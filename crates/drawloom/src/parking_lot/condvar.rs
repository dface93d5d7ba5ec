//! The condition variable.

use std::sync::PoisonError;
use std::time::Duration;

use super::MutexGuard;
use crate::label::Labelled;
use crate::rt::{Handle, ResourceId};
use crate::sync;
use crate::time::Instant;

/// As `parking_lot::Condvar`, but for one thing: it may wake spuriously while the exploration's budget for that lasts.
#[derive(Default, Debug)]
pub struct Condvar(sync::Condvar);

/// As `parking_lot::WaitTimeoutResult`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was up.
    #[must_use]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

const HELD: &str = "the waiting task holds the lock";

impl Condvar {
    /// A condition variable that nobody waits for.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Condvar(sync::Condvar::new())
    }

    /// Gives the lock back, waits for a notification, and takes the lock again.
    #[track_caller]
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.held.take().expect(HELD);
        guard.held = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// As [`wait`](Self::wait), for `timeout` at most.
    #[track_caller]
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        let held = guard.held.take().expect(HELD);
        let (held, result) = self.0.wait_timeout(held, timeout).unwrap_or_else(PoisonError::into_inner);
        guard.held = Some(held);
        WaitTimeoutResult(result.timed_out())
    }

    /// As [`wait`](Self::wait), until `deadline` at most.
    #[track_caller]
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, deadline: Instant) -> WaitTimeoutResult {
        self.wait_for(guard, deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits as long as `condition` holds.
    #[track_caller]
    pub fn wait_while<T, F: FnMut(&mut T) -> bool>(&self, guard: &mut MutexGuard<'_, T>, mut condition: F) {
        while condition(&mut **guard) {
            self.wait(guard);
        }
    }

    /// Wakes one that waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all that wait.
    #[track_caller]
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

impl Labelled for Condvar {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        self.0.id(rt)
    }
}
