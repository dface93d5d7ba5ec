//! Learns about a failure: a few more executions are made, to see how shared state is guarded, what tasks would have
//! done next, and whether all of them fail.
//!
//! What they are drawn with follows from the schedule that failed, so that an explanation is the same each time.

use drawloom_engine::exhaustive::hash;
use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::{Pct, Pos, Random, Strategy, Surw};
use drawloom_report::{Knowledge, same_bug};

use super::exploration::Failure;
use super::output::source;
use super::program::Program;
use super::worker::Worker;

/// Executions to look at besides the failing one.
const EXECUTIONS: u64 = 24;
/// Those of them that fail, at most: unless all do, and it is to be seen whether that is always so.
const MOST_FAILING: u64 = 16;
/// Steps that these may take altogether.
const MOST_STEPS: u64 = 100_000;
/// A task that is passed over for so long is let run.
const STARVATION_BOUND: u64 = 10_000;

/// What further executions show. None if there may be none, or if the finding cannot be replayed.
pub(super) fn learn<P: Program>(worker: &mut Worker<'_, P>, failure: &Failure) -> Option<Knowledge> {
    let plan = worker.plan();
    // Where what is left over is leaked, every execution would leak; and where a task was leaked in the middle of
    // a panic, another one must not panic.
    if plan.settings.leak || worker.has_leaked() {
        return None;
    }
    let schedule = Schedule::from_token(failure.token(), &plan.name).ok()?;
    let mut knowledge = Knowledge::default();
    let mut settings = plan.replay_settings(schedule.spin_rounds);
    settings.limits.max_steps = settings.limits.max_steps.min(4 * failure.record().steps.len() as u64 + 1_000);
    settings.limits.starvation_bound = STARVATION_BOUND;
    let mut failing = 0;
    let mut left = MOST_STEPS;
    // Those before it went otherwise.
    if failure.record().meta.iteration > 1 {
        knowledge.others_pass();
    }
    for number in 0..EXECUTIONS.max(Knowledge::ENOUGH) {
        if number >= EXECUTIONS && !knowledge.all_fail() {
            break;
        }
        let seed = hash(failure.token().as_bytes()).wrapping_add(number);
        // Every other one goes on with a task for as long as it can: what fails in any order fails then, too.
        let strategy: Box<dyn Strategy> = match number {
            n if n % 2 == 0 => Box::new(Pct::new(1)),
            n if n < EXECUTIONS => Box::new(Pos::new()),
            n if n % 4 == 1 => Box::new(Random::new()),
            _ => Box::new(Surw::new()),
        };
        let Ok(finding) = worker.sample(strategy, &settings, seed) else { break };
        if worker.is_spent() {
            break;
        }
        let finding_is_there = finding.is_some();
        let record = match finding {
            Some(finding) => worker.describe(finding, 0).record().clone(),
            None => worker.passing(),
        };
        let alike = same_bug(failure.record(), &record);
        left = left.saturating_sub(record.steps.len() as u64);
        if record.finding.kind != "step limit" {
            knowledge.add(record, alike, &source);
        }
        failing += u64::from(finding_is_there);
        // Each that fails is torn down, and a destructor may not survive that.
        let enough = failing >= MOST_FAILING && !knowledge.all_fail();
        if left == 0 || enough || worker.has_leaked() {
            break;
        }
    }
    Some(knowledge)
}
