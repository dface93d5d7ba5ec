//! The deterministic state machine behind drawloom.
//!
//! This crate is internal to Drawloom. Depend on `drawloom` instead: this interface may change in every release.
//!
//! A concurrent program is run by an *executor* (fibers, gated OS threads, a script in a unit test)
//! that stops each task before every operation that others could notice. The engine decides who goes
//! next, applies the semantics of locks, channels, timers and the rest, and keeps the trace. It has
//! no threads, no unsafe code, no I/O and no global state.
//!
//! - [`Engine`]: tasks, resources, the turn of an execution;
//! - [`dependence`]: the one table of which steps race;
//! - [`causality`]: vector clocks over a trace;
//! - [`race`]: accesses to plain memory that nothing orders;
//! - [`behaviour`]: one number for all executions that differ in nothing that matters;
//! - [`strategy`]: what makes choices;
//! - [`exhaustive`]: what explores every behaviour;
//! - [`guard`]: fixes that are tried out without editing the program;
//! - [`schedule`]: choices as a value, and as a printable token;
//! - [`shrink`]: the simplest schedule that still shows a finding;
//! - [`sorted`]: sorting, maps and sets that are compiled once;
//! - [`config`]: the settings of an exploration, and their grammar.
#![forbid(unsafe_code)]

pub mod act;
mod base64;
pub mod behaviour;
mod budget;
pub mod causality;
pub mod dependence;
mod ending;
mod engine;
mod execution;
pub mod exhaustive;
pub mod finding;
pub mod guard;
mod id;
mod look;
mod mix;
pub mod notes;
mod operation;
pub mod race;
mod resource;
pub mod schedule;
pub mod shrink;
pub mod sorted;
pub mod strategy;
mod task;
mod time;
mod trace;
mod wait_for;

pub use budget::{Budget, Budgets};
pub use drawloom_config as config;
pub use ending::{Abandoned, Ending, Stop};
pub use engine::{Committed, Contended, Engine, Limits, Next};
pub use execution::{Outcome, Settings};
pub use id::{ResourceId, Site, TaskId, TaskPath};
pub use look::Look;
pub use mix::Mix;
pub use notes::{Notes, Tied};
pub use operation::{IN_TRANSACTION, OpKind, Operation, ResourceKind, is_known_as, known_as, outcome};
pub use resource::{
    ChannelState, ExitSignal, Holder, Holders, OnceState, Parts, Preference, Receiving, Resource, Several, State,
    Tally, UNBOUNDED,
};
pub use task::{Status, Task};
pub use trace::Step;
