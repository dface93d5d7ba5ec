//! A scripted driver: runs small programs on the real engine, without fibers, threads or user code.
//!
//! [`Program`] reads the text (the format is in `tests/programs/README.md`), [`Run`] is an execution of
//! it under any strategy; [`every_run`] makes every choice once, [`InOrder`] the given ones.

mod enumerate;
mod generate;
mod instruction;
mod machine;
mod operations;
mod program;
mod sharing;

pub use enumerate::{Enumerate, InOrder, canonical, every_run, every_run_within, up_to};
pub use generate::{
    generate, generate_awaiting, generate_choosing, generate_closing, generate_exchanging, generate_in_pieces,
    generate_in_turns, generate_killed, generate_killing, generate_left, generate_preferring, generate_several,
    generate_waiting, with_yields,
};
pub use machine::{Run, line_of, run, run_on};
pub use program::Program;
pub use sharing::ALONE;
