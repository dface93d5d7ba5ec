//! The threads of C programs: `<pthread.h>`, `<semaphore.h>`, `<threads.h>`, atomics and plain memory, on `drawloom.h`.
//!
//! This crate is internal to Drawloom. `drawloom cc` compiles C programs for it.
//!
//! Each function is here under two names. `drawloom_pthread_mutex_lock` takes the place of the call: `<drawloom/pthread.h>` makes
//! calls of it by macros. `__wrap_pthread_mutex_lock` is what the linker's `--wrap` calls, and knows the address that it
//! returns to. Both do what the real function would, within a session; else they call the real one. So one program serves both.
//!
//! - `define` is how a function gets its names, and `real` how the real one is found;
//! - `objects` knows what an address stands for in the running execution: a static initialiser is enough;
//! - `threads`, `keys`, `mutexes`, `condvars`, `rwlocks`, `barriers`, `semaphores` and `clocks` are POSIX's;
//! - `c11` says the same in the words of `<threads.h>`;
//! - `memory` is what compilers call before each access to memory, under `-fsanitize=thread`.
#![cfg(all(target_os = "linux", target_pointer_width = "64", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "who calls is C, to which every call is unsafe")]

#[macro_use]
mod define;

mod barriers;
mod c11;
mod clocks;
mod condvars;
mod keys;
mod memory;
mod mutexes;
mod objects;
mod real;
mod rwlocks;
mod semaphores;
mod threads;
