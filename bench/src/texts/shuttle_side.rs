//! The interpreter on shuttle.

use super::{instruction, program};

/// What the interpreter needs beyond std's names.
mod library {
    pub use shuttle::{sync, thread};

    /// shuttle's depth-first search knows no data choices.
    pub fn choose(_outcomes: usize) -> usize {
        unreachable!("programs that choose are not run on shuttle")
    }
}

#[path = "../../../crates/drawloom/tests/exhaustive/interpreter.rs"]
#[allow(missing_docs)]
pub mod interpreter;
