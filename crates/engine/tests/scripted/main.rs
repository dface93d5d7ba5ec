//! Programs without user code, run on the real engine: its rules, its dependence table, its replay.

#[path = "../driver/mod.rs"]
mod driver;

mod classes;
mod clocks;
mod commutation;
mod exhaustive;
mod frugal;
mod limits;
mod primitives;
mod races;
mod replay;
mod resume;
mod time;
