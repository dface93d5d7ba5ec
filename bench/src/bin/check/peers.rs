//! Other checkers in Rust, on twenty of the etcd logs: those that can say "nobody knows whether it happened".

use std::path::Path;
use std::process::ExitCode;

use crate::section::Section;

#[cfg(not(feature = "check-peers"))]
pub fn measure() -> Section {
    eprintln!("peers are not measured: --features check-peers");
    Section::default()
}

#[cfg(not(feature = "check-peers"))]
pub fn check_one(_: &str, _: &Path) -> ExitCode {
    ExitCode::from(2)
}

#[cfg(feature = "check-peers")]
mod measured;
#[cfg(feature = "check-peers")]
pub use measured::{check_one, measure};
