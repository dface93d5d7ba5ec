//! How each contestant explores a case to the end.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use shuttle::scheduler::DfsScheduler;

#[cfg(feature = "drawloom-side")]
use crate::cases::drawloom_side;
use crate::cases::{Case, loom_side, shuttle_side};
#[cfg(feature = "drawloom-side")]
use crate::measure::thread_cpu_clock;

/// Executions after which shuttle's search is given up.
pub const SHUTTLE_CAP: u64 = 500_000;

/// Nothing but what the peers explore, too: no wake-ups and no failures without a reason.
#[cfg(feature = "drawloom-side")]
pub(crate) const PLAIN: &str = "spurious_wakeups = 0, weak_failures = 0, leaks = false";

/// Explores `case` with drawloom; the executions, which are its classes.
///
/// # Panics
///
/// If anything was found, anything is left, or a class was explored twice or not at all.
#[cfg(feature = "drawloom-side")]
pub fn drawloom(case: Case, threads: usize) -> u64 {
    exhaust(case, threads, move || drawloom_side::run(case))
}

/// Explores `case` with drawloom; the CPU time of the worker that had most to do, from the beginning of its
/// first execution to that of its last.
#[cfg(feature = "drawloom-side")]
pub fn busiest_worker(case: Case, threads: usize) -> Duration {
    std::thread_local! {
        static FIRST: Cell<Option<Duration>> = const { Cell::new(None) };
    }
    FIRST.set(None);
    let busiest = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&busiest);
    exhaust(case, threads, move || {
        let now = thread_cpu_clock();
        let first = FIRST.get().unwrap_or(now);
        FIRST.set(Some(first));
        seen.fetch_max((now - first).as_nanos() as u64, Ordering::Relaxed);
        drawloom_side::run(case);
    });
    Duration::from_nanos(busiest.load(Ordering::Relaxed))
}

#[cfg(feature = "drawloom-side")]
fn exhaust(case: Case, threads: usize, body: impl Fn() + Send + Sync + 'static) -> u64 {
    let config = format!("exhaustive(max_schedules = 1000000, resume = false), threads = {threads}, {PLAIN}");
    let exploration = explore(&config, case, body);
    assert!(exploration.exhausted(), "{case}: {}", exploration.summary());
    assert_eq!(exploration.executions(), case.classes, "{case}: executions and classes");
    exploration.executions()
}

/// Explores `case` with drawloom's `random`, in as many executions as it has classes.
#[cfg(feature = "drawloom-side")]
pub fn random(case: Case) -> u64 {
    let config = format!("random(iterations = {}, seed = 1), threads = 1, {PLAIN}", case.classes);
    explore(&config, case, move || drawloom_side::run(case)).executions()
}

#[cfg(feature = "drawloom-side")]
fn explore(config: &str, case: Case, body: impl Fn() + Send + Sync + 'static) -> drawloom::Exploration {
    let config = config.parse().expect("a valid configuration");
    let exploration = drawloom::explore(config, body);
    assert!(exploration.findings().is_empty(), "{case} is correct: {}", exploration.summary());
    exploration
}

/// Explores `case` with loom, without any bound; the executions.
pub fn loom(case: Case) -> u64 {
    let executions = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&executions);
    loom::model::Builder::new().check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        loom_side::run(case);
    });
    executions.load(Ordering::Relaxed)
}

/// Explores `case` with shuttle's depth-first search; the executions, at most [`SHUTTLE_CAP`].
pub fn shuttle(case: Case) -> u64 {
    let scheduler = DfsScheduler::new(Some(SHUTTLE_CAP as usize), false);
    let runner = shuttle::Runner::new(scheduler, shuttle::Config::default());
    runner.run(move || shuttle_side::run(case)) as u64
}

#[cfg(all(test, feature = "drawloom-side"))]
mod tests {
    use super::*;

    #[test]
    fn every_shared_case_is_exhausted_in_as_many_executions_as_it_has_classes() {
        for case in Case::SHARED {
            drawloom(case, 1);
        }
    }

    #[test]
    fn the_peers_finish_small_cases_too() {
        for case in Case::SHARED.into_iter().filter(|case| case.classes <= 3 && case.size < 3) {
            assert!(loom(case) >= case.classes, "{case}");
            assert!(shuttle(case) >= case.classes, "{case}");
        }
    }
}
