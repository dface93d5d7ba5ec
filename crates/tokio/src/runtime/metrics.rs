//! What is known of a runtime in numbers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::alive::Counts;
use crate::task::{Measured, SharedTasks};

/// What is known of a runtime in numbers, as `tokio::runtime::RuntimeMetrics`.
///
/// In an exploration a runtime has no worker threads, so whatever is counted for each of them is zero.
#[derive(Clone)]
pub struct RuntimeMetrics {
    workers: usize,
    counts: Arc<Counts>,
    natives: Option<Arc<SharedTasks>>,
}

impl RuntimeMetrics {
    pub(super) fn new(workers: usize, counts: Arc<Counts>, natives: Option<Arc<SharedTasks>>) -> Self {
        RuntimeMetrics { workers, counts, natives }
    }

    /// How many threads it was asked to have.
    #[must_use]
    pub fn num_workers(&self) -> usize {
        self.workers
    }

    /// How many of its tasks have not ended. Reading it is not a step.
    #[must_use]
    pub fn num_alive_tasks(&self) -> usize {
        self.counts.futures()
    }

    /// How many tasks wait for a worker: in an exploration none, since each has a thread of its own.
    #[must_use]
    pub fn global_queue_depth(&self) -> usize {
        self.natives.as_ref().map_or(0, |natives| natives.woken())
    }

    /// How long a worker was busy; in an exploration there is none.
    #[must_use]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.measured(worker).busy
    }

    /// How often a worker was parked; in an exploration there is none.
    #[must_use]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.measured(worker).turns.div_ceil(2)
    }

    /// How often a worker was parked or unparked; in an exploration there is none.
    #[must_use]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        self.measured(worker).turns
    }

    fn measured(&self, worker: usize) -> Measured {
        self.natives.as_ref().map_or_else(Measured::default, |natives| natives.measured(worker))
    }
}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeMetrics").finish_non_exhaustive()
    }
}
