//! What a person reads of a failure among actors.

mod programs;
mod screens;
