//! What is known of a runtime in numbers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::alive::Counts;
use crate::task::SharedTasks;

/// What is known of a runtime in numbers, as `tokio::runtime::RuntimeMetrics`.
///
/// A runtime has no worker threads here, so whatever is counted for each of them is zero.
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

    /// How long a worker was busy: not measured.
    #[must_use]
    pub fn worker_total_busy_duration(&self, _worker: usize) -> Duration {
        Duration::ZERO
    }

    /// How often a worker was parked: there is none.
    #[must_use]
    pub fn worker_park_count(&self, _worker: usize) -> u64 {
        0
    }

    /// How often a worker was parked or unparked: there is none.
    #[must_use]
    pub fn worker_park_unpark_count(&self, _worker: usize) -> u64 {
        0
    }
}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeMetrics").finish_non_exhaustive()
    }
}
