//! DL014: functions that are explored beside each other, of which one uses what the other one writes, and nothing orders the two.
//!
//! Elsewhere that is how most programs work, and says nothing. Whoever explores functions, and says what must hold afterwards, has
//! all orders made: then an order that decides the outcome is what they ask for.

use std::collections::BTreeSet;

use super::{Found, Rule, changes, excluded};
use crate::flow::may_be_same;
use crate::graph::{Event, Graph, Loc, NodeId, Writing};
use crate::program::{Access, Program};

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    if !program.tasks.iter().any(|task| task.root.explored) {
        return;
    }
    let mut done: BTreeSet<(Loc, usize)> = BTreeSet::new();
    for (loc, accesses) in &program.accesses {
        if program.is_ordering(*loc) || program.kind(*loc).synchronises() {
            continue;
        }
        let explored: Vec<Access> =
            accesses.iter().copied().filter(|access| program.tasks[access.task].root.explored).collect();
        for one in &explored {
            let Some(closes) = used(&program.tasks[one.task].graph, one.node) else { continue };
            let other = explored.iter().copied().find(|other| conflict(program, *one, *other));
            if let Some(remote) = other
                && done.insert((*loc, one.task))
            {
                found.push(Found {
                    rule: Rule::Unordered,
                    loc: *loc,
                    second: None,
                    task: one.task,
                    opens: one.node,
                    gap: None,
                    closes,
                    remote: Some(remote),
                    lock: None,
                    path: vec![one.node, closes],
                });
            }
        }
    }
}

/// Where a value that is read goes: into other state, or into a decision. A value that is written goes where it is.
fn used(graph: &Graph, at: NodeId) -> Option<NodeId> {
    match &graph.nodes[at].event {
        Event::Write { how: Writing::Assign, .. } => Some(at),
        Event::Read { .. } => {
            let written = |node: &NodeId| match &graph.nodes[*node].event {
                Event::Write { from, .. } => from.contains(&at),
                _ => false,
            };
            let decided = |node: &NodeId| {
                matches!(graph.nodes[*node].event, Event::Write { .. })
                    && graph.nodes[*node].controls.iter().any(|branch| match &graph.nodes[*branch].event {
                        Event::Branch { reads } => reads.contains(&at),
                        _ => false,
                    })
            };
            (0..graph.nodes.len()).find(|node| written(node) || decided(node))
        }
        _ => None,
    }
}

fn conflict(program: &Program<'_, '_>, one: Access, other: Access) -> bool {
    let (own, theirs) = (program.node(one), program.node(other));
    let (Some((_, key)), Some((_, with))) = (own.event.touches(), theirs.event.touches()) else { return false };
    let beside = one.task != other.task || program.tasks[one.task].multi;
    let held = &program.tasks[one.task].graph.held[one.node];
    beside
        && changes(&theirs.event)
        && may_be_same(key, with)
        && differs(&own.event, &theirs.event)
        && program.runs_beside(one, other)
        && !excluded(program, one.task, held, other)
        && !ordered(program, other, one)
        && !ordered(program, one, other)
}

/// Whether it matters which of two writes is the last one.
fn differs(own: &Event, theirs: &Event) -> bool {
    match (own, theirs) {
        (Event::Write { literal: Some(one), .. }, Event::Write { literal: Some(other), .. }) => one != other,
        (Event::Write { how: Writing::Assign, .. }, Event::Write { how, .. }) => *how == Writing::Assign,
        _ => true,
    }
}

/// Whether the second access comes after the first one in any order: it waits for what is set after the first one.
fn ordered(program: &Program<'_, '_>, first: Access, second: Access) -> bool {
    let sets = program.tasks[first.task].graph.nodes.iter().skip(first.node).filter_map(|node| match &node.event {
        Event::Wake { loc, .. } => Some(*loc),
        Event::Write { loc, how: Writing::Add, .. } if program.kind(*loc).synchronises() => Some(*loc),
        _ => None,
    });
    let sets: BTreeSet<Loc> = sets.collect();
    program.tasks[second.task].graph.nodes.iter().take(second.node).any(|node| match &node.event {
        Event::Wait { loc } => sets.contains(loc),
        Event::Write { loc, how: Writing::Remove, .. } => program.kind(*loc).synchronises() && sets.contains(loc),
        _ => false,
    })
}
