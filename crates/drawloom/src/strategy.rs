//! What a strategy of your own is made of: see [`explore_with`](crate::explore_with).
//!
//! At every choice it sees the ready tasks, what each is about to do and on what, the steps so far, and
//! whether a task would only begin to wait; and, if it [wants](Strategy::learns), what earlier executions
//! have shown. All of its randomness must come from a [`Tape`] of the seed that it is given.

pub use drawloom_engine::finding::{Divergence, Finding};
pub use drawloom_engine::strategy::{
    Auto, Corpus, DelayBounded, Pct, Pos, Profile, RaceDirected, Random, RoundRobin, Sequential, Strategy, Surw, Tape,
    Urw, View,
};
pub use drawloom_engine::{Abandoned, Ending, OpKind, Operation, ResourceId, Step, Stop, TaskId};
