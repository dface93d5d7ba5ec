//! `tokio::runtime` under control.
//!
//! A runtime of several threads has as many as there are tasks: whatever can happen at the same time is
//! explored as that. On a runtime of one thread, tasks take turns.

mod builder;
mod handle;
mod local;
#[allow(clippy::module_inception)]
mod runtime;

pub use builder::{Builder, UnhandledPanic};
pub use handle::{EnterGuard, Handle, Id, RuntimeMetrics, TryCurrentError};
pub use local::{LocalOptions, LocalRuntime};
pub use runtime::{Runtime, RuntimeFlavor};
