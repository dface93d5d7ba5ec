//! The C ABI: `drawloom.h`, for C and C++ programs and for the runtimes of other languages.
//!
//! A program calls [`drawloom_run`] with a function, which is explored: its tasks are fibers, or threads, of which the engine lets
//! one at a time go on. What they have in common are handles: numbers that mean something in one execution only. Every call
//! that others could notice is one step of the engine, at a place that the caller names.
//!
//! - `session` is what is asked for, and what it comes to: configuration, run, result;
//! - `execution` is what is known of the one that runs: `handle` says what a number stands for;
//! - `control` is how a call becomes a step, with fibers and with threads;
//! - `place` is where in the user's source a call stands;
//! - `speak` is failing, and naming;
//! - the others are a primitive each.
//!
//! Nothing here unwinds. An execution that ends forgets the stacks of the tasks that are left, as it has to: no language but our
//! own lets us run its destructors. So between the user's code and a step there must never be a frame that has something to drop.
#![allow(non_camel_case_types, reason = "types of C have the names that C gives them")]
// Each pointer that C hands over is looked at, and what C vouches for beyond that is in `drawloom.h`, where C's callers read it.
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "who calls is C, to which every call is unsafe")]

pub mod atomic;
pub mod barrier;
pub mod channel;
pub mod choice;
pub mod condvar;
mod control;
pub mod event;
mod execution;
mod handle;
pub mod hooks;
mod looks;
pub mod memory;
pub mod mutex;
pub mod once;
pub mod park;
pub mod place;
pub mod rwlock;
pub mod select;
pub mod semaphore;
pub mod session;
pub mod speak;
pub mod status;
pub mod task;
mod thread_local;
pub mod time;

pub use atomic::*;
pub use barrier::*;
pub use channel::*;
pub use choice::*;
pub use condvar::*;
pub use event::*;
pub use execution::with_front;
pub use hooks::{Hooks, drawloom_hooks};
pub use memory::*;
pub use mutex::*;
pub use once::*;
pub use park::*;
pub use place::drawloom_loc;
pub use rwlock::*;
pub use select::*;
pub use semaphore::*;
pub use session::*;
pub use speak::*;
pub use status::*;
pub use task::*;
pub use time::*;
