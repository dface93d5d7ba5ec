//! `std::thread`, under control: inside an exploration a thread is a task.

mod builder;
mod current;
mod join;
mod local;
mod park;
mod scope;
mod sleep;

pub use builder::{Builder, spawn};
pub(crate) use current::TaskOf;
pub use current::{Thread, ThreadId, available_parallelism, current, panicking};
pub use join::{JoinHandle, Result};
pub use local::{AccessError, LocalKey};
#[allow(deprecated)]
pub use park::{park, park_timeout, park_timeout_ms};
pub use scope::{Scope, ScopedJoinHandle, scope};
#[allow(deprecated)]
pub use sleep::{sleep, sleep_ms, yield_now};
