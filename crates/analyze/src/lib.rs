//! Finds suspected concurrency bugs in source: shared state and its guards, checkpoints, the interleaving that would go wrong, what
//! kind of mistake that is and what could be done. For Python (asyncio, trio, anyio, threads) and Rust (tokio, threads).
//!
//! This crate is internal to Drawloom. Use the command `drawloom analyze` instead: this interface may change in every release.
//!
//! In the order of work:
//! - `facts`: names and types of a file; `types`, `tables`, `customs`: what libraries' types and methods are, and what names say;
//! - `lower`: each task root becomes a graph of events (`graph`), with calls put in place;
//! - `flow`: locks held and tasks alive at each node, paths between accesses; `program`, `locks`: which roots run beside each other;
//! - `rules`: DL001 to DL013; `judge`: what they ask of the program; `choose`: what is said of it; `notes`: DN101 to DN107;
//! - `sharing`: the confidence of a finding; `fixes`, `inventory`, `analysis`: what is said;
//! - [`finding`]: the result; [`render`]: its forms; [`target`], [`project`]: which files, and what of them.
#![forbid(unsafe_code)]

mod analysis;
mod choose;
mod customs;
mod dump;
mod facts;
pub mod finding;
mod fixes;
mod flow;
mod graph;
mod ignore;
mod inventory;
mod judge;
mod locks;
mod lower;
mod notes;
mod program;
pub mod project;
pub mod render;
mod rules;
mod sharing;
mod tables;
pub mod target;
mod types;

pub use analysis::{Options, Turns, analyse};
pub use dump::graphs;
pub use finding::{Analysis, Confidence, Finding};
pub use rules::Rule;
pub use types::Framework;
