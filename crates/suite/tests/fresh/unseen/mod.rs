//! Programs that were written when the explainer did well on all others, with labels that were put down before the first
//! run; by somebody who knew it by then.

pub mod asynchronous;
pub mod threads;
