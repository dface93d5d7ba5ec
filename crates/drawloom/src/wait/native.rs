//! Waits of threads: in production, and outside of an exploration.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::time::Instant;

/// Set once, waited for once.
#[derive(Default)]
pub(super) struct Signal {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    #[cfg_attr(feature = "controlled", allow(dead_code, reason = "the controlled signal makes its own"))]
    pub(super) fn new() -> Signal {
        Signal::default()
    }

    pub(super) fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Whether it was set before `deadline`.
    pub(super) fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while !*set {
            set = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(set).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => return false,
                Some(left) => self.changed.wait_timeout(set, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        true
    }
}

/// Who waits: the waits themselves are numbered.
pub(crate) struct Owner(u64);

impl Owner {
    pub(crate) fn here() -> Owner {
        static WAITS: AtomicU64 = AtomicU64::new(0);
        Owner(WAITS.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn is_elder_than(&self, other: &Owner) -> bool {
        self.0 < other.0
    }
}
