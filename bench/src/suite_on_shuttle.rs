//! The programs of the suite on shuttle, and trials of its strategies.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shuttle as library;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler, UrwRandomScheduler};

/// The same text as in `crates/suite`, compiled for shuttle.
#[path = "../../crates/suite/src/programs/mod.rs"]
pub mod programs;

use programs::Body;

/// Strategies of shuttle that draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Its random walk.
    Random,
    /// Its PCT, with this depth.
    Pct(usize),
    /// Its uniform random walk.
    Urw,
}

/// The program of that name on shuttle.
pub fn program(name: &str) -> Option<&'static Body> {
    programs::BODIES.iter().find(|body| body.name == name)
}

/// The number of the first execution that fails, from 1; none among `cut`.
pub fn schedules_to_first_bug(program: &Body, strategy: Strategy, seed: u64, cut: u64) -> Option<u64> {
    let executions = cut as usize;
    match strategy {
        Strategy::Random => first_bug(program, RandomScheduler::new_from_seed(seed, executions)),
        Strategy::Pct(depth) => first_bug(program, PctScheduler::new_from_seed(seed, depth, executions)),
        Strategy::Urw => first_bug(program, UrwRandomScheduler::new_from_seed(seed, executions)),
    }
}

fn first_bug(program: &Body, scheduler: impl Scheduler + 'static) -> Option<u64> {
    let mut config = shuttle::Config::new();
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.silence_warnings = true;
    let begun = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&begun);
    let body = program.buggy;
    let runner = shuttle::Runner::new(scheduler, config);
    let run = || {
        runner.run(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            body();
        })
    };
    let failed = catch_unwind(AssertUnwindSafe(run)).is_err();
    failed.then(|| begun.load(Ordering::Relaxed))
}
