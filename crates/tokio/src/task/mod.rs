//! `tokio::task` under control: every task is a task of the exploration.

pub mod coop;
mod id;
mod join;
pub mod join_set;
mod local_set;
mod native;
mod spawn;
mod task_local;
mod yield_now;

pub use coop::{Unconstrained, consume_budget, unconstrained};

pub use id::{Id, id, try_id};
pub use join::{AbortHandle, JoinError, JoinHandle};
pub use join_set::JoinSet;
use local_set::begin_local_task;
pub use local_set::{LocalEnterGuard, LocalSet, spawn_local};
pub(crate) use local_set::{LocalsOf, is_local};
pub(crate) use native::{Hook, Measured, SharedTasks, ThreadHooks};
pub use spawn::{block_in_place, spawn, spawn_blocking};
pub(crate) use spawn::{spawn_blocking_in, spawn_in};
pub use task_local::{AccessError, LocalKey};
pub use yield_now::yield_now;

/// The futures that have names.
pub mod futures {
    pub use super::task_local::TaskLocalFuture;
}
