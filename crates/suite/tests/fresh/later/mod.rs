//! Programs that were written when the explainer did well on the others, by somebody who had not seen it.

pub mod asynchronous;
pub mod threads;
