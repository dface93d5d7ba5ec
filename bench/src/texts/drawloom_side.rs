//! The interpreter on drawloom.

use super::{instruction, program};
use drawloom as library;

#[path = "../../../crates/drawloom/tests/exhaustive/interpreter.rs"]
#[allow(missing_docs)]
pub mod interpreter;
