//! Fixes that can be tried without editing the program: see [`try_fix`](crate::try_fix).

pub use drawloom_engine::guard::{Guard, Region, Site};
