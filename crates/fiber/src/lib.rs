//! The fiber executor: runs the tasks of an execution as stackful coroutines on one OS thread.
//!
//! This crate is internal to Drawloom. Depend on `drawloom` instead: this interface may change in every release.
//!
//! [`Executor::run`] runs one execution. Inside of it, [`current`] gives a [`Handle`], through which
//! a front end announces operations ([`Handle::step`]) and spawns tasks. Choices are made inside the
//! task that stops, so that going on with the same task costs no switch.
//!
//! # Teardown
//!
//! An execution that fails, is cut or ends with tasks left over must not harm the next one:
//!
//! - From that moment nobody chooses. Every task that is left is resumed in one fixed order, youngest
//!   first (so that a task goes before those whose stack it may borrow from), and is unwound by a
//!   panic of our own that no hook sees and no join receives. A task that never began has its body
//!   dropped instead.
//! - Operations of destructors that run then are carried out as they come. One that must wait gives
//!   the others their turn and is tried again; once a whole round brings nothing, what still waits
//!   is leaked: its stack is never touched again, so nothing that others borrow from it can dangle.
//! - A wait that nobody can ever end (a receive, a sleep, a park) ends at once, as "torn down".
//! - A task that catches our panic and carries on is unwound again at its next operation, and leaked
//!   when it does so for the hundredth time.
//! - A destructor that panics while a task is unwound would abort the process; that is Rust's rule. The abort is met, and
//!   the task is leaked instead (`watchdog`), as is one whose destructor blocks or spins. What was found stays found.
//! - Tasks of another language ([`Foreign`]) are not unwound: their stacks are reset.
//! - Leaking all of them instead is a switch ([`Settings::leak`]), for programs whose destructors
//!   cannot stand being unwound.

mod executor;
mod fiber;
mod foreign;
mod locals;
mod overflow;
mod panics;
mod pool;
mod runtime;
mod stacks;
mod step;
mod teardown;
mod terminal;
mod verdict;
mod watchdog;
mod weaker;

pub use drawloom_engine::{Outcome, Settings};
pub use executor::{EPOCHS, Executor};
pub use foreign::Foreign;
pub use locals::{Destroyed, LocalKey};
pub use panics::ForcedUnwind;
pub use runtime::{Body, Handle, RESOURCE_BITS, current};
pub use step::Seen;
pub use terminal::columns;
