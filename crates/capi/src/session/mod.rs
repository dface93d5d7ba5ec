//! Sessions: what is asked for, how it is run, what it comes to.

mod config;
mod fibers;
mod result;
mod run;

pub use config::*;
pub use result::*;
pub use run::*;
