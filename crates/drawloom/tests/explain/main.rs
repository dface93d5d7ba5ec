//! Explanations of whole programs, as a person reads them.

mod forms;
mod programs;
mod screens;
