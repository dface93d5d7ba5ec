//! The names of tasks.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use drawloom::future::facade;

use crate::context;

/// The name of a task, as `tokio::task::Id`. Inside an exploration it is the same whenever the schedule is.
#[derive(Clone, Copy, Debug, Hash, Eq, PartialEq, Ord, PartialOrd)]
pub struct Id(NonZeroU64);

impl Id {
    /// That of the task with this number in its execution.
    pub(crate) fn numbered(number: u32) -> Id {
        Id(NonZeroU64::MIN.saturating_add(u64::from(number)))
    }

    /// That of a task of `spawn`, seen from within; `native` outside of an exploration.
    pub(crate) fn running(native: Id) -> Id {
        facade::running().map_or(native, Id::numbered)
    }

    /// A new one, for tasks outside of explorations.
    pub(crate) fn native() -> Id {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Id(NonZeroU64::MIN.saturating_add(NEXT.fetch_add(1, Ordering::Relaxed)))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of the running task.
///
/// # Panics
///
/// If it is none of `spawn`.
#[must_use]
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// The name of the running task, if it is one of `spawn`.
#[must_use]
pub fn try_id() -> Option<Id> {
    context::task()
}
