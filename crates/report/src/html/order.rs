//! Happens-before arrows: for each step, the steps of other tasks that it comes right after.

use std::collections::HashSet;

use drawloom_engine::causality::Causality;
use drawloom_engine::{OpKind, ResourceId, Site, Step, TaskId, UNBOUNDED, outcome};

use crate::record::Record;

/// Steps times tasks up to which clocks are computed: 64 MB of them.
const MOST_CLOCKS: usize = 16 << 20;

/// One arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrow {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Whether the two could have come the other way round.
    pub(super) race: bool,
}

/// The arrows between tasks that follow from no others, and whether they are all: where there are too many
/// steps and tasks for clocks, only what ended a wait is known.
///
/// Steps are counted from `first`, and those before it left aside: whatever leads from one step to a later
/// one lies between them.
pub(super) fn arrows(record: &Record, first: u32) -> (Vec<Arrow>, bool) {
    let tasks = record.tasks.len();
    let steps = steps(record, first);
    if steps.len().saturating_mul(tasks) > MOST_CLOCKS {
        let known = |(to, step): (u32, &Step)| {
            let from = step.after.checked_sub(1)?;
            (steps[from as usize].task != step.task).then_some(Arrow { from, to, race: false })
        };
        return ((0..).zip(&steps).filter_map(known).collect(), false);
    }
    let causality = Causality::of(&steps);
    let races: HashSet<(usize, usize)> = causality.races().iter().copied().collect();
    let mut arrows = Vec::new();
    // By task: its steps so far.
    let mut made: Vec<Vec<usize>> = vec![Vec::new(); tasks];
    let mut newest = Vec::new();
    for (j, step) in steps.iter().enumerate() {
        let previous = made[step.task.index()].last().copied();
        let knew = |task: usize| previous.map_or(0, |p| causality.clock(p, TaskId(task as u32)));
        let knows = |j: usize, task: usize| causality.clock(j, TaskId(task as u32));
        newest.clear();
        for (task, made) in made.iter().enumerate().filter(|(task, _)| *task != step.task.index()) {
            let now = knows(j, task);
            if now > knew(task) {
                newest.extend(made.get(now as usize - 1).map(|i| (task, *i)));
            }
        }
        for &(task, i) in &newest {
            let follows = newest.iter().any(|(_, k)| *k != i && knows(*k, task) >= causality.own(i));
            if !follows {
                arrows.push(Arrow { from: i as u32, to: j as u32, race: races.contains(&(i, j)) });
            }
        }
        made[step.task.index()].push(j);
    }
    (arrows, true)
}

/// The steps from `first` on, as the engine knows them; their places do not matter here.
fn steps(record: &Record, first: u32) -> Vec<Step> {
    let kinds: Vec<OpKind> = record.operations.iter().map(|word| kind(word)).collect();
    let outcomes: Vec<u32> = record.outcomes.iter().map(|word| came_to(word)).collect();
    let step = |step: &crate::record::StepRecord| {
        let kind = kinds[usize::from(step.operation)];
        let size = || step.resource.and_then(|r| record.resources[r as usize].size);
        Step {
            site: Site::UNKNOWN,
            arg: match kind {
                OpKind::Send | OpKind::TrySend | OpKind::Recv | OpKind::TryRecv => size().unwrap_or(UNBOUNDED),
                _ => step.argument.unwrap_or(0),
            },
            value: match kind {
                // Where what was free is not known, no release is taken for the one that was needed.
                OpKind::Acquire => step.value.unwrap_or(u64::MAX),
                _ => step.value.unwrap_or(0),
            },
            resource: step.resource.map_or(ResourceId::NONE, ResourceId),
            task: TaskId(step.task),
            after: step.after.and_then(|after| after.checked_sub(first)).map_or(0, |after| after + 1),
            outcome: outcomes[usize::from(step.outcome)] as u16,
            kind,
            was_choice: step.choice,
        }
    };
    record.steps[first as usize..].iter().map(step).collect()
}

/// An operation that a newer drawloom may have is taken for one that orders nothing.
fn kind(word: &str) -> OpKind {
    match word {
        // Of an object.
        "use" => OpKind::Rmw,
        "look" => OpKind::Load,
        word => OpKind::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(OpKind::Yield),
    }
}

fn came_to(word: &str) -> u32 {
    match word {
        "timed out" => outcome::TIMED_OUT,
        "disconnected" => outcome::DISCONNECTED,
        "refused" => outcome::REFUSED,
        "runs it" => outcome::RUN,
        "runs it after a panic" => outcome::RUN_AFTER_PANIC,
        "leader" => outcome::LEADER,
        "torn down" => outcome::TORN_DOWN,
        _ => outcome::OK,
    }
}
