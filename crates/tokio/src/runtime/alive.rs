//! How many tasks of a runtime are alive.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The tasks of a runtime that have not ended yet.
#[derive(Default, Debug)]
pub(crate) struct Counts {
    /// Those that are futures.
    futures: AtomicUsize,
    /// Those that block.
    blocking: AtomicUsize,
    changed: Condvar,
    waiting: Mutex<()>,
}

impl Counts {
    pub(super) fn futures(&self) -> usize {
        self.futures.load(Ordering::Acquire)
    }

    /// Blocks the thread until all have ended; what blocks is waited for no longer than `limit`.
    pub(super) fn wait(&self, limit: Option<Duration>) {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while self.futures() > 0 || self.blocking.load(Ordering::Acquire) > 0 {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return;
            }
            let left = left.unwrap_or(Duration::from_secs(3600));
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// One of the tasks of a runtime, until it is dropped.
pub(crate) struct Alive {
    counts: Arc<Counts>,
    is_future: bool,
}

impl Alive {
    pub(super) fn new(counts: Arc<Counts>, is_future: bool) -> Alive {
        let alive = Alive { counts, is_future };
        alive.count().fetch_add(1, Ordering::AcqRel);
        alive
    }

    fn count(&self) -> &AtomicUsize {
        match self.is_future {
            true => &self.counts.futures,
            false => &self.counts.blocking,
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.count().fetch_sub(1, Ordering::AcqRel);
        // In an exploration nobody waits here: the tasks of a runtime are joined by steps.
        let _waiting = self.counts.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.counts.changed.notify_all();
    }
}
