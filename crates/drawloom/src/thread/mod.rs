//! `std::thread`, under control.

mod builder;
mod current;
mod join;
mod local;
mod park;
mod scope;
mod sleep;

pub use join::{JoinHandle, Result, spawn};
