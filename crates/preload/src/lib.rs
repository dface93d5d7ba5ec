//! The library that is preloaded so that an exploration knows what C code does to files and sockets.
//!
//! It stands before the functions of the C library. Unless an exploration runs and the calling thread is one of its
//! tasks, a call costs a load more than without it. Else it is announced as a step on what it touches, and made when its
//! turn has come; and one that would have to wait is not made before another task has done something about that.
//!
//! - `abi` is what the library and an exploration say to each other;
//! - `hooked` is who is asked, `real` is what is stood before;
//! - `what` says what a file descriptor or a path stands for, `peers` which sockets belong together, `fds` who opened them;
//! - `act` makes steps of calls, and waits;
//! - `calls` are the functions themselves.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "some of it is the other side's")]
// There, since the source distribution of the Python package has to be complete by itself.
#[path = "../../python/src/preload/abi.rs"]
mod abi;
mod act;
mod calls;
mod fds;
mod hooked;
mod peers;
mod real;
mod what;
