//! Makes a scenario that fails as small as can be: fewer clients, fewer operations, simpler ones.
//!
//! A scenario is who calls what, chosen at the beginning of an execution ([`Layout`]). Its choices are part of the
//! schedule, but to edit them like the rest of it would not do: another scenario needs another schedule. So each smaller
//! scenario is explored anew (`candidate`), within a budget, until none of them is seen to fail in the same way; what
//! remains is for [`shrink`](super::shrink), which makes the schedule simple. Candidates come in a fixed order and are
//! drawn with what follows from the token, so that the same finding becomes the same scenario.

mod candidate;
mod layout;

use std::collections::HashSet;

use drawloom_engine::OpKind;
use drawloom_engine::schedule::Schedule;
use drawloom_engine::shrink::Cost;
use drawloom_engine::sorted;
use drawloom_engine::strategy::{Lenient, Preemptions, Script};

use self::candidate::Candidates;
pub use self::layout::Layout;
use self::layout::Lists;
use super::exploration::Failure;
use super::program::Program;
use super::worker::Worker;

/// A finding in a smaller scenario.
pub(super) struct Smaller {
    pub(super) failure: Failure,
    /// What the original cost, and how many executions it took to get here.
    pub(super) before: Cost,
    pub(super) executions: u64,
}

/// The same finding in the smallest scenario that shows it; `None` if there is no scenario, or none smaller.
pub(super) fn smallest<P: Program>(worker: &mut Worker<'_, P>, failure: &Failure) -> Option<Smaller> {
    let plan = worker.plan();
    let schedule = Schedule::from_token(failure.token(), &plan.name).ok()?;
    let mut settings = plan.replay_settings(schedule.spin_rounds);
    settings.limits.max_steps = settings.limits.max_steps.min(4 * failure.record().steps.len() as u64 + 1_000);

    // The execution says how its choices are to be read.
    let preemptions = Preemptions::default();
    let original = Lenient::new(Script::from(&schedule), preemptions.clone());
    let layout = Layout::of(|| drop(worker.replay(Box::new(original), &settings, false)))?;
    let steps = worker.engine().steps();
    let before = Cost::of(steps, preemptions.count());
    let made = steps.iter().filter(|step| step.kind == OpKind::Choose && step.site == layout.site);
    let mut made = made.map(|step| step.value as usize);
    let mut lists = layout.lists(|outcomes| made.next().unwrap_or(0).min(outcomes - 1));

    let mut candidates = Candidates::new(worker, failure, layout, settings);
    let mut found: Option<Failure> = None;
    let mut tried: HashSet<Lists> = HashSet::from([lists.clone()]);
    while !candidates.is_spent() {
        let untried = smaller(&lists, layout.length).into_iter().filter(|candidate| tried.insert(candidate.clone()));
        let Some((smaller, failure)) = candidates.first_that_fails(untried) else { break };
        (lists, found) = (smaller, Some(failure));
    }
    Some(Smaller { failure: found?, before, executions: candidates.executions() })
}

/// All that are one step smaller: without a client, without an operation, with one client for two, with a simpler
/// operation instead of one. So there are fewer operations, or as many but fewer clients, or neither but simpler ones.
fn smaller(lists: &Lists, length: usize) -> Vec<Lists> {
    let mut candidates = Vec::new();
    let mut add = |edit: &dyn Fn(&mut Lists)| {
        let mut candidate = lists.clone();
        edit(&mut candidate);
        sorted::sort_by(&mut candidate, |a, b| b.cmp(a));
        candidates.push(candidate);
    };
    let busy = lists.iter().take_while(|list| !list.is_empty()).count();
    for client in (0..busy).rev() {
        add(&|lists| lists[client].clear());
    }
    let places = || (0..busy).rev().flat_map(|client| (0..lists[client].len()).rev().map(move |at| (client, at)));
    for (client, at) in places() {
        add(&|lists| {
            lists[client].remove(at);
        });
    }
    for (first, second) in (0..busy).flat_map(|first| (0..busy).map(move |second| (first, second))) {
        if first != second && lists[first].len() + lists[second].len() <= length {
            add(&|lists| {
                let calls = std::mem::take(&mut lists[second]);
                lists[first].extend(calls);
            });
        }
    }
    for (client, at) in places() {
        for simpler in 0..lists[client][at] {
            add(&|lists| lists[client][at] = simpler);
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_smaller_than_a_smallest_scenario_is_left_out() {
        let candidates = smaller(&vec![vec![2], vec![0, 1], vec![]], 3);
        let expected: [&[&[usize]]; 10] = [
            &[&[2], &[], &[]],
            &[&[0, 1], &[], &[]],
            &[&[2], &[0], &[]],
            &[&[2], &[1], &[]],
            &[&[0, 1], &[], &[]],
            &[&[2, 0, 1], &[], &[]],
            &[&[0, 1, 2], &[], &[]],
            &[&[2], &[0, 0], &[]],
            &[&[0, 1], &[0], &[]],
            &[&[1], &[0, 1], &[]],
        ];
        assert_eq!(candidates, expected.map(|lists| lists.iter().map(|list| list.to_vec()).collect::<Lists>()));
    }
}
