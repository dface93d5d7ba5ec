//! tokio's API under a scheduler that you control.
//!
//! Depend on it under tokio's name, and a test that is written for tokio explores its interleavings:
//!
//! ```toml
//! [dependencies]
//! tokio = { package = "drawloom-tokio", version = "0.1" }
//! ```
//!
//! ```
//! # use drawloom_tokio as tokio;
//! use std::sync::Arc;
//! use tokio::sync::Mutex;
//!
//! // In a test module: #[tokio::test(flavor = "multi_thread")] async fn both_arrive() { … }
//! async fn both_arrive() {
//!     let count = Arc::new(Mutex::new(0));
//!     let theirs = count.clone();
//!     let other = tokio::spawn(async move { *theirs.lock().await += 1 });
//!     *count.lock().await += 1;
//!     other.await.unwrap();
//!     assert_eq!(*count.lock().await, 2);
//! }
//!
//! drawloom::check(|| tokio::runtime::Runtime::new().unwrap().block_on(both_arrive()));
//! ```
//!
//! Everything is written again on the engine, so that it is seen: what tokio does in one critical section is one step
//! here, who waits is woken by a step, and time is virtual. Only the traits and utilities of [`io`] are tokio's own.
//! The book says for each item of tokio what it is here and where it differs (“tokio, item by item”); “Testing async code” is the guide, also
//! to putting a project under control without an edit.
//!
//! Outside of an exploration the same types work on threads of the operating system.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod context;
pub mod fs;
pub mod io;
mod macros;
pub mod net;
pub mod process;
pub mod runtime;
pub mod signal;
pub mod sync;
pub mod task;
pub mod time;
mod turns;
mod uncontrolled;
mod waiting;

pub use drawloom_tokio_macros::{main, test};
pub use task::spawn;

/// What the expansions of macros call.
#[doc(hidden)]
pub mod __private {
    pub use crate::macros::{Flavor, On, first_branch, poll_budget, run};
    pub use drawloom::__private::{run_foreign_test as run_test, this_crate};
    pub use drawloom::thread::LocalKey as ThreadLocalKey;
    pub use drawloom::thread_local;
    pub use drawloom_tokio_macros::{join, select, try_join};
}
