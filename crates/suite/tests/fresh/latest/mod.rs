//! Programs that were written after both other groups, by somebody who had read neither the explainer nor the others.

pub mod asynchronous;
pub mod threads;
