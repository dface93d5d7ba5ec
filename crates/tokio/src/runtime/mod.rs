//! `tokio::runtime` under control.
//!
//! A runtime of several threads has as many as there are tasks: whatever can happen at the same time is
//! explored as that. On a runtime of one thread, tasks take turns.

mod alive;
mod builder;
mod handle;
mod local;
mod metrics;
#[allow(clippy::module_inception)]
mod runtime;

pub(crate) use alive::Alive;
pub use builder::{Builder, UnhandledPanic};
pub use handle::{EnterGuard, Handle, Id, TryCurrentError};
pub use local::{LocalOptions, LocalRuntime};
pub use metrics::RuntimeMetrics;
pub use runtime::{Runtime, RuntimeFlavor, is_rt_shutdown_err};
