//! Schedules that differ little from the one that failed: where a fix that is not enough fails first.

use drawloom_engine::strategy::{Script, Stretch};
use drawloom_report::Record;

use super::Known;
use crate::program::Program;
use crate::worker::Worker;

/// So many of them at most.
const MOST: usize = 60;
/// By how many steps a switch comes earlier or later.
const SHIFTS: [i64; 4] = [1, -1, 2, -2];

/// The schedule itself, and those in which one switch comes a little earlier or later, the last switches first.
pub(super) fn schedules(script: &Script) -> Vec<Script> {
    let switches = (0..script.stretches.len().saturating_sub(1)).rev();
    let shifted = switches.flat_map(|at| SHIFTS.map(|by| shift(script, at, by)));
    std::iter::once(script.clone()).chain(shifted.flatten()).take(MOST).collect()
}

/// The switch after stretch `at` comes `by` steps later; its task has so many less to make when it is next.
fn shift(script: &Script, at: usize, by: i64) -> Option<Script> {
    let mut stretches = script.stretches.clone();
    let task = stretches[at].task;
    let change = |stretch: &mut Stretch, by: i64| stretch.count = stretch.count.saturating_add_signed(by);
    if by < 0 && stretches[at].count <= by.unsigned_abs() {
        return None;
    }
    change(&mut stretches[at], by);
    if let Some(next) = stretches[at + 1..].iter_mut().find(|stretch| stretch.task == task) {
        change(next, -by);
    }
    Some(script.with(stretches))
}

/// An execution near the failing one in which nothing is found, to compare with.
pub(super) fn passing<P: Program>(worker: &mut Worker<'_, P>, known: &Known) -> Option<Record> {
    let near = schedules(&known.script).into_iter().chain([known.script.empty()]);
    near.into_iter().find_map(|script| {
        let passes = worker.follow(&script, &known.settings) == Ok(None);
        passes.then(|| worker.passing())
    })
}
