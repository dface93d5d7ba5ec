//! The gates executor: tasks are real OS threads of another runtime, of which exactly one is let through at a time.
//!
//! This crate is internal to Drawloom. Depend on `drawloom` instead: this interface may change in every release.
//!
//! Each thread has a [`Gate`]. Whoever runs drives the engine itself: it announces, asks who goes next, and if that is
//! another one, opens the gate of that one and waits at its own. A choice that keeps the running thread costs no
//! switch. What is handed over is a baton: nothing depends on when the operating system, or a lock of the runtime
//! such as Python's, lets a thread run. Threads outlive executions, and are used again.
//!
//! - `gate` is where a thread waits;
//! - `runtime` is what tasks see: steps, waits, spawns;
//! - `executor` runs executions;
//! - `turns` is how tasks run one piece at a time, without steps in between;
//! - `guests` are tasks of an event loop, without threads;
//! - `waits` is what the runtime knows of those who wait for ever;
//! - `given_up` is about threads that stand still out of sight;
//! - `teardown` unwinds what an execution has left over.

mod executor;
mod gate;
mod given_up;
mod guests;
mod runtime;
mod teardown;
mod turns;
mod waits;

pub use executor::Gates;
pub use gate::Gate;
pub use guests::{Errand, First};
pub use runtime::{Baton, Body, Foreign, TornDown, baton, serve};
pub use turns::GOES_ON;
pub use waits::Wait;
