//! Backing off in loops that wait.

use std::cell::Cell;
use std::fmt;

pub use ::crossbeam::utils::CachePadded;

use crate::{hint, thread};

/// So many rounds are spun before somebody else is let run, and so many in all before it is better to block.
const SPIN_LIMIT: u32 = 6;
const YIELD_LIMIT: u32 = 10;

/// As `crossbeam::utils::Backoff`: under control a round is one yield, however long it would spin.
pub struct Backoff {
    rounds: Cell<u32>,
}

impl Backoff {
    /// At its first round.
    #[must_use]
    pub fn new() -> Self {
        Backoff { rounds: Cell::new(0) }
    }

    /// Starts again.
    pub fn reset(&self) {
        self.rounds.set(0);
    }

    /// Backs off where somebody else has just made progress.
    #[track_caller]
    pub fn spin(&self) {
        hint::spin_loop();
        self.rounds.set((self.rounds.get() + 1).min(SPIN_LIMIT + 1));
    }

    /// Backs off where nothing can be done before somebody else makes progress.
    #[track_caller]
    pub fn snooze(&self) {
        thread::yield_now();
        self.rounds.set((self.rounds.get() + 1).min(YIELD_LIMIT + 1));
    }

    /// Whether it would be better to block.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.rounds.get() > YIELD_LIMIT
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff::new()
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backoff").field("step", &self.rounds.get()).field("is_completed", &self.is_completed()).finish()
    }
}
