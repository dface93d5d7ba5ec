//! Exhaustive exploration through the public API, against oracles: published numbers of classes, brute
//! force over every schedule, and the number of failing classes of small bugs.

#[path = "../../../engine/tests/driver/program.rs"]
#[allow(dead_code)]
mod program;

#[path = "../../../engine/tests/driver/instruction.rs"]
#[allow(dead_code)]
mod instruction;

/// What the interpreter runs on; `bench/` gives it others.
use drawloom as library;

mod actors;
mod brute;
mod channels;
mod classes;
mod frugal;
mod fuzz;
mod generate;
mod interpreter;
mod mixed;
mod nodes;
mod pods;
mod poison;
#[allow(dead_code, reason = "the engine's tests ask for more")]
#[path = "../../../engine/tests/programs/published.rs"]
mod published;
mod random_program;
mod running;
mod sctbench;
mod twins;
mod waits;
