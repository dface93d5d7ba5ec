//! Futures under control: an executor whose tasks are tasks of the exploration.
//!
//! A spawned future is a task like any other: it runs on a stack of its own, stops before every
//! operation on something shared, and waits by waiting to be woken. Threads, locks, channels, timers
//! and futures therefore mix in one schedule, and every strategy knows them all.
//!
//! ```
//! use drawloom::future;
//! use drawloom::sync::atomic::{AtomicU32, Ordering};
//! use std::sync::Arc;
//!
//! drawloom::check(|| {
//!     future::run(async {
//!         let count = Arc::new(AtomicU32::new(0));
//!         let theirs = count.clone();
//!         let other = future::spawn(async move { theirs.fetch_add(1, Ordering::SeqCst) });
//!         count.fetch_add(1, Ordering::SeqCst);
//!         other.await.unwrap();
//!         assert_eq!(count.load(Ordering::SeqCst), 2);
//!     });
//! });
//! ```
//!
//! `#[drawloom::test]` takes an `async fn` and [runs](run) it.
//!
//! Wakers are part of the schedule. A wake-up that is lost leaves its task waiting for ever, which is
//! found as a deadlock. Whatever implements [`Future`] over wakers works here unmodified, also if it wakes
//! while it holds locks of its own: nobody else is let run before the waker's next step. What such a
//! library does inside of its locks and atomics is not seen, though: it happens at once, together with
//! the step before it, and exhaustive exploration does not know that it depends on anything. Of a program
//! that shares state through uncontrolled libraries, "exhausted" says nothing about that state.
//!
//! Outside of an exploration futures run on threads of the operating system.

mod drive;
#[doc(hidden)]
pub mod facade;
mod group;
mod join;
mod native_timer;
mod place;
mod timer;
mod yield_now;

pub use drive::block_on;
pub use group::run;
pub use join::{AbortHandle, JoinError, JoinHandle, spawn, spawn_blocking, spawn_local};
pub use timer::{Elapsed, Sleep, Timeout, sleep, sleep_until, timeout, timeout_at};
pub use yield_now::{YieldNow, yield_now};
