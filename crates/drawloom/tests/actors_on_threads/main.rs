//! Actors on threads: the same tests with the production face and, outside of explorations, with the other one.

mod limited;
mod processes;

pub use limited::limited;
