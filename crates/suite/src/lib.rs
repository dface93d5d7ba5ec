//! Small concurrent programs with one known bug each, and what strategies need to find it.

mod catalogue;
mod statistics;
mod trial;

/// The library that the programs of this crate run on.
use drawloom as library;

pub mod clusters;
pub mod internal;
pub mod programs;

pub use catalogue::{Bug, COLUMNS, Program, catalogue};
pub use statistics::{Trials, geometric_mean};
pub use trial::{configuration, explore, first_bug, schedules_to_first_bug};
