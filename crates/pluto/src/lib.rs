//! Pluto's test runtime: the functions that its compiler's code calls, on the engine.
//!
//! Pluto's own runtime is C: a collector, strings, maps, and tasks with channels. In a test, this library takes the place of
//! the tasks, the channels and all else that is decided by chance: clocks, random numbers, the end of a failed test. The rest
//! stays Pluto's: the collector knows our stacks, and its error slots are saved with each task.
//!
//! - `entry` has the names: each hands on the address that it returns to, the place in the program;
//! - `task`, `channel`, `select`, `rwlock`, `time`, `chance` and `print` are what these do;
//! - `cancel` is how a task that was asked to end does so, and `owners` who may send to a channel;
//! - `foreign` is what we call of Pluto's runtime, and its error slots;
//! - `collector` tells it of stacks and of what must stay;
//! - `ending` is how a failed test ends an execution instead of the process;
//! - `run` explores a test: `options` is what was asked for, `verdict` what it came to;
//! - `story` puts a finding into the words of fibers; `said` prints them, as Pluto's tests expect or as a report.
//!
//! One thread runs all of it: generated code knows no other. Nothing of ours on a task's stack has a destructor while the
//! program's code runs above it, since a stack is reset when an execution ends early.
#![cfg(all(target_os = "linux", target_pointer_width = "64", any(target_arch = "x86_64", target_arch = "aarch64")))]
// A test of its own could not be linked: half of the runtime is Pluto's.
#![cfg(not(test))]

mod cancel;
mod chance;
mod channel;
mod collector;
mod ending;
mod entry;
mod foreign;
mod options;
mod owners;
mod print;
mod run;
mod rwlock;
mod said;
mod select;
mod source;
mod state;
mod story;
mod task;
mod time;
mod verdict;
