//! Programs without user code, run on the real engine: its rules, its dependence table, its replay.

#[path = "../driver/mod.rs"]
mod driver;
#[path = "../programs/published.rs"]
mod published;

mod awaits;
mod classes;
mod clocks;
mod commutation;
mod environment;
mod estimate;
mod exhaustive;
mod frugal;
mod guards;
mod guide;
mod kills;
mod limits;
mod parts;
mod preemptions;
mod primitives;
mod races;
mod replay;
mod resume;
mod several;
mod shrink;
mod strategies;
mod time;
mod yields;
