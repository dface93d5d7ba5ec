//! Programs with one mistake each, written as users write them.

pub mod atomicity;
pub mod cache;
pub mod guards;
pub mod waits;
