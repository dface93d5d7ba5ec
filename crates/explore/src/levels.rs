//! Exhaustive explorations with a preemption bound: what needs none, then what needs one, and so on.
//!
//! Each level is an exploration of its own, which contains the one before: that costs little, since levels
//! grow fast, and it brings the failure that needs the fewest preemptions first. Executions of a level that
//! are beyond its bound depend on the order in which they are made (see
//! [`Explorer::with_preemptions`]), so they are all made on one OS thread: the same every time.

use drawloom_engine::exhaustive::Explorer;

use super::events::Listener;
use super::exhaust::{exhaust_from, keep_the_simplest};
use super::exploration::{Exploration, Failure};
use super::pipeline;
use super::plan::Plan;
use super::program::Program;
use super::sharing::SHARING;
use super::spread::empty;
use super::worker::Worker;

/// Explores everything that needs at most `most` preemptions; only as far as the first level that fails,
/// unless all failures are asked for.
pub(super) fn exhaust<P: Program>(plan: &Plan, program: &P, most: u32, listener: &dyn Listener) -> Exploration {
    let timed = &mut plan.clone();
    timed.start_clock();
    let plan = &*timed;
    let mut worker = Worker::new(plan, program);
    let mut found = empty(plan.executions);
    for level in 0..=most {
        let here = Plan { threads: 1, preemptions: Some(level), ..plan.clone() };
        let left = plan.executions.saturating_sub(found.executions + found.redundant);
        let explorer = Explorer::new(SHARING, left).with_memory(plan.memory_budget).with_preemptions(Some(level));
        let earlier = std::mem::take(&mut found.failures);
        let so_far = Exploration { failing: 0, cut: 0, ..found };
        found = exhaust_from(&here, program, &mut worker, None, &explorer, so_far, listener);
        let progress = explorer.progress();
        let explored = found.exhausted;
        found.exhausted = explored && progress.dropped == 0;
        if explored {
            found.up_to = (!found.exhausted).then_some((level, progress.within_bound));
        }
        bring_forward(&mut found.failures, earlier);
        // What was met beyond the bound can be met in a simpler way, on a later level.
        let enough = !plan.keep_going && found.failures.iter().any(|failure| failure.needs.is_some());
        if found.exhausted || !explored || enough || worker.is_spent() {
            break;
        }
    }
    pipeline::work_out(&mut worker, &mut found.failures);
    found
}

/// What an earlier level found is found again; but where it was simpler, it stays.
fn bring_forward(failures: &mut Vec<Failure>, earlier: Vec<Failure>) {
    for failure in earlier {
        let again = failures.iter().find(|known| known.cause() == failure.cause()).map(|known| known.occurrences);
        let occurrences = again.unwrap_or(failure.occurrences);
        let cause = failure.cause().to_owned();
        keep_the_simplest(failures, failure);
        if let Some(kept) = failures.iter_mut().find(|known| known.cause() == cause) {
            kept.occurrences = occurrences;
        }
    }
}
