//! Actors on threads: the same tests with the production face and, outside of explorations, with the other one.

mod limited;
mod processes;
mod servers;
mod shared;
mod state_machines;
mod supervisors;
mod tasks;

use std::time::Duration;

use drawloom::actor::{self, Ctx, Message};

pub use limited::limited;

/// Long enough for a thread to notice something.
pub const SOON: Duration = Duration::from_millis(5);
/// Longer than any test.
pub const LONG: Duration = Duration::from_secs(50);

/// Runs the first process of a system, with a limit.
#[track_caller]
pub fn run<F, Fut>(f: F) -> Fut::Output
where
    F: FnOnce(Ctx<u32>) -> Fut + Send + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    run_as(f)
}

/// The same of a process that takes other messages.
#[track_caller]
pub fn run_as<M, F, Fut>(f: F) -> Fut::Output
where
    M: Message,
    F: FnOnce(Ctx<M>) -> Fut + Send + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    limited(move || actor::run(f))
}
