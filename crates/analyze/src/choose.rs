//! Which of the windows that the rules find are said: one for each state, function and kind of mistake, and no hazard twice.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::graph::NodeId;
use crate::lower::RootKind;
use crate::program::{Access, Program};
use crate::rules::{Found, Rule};
use crate::sharing;

/// A window that is said, and where else the same is done.
pub(crate) struct Chosen {
    pub(crate) found: Found,
    pub(crate) also: Vec<Access>,
}

/// What is better: the score, whether it is a check, the shortest window, the first root.
type Rank = (i32, bool, Reverse<usize>, Reverse<usize>);

pub(crate) fn chosen(program: &Program<'_, '_>, found: Vec<Found>) -> Vec<Chosen> {
    let mut best: BTreeMap<(usize, String, u8), (Rank, Found)> = BTreeMap::new();
    for it in found {
        if locked_by_callers(program, &it) {
            continue;
        }
        let (score, _) = sharing::score(&sharing::weigh(program, &it));
        // The check says more than the update that rests on it.
        let checks = matches!(it.rule, Rule::CheckThenAct | Rule::AtomicPair | Rule::RacedGuard | Rule::WakeOrder);
        let rank = (score, checks, Reverse(it.path.len()), Reverse(it.task));
        let key = (it.loc, program.facts.function(program.node(acts(&it)).function).qualified.clone(), family(it.rule));
        if best.get(&key).is_none_or(|(known, _)| *known < rank) {
            best.insert(key, (rank, it));
        }
    }
    // What one side does without a lock is said once: as the missing lock, and not as what comes of it.
    let unguarded: BTreeSet<usize> =
        best.values().filter(|(_, it)| it.rule == Rule::MissingGuard).map(|(_, it)| it.loc).collect();
    let forgotten: BTreeSet<(usize, Access)> = best
        .values()
        .filter(|(_, it)| it.rule == Rule::MissingGuard)
        .filter_map(|(_, it)| Some((it.loc, it.remote?)))
        .collect();
    let windows: BTreeSet<usize> = best
        .values()
        .filter(|(_, it)| it.rule != Rule::Unordered)
        .flat_map(|(_, it)| [Some(it.loc), it.second])
        .flatten()
        .collect();
    let said = |it: &Found| match it.rule {
        Rule::MissingGuard => false,
        Rule::Iteration => unguarded.contains(&it.loc),
        // A window says more than that nothing orders the two.
        Rule::Unordered => windows.contains(&it.loc),
        _ if family(it.rule) == 1 => forgotten.iter().any(|(loc, at)| {
            let span = |at: Access| (program.node(at).function, program.node(at).span);
            *loc == it.loc && (span(*at) == span(acts(it)) || it.remote.is_some_and(|remote| span(remote) == span(*at)))
        }),
        _ => false,
    };
    let mut all: Vec<(Rank, Found)> = best.values().filter(|(_, it)| !said(it)).cloned().collect();
    all.sort_by(|(one, _), (other, _)| other.cmp(one));
    together(program, all)
}

/// One hazard has two windows if each task comes into that of the other. And a lock that is forgotten is one mistake.
fn together(program: &Program<'_, '_>, all: Vec<(Rank, Found)>) -> Vec<Chosen> {
    let function = |at: Access| program.node(at).function;
    let mut kept: Vec<Chosen> = Vec::new();
    for (_, it) in all {
        let own = function(acts(&it));
        let theirs = it.remote.map(|_| function(comes_in(&it)));
        let same = kept.iter_mut().find(|known| {
            let other = &known.found;
            other.loc == it.loc
                && family(other.rule) == family(it.rule)
                && match it.rule {
                    Rule::MissingGuard => other.lock == it.lock,
                    Rule::Unordered => true,
                    _ if family(it.rule) == 1 => {
                        let looks = |it: &Found| program.node(Access { task: it.task, node: it.opens }).span;
                        theirs == Some(function(acts(other))) && function(comes_in(other)) == own
                            || it.rule == other.rule && looks(&it) == looks(other)
                            || it.second.is_some() && it.second == other.second && it.remote == other.remote
                    }
                    _ => false,
                }
        });
        match same {
            Some(known) => known.also.push(acts(&it)),
            None => kept.push(Chosen { found: it, also: Vec::new() }),
        }
    }
    kept
}

/// What the finding names: what closes the window; where a lock is missing, that.
pub(crate) fn acts(it: &Found) -> Access {
    match (it.rule, it.remote) {
        (Rule::MissingGuard | Rule::LockLifetime, Some(remote)) => remote,
        _ => Access { task: it.task, node: it.closes },
    }
}

/// The access of the other task.
fn comes_in(it: &Found) -> Access {
    it.remote.unwrap_or(Access { task: it.task, node: it.closes })
}

/// Whether everybody in this file calls the functions under a lock: then others are expected to do so, too.
fn locked_by_callers(program: &Program<'_, '_>, it: &Found) -> bool {
    let exported = |task: usize| program.tasks[task].root.kind == RootKind::Exported;
    let locked = |task: usize, node: NodeId| exported(task) && program.usually_locked(it.loc, Access { task, node });
    match (it.rule, it.remote) {
        (Rule::MissingGuard, Some(remote)) => locked(remote.task, remote.node),
        (Rule::LockLifetime | Rule::CancellationLeak, _) => false,
        _ => locked(it.task, it.opens) && locked(it.task, it.closes),
    }
}

/// Rules that say the same of the same window.
fn family(rule: Rule) -> u8 {
    match rule {
        Rule::CheckThenAct
        | Rule::ReadModifyWrite
        | Rule::AwaitInUpdate
        | Rule::RacedGuard
        | Rule::AtomicPair
        | Rule::WakeOrder => 1,
        Rule::PairedState => 2,
        Rule::LockLifetime => 3,
        Rule::StaleElement => 4,
        Rule::Iteration => 5,
        Rule::MissingGuard => 6,
        Rule::CancellationLeak => 7,
        Rule::LostWakeup => 8,
        Rule::Unordered => 9,
    }
}
