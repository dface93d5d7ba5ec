//! Processes in production, and in tests outside of an exploration: on threads of the operating system.

use std::sync::Arc;

use super::backend::Backend;

/// Each process has a thread.
pub(crate) fn on_threads() -> Arc<dyn Backend> {
    panic!("processes run in explorations only, for now")
}
