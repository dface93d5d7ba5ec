//! DL009 of waiters: whoever releases takes a waiter from the queue and wakes it, and so hands over what it had. A waiter that is
//! cancelled in the same round has it without knowing, and must pass it on.

use std::collections::BTreeSet;

use super::{Found, Rule};
use crate::graph::{Edge, Event, Graph, Loc, NodeId, Reading, Why, Writing};
use crate::program::{Access, Program};

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    if !program.facts.cancels {
        return;
    }
    let givers = givers(program);
    let mut done: BTreeSet<(Loc, u32)> = BTreeSet::new();
    for (task, it) in program.tasks.iter().enumerate() {
        if it.preempted {
            continue;
        }
        let graph = &it.graph;
        for (waits, node) in graph.nodes.iter().enumerate() {
            if !matches!(node.event, Event::Checkpoint { why: Why::Wakeup, cancels: true, .. }) {
                continue;
            }
            let Some((queued, queue)) = queued(graph, waits) else { continue };
            let tested: BTreeSet<Loc> = (0..waits)
                .filter(|at| graph.tested[*at])
                .filter_map(|at| match &graph.nodes[at].event {
                    Event::Read { loc, .. } => Some(*loc),
                    _ => None,
                })
                .collect();
            // What is handed over is what the waiter has looked at before, and the giver has changed.
            let giver = givers.iter().find(|giver| {
                giver.queue == queue
                    && giver.gives.iter().any(|loc| *loc != queue && tested.contains(loc))
                    && program.node(giver.at).function != node.function
                    && program.runs_beside(Access { task, node: waits }, giver.at)
            });
            let Some(giver) = giver else { continue };
            if passed_on(graph, waits, queue) || !done.insert((queue, node.span.line)) {
                continue;
            }
            found.push(Found {
                rule: Rule::CancellationLeak,
                loc: queue,
                second: giver.gives.iter().copied().find(|loc| *loc != queue && tested.contains(loc)),
                task,
                opens: queued,
                gap: Some(waits),
                closes: waits,
                remote: Some(giver.at),
                lock: None,
                path: vec![queued, waits],
            });
        }
    }
}

/// Where the one who waits has put itself into a queue, in the same function.
fn queued(graph: &Graph, waits: NodeId) -> Option<(NodeId, Loc)> {
    let function = graph.nodes[waits].function;
    (0..waits).rev().find_map(|at| match &graph.nodes[at].event {
        Event::Write { loc, how: Writing::Add, .. } if graph.nodes[at].function == function => Some((at, *loc)),
        _ => None,
    })
}

/// Whether a cancellation of the wait leads to a wake-up of somebody else, or to a change of something else than the queue.
fn passed_on(graph: &Graph, waits: NodeId, queue: Loc) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let cancelled = graph.nodes[waits].next.iter().filter(|(_, edge)| *edge == Edge::Cancel);
    let mut left: Vec<NodeId> = cancelled.map(|(to, _)| *to).collect();
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        match &graph.nodes[at].event {
            Event::Wake { .. } | Event::Release { .. } | Event::Opaque => return true,
            Event::Write { loc, .. } if *loc != queue => return true,
            _ => {}
        }
        left.extend(graph.nodes[at].next.iter().map(|(to, _)| *to));
    }
    false
}

/// Who takes one waiter from a queue and wakes it.
struct Giver {
    at: Access,
    queue: Loc,
    /// What it changes besides.
    gives: Vec<Loc>,
}

fn givers(program: &Program<'_, '_>) -> Vec<Giver> {
    let mut found = Vec::new();
    for (task, it) in program.tasks.iter().enumerate() {
        let graph = &it.graph;
        for (wakes, node) in graph.nodes.iter().enumerate() {
            if !matches!(node.event, Event::Wake { .. }) || node.cleanup || again(graph, wakes) {
                continue;
            }
            // The one that it has just taken, or the first one that it goes over and stops at.
            let own = graph.nodes[..wakes].iter().rev().filter(|other| other.call == node.call);
            let queue = own.clone().find_map(|other| match &other.event {
                Event::Write { loc, how: Writing::Remove, .. } => Some(*loc),
                Event::Read { loc, how: Reading::Iterates, .. } => Some(*loc),
                _ => None,
            });
            let Some(queue) = queue else { continue };
            let gives = graph.nodes.iter().filter_map(|other| match &other.event {
                Event::Write { loc, .. } => Some(*loc),
                _ => None,
            });
            let gives: BTreeSet<Loc> = gives.collect();
            found.push(Giver { at: Access { task, node: wakes }, queue, gives: gives.into_iter().collect() });
        }
    }
    found
}

/// Whether a node comes again: then it wakes all, and hands over nothing.
fn again(graph: &Graph, node: NodeId) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut left: Vec<NodeId> = graph.nodes[node].next.iter().map(|(to, _)| *to).collect();
    while let Some(at) = left.pop() {
        if at == node {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            left.extend(graph.nodes[at].next.iter().map(|(to, _)| *to));
        }
    }
    false
}
