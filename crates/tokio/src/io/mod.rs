//! `tokio::io`: the traits and utilities are tokio's own; what two tasks can share is under control.

mod duplex;
mod interest;
mod pipe;
mod split;
#[cfg(unix)]
pub mod unix;

pub use real_tokio::io::*;

pub use duplex::{DuplexStream, SimplexStream, duplex, simplex};
pub use interest::Interest;
pub use split::{ReadHalf, WriteHalf, split};
