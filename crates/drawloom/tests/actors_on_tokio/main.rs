//! Actors as tasks of tokio: the tests of actors on threads, and what is different.

#[path = "../actors_on_threads/limited.rs"]
mod limited;
#[path = "../actors_on_threads/processes.rs"]
mod processes;
mod runtime;
#[path = "../actors_on_threads/servers.rs"]
mod servers;
#[path = "../actors_on_threads/shared.rs"]
mod shared;
#[path = "../actors_on_threads/state_machines.rs"]
mod state_machines;
#[path = "../actors_on_threads/supervisors.rs"]
mod supervisors;
#[path = "../actors_on_threads/tasks.rs"]
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
    limited(move || {
        // Some of these tests block a thread for a while.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
        runtime.block_on(actor::run_on_tokio(f))
    })
}
