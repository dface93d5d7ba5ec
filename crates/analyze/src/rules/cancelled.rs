//! DL009: a cancellation between a change of shared state and what restores it.

use std::collections::BTreeSet;

use super::{Found, Rule};
use crate::flow::{Reach, Stops, onwards, same, switches};
use crate::graph::{DECREMENT, Edge, Event, Graph, INCREMENT, Loc, NodeId, Why, Writing};
use crate::lower::RootKind;
use crate::program::Program;

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    if program.facts.module.language == drawloom_syntax::Language::Rust {
        return;
    }
    let mut done: BTreeSet<(Loc, u32)> = BTreeSet::new();
    for (at, task) in program.tasks.iter().enumerate() {
        if task.preempted || task.root.kind == RootKind::Entry {
            continue;
        }
        let graph = &task.graph;
        for (opens, node) in graph.nodes.iter().enumerate() {
            let (Some((loc, key)), false) = (changed(&node.event), node.cleanup) else { continue };
            // How long a lock has to stay in its map is another question.
            if !matches!(node.event, Event::Acquire { .. }) && program.kind(loc).element().is_lock() {
                continue;
            }
            if done.contains(&(loc, node.span.line)) {
                continue;
            }
            let restores: Vec<NodeId> = (0..graph.nodes.len())
                .filter(|other| *other != opens && undoes(&node.event, &graph.nodes[*other].event))
                .collect();
            // What another function restores may be in a `finally` of whoever calls it.
            if !restores.iter().any(|at| graph.nodes[*at].function == node.function) {
                continue;
            }
            if restores.is_empty() || !matters(program, loc, &node.event) || !always(program, graph, opens, &restores) {
                continue;
            }
            let Some((gap, closes, path)) = leak(graph, opens, loc, key, &restores) else { continue };
            done.insert((loc, node.span.line));
            found.push(Found {
                rule: Rule::CancellationLeak,
                loc,
                second: None,
                task: at,
                opens,
                gap: Some(gap),
                closes,
                remote: None,
                lock: None,
                path,
            });
        }
    }
}

/// What an event changes, that may have to be restored.
fn changed(event: &Event) -> Option<(Loc, Option<&String>)> {
    match event {
        Event::Write { loc, key, how, literal, own, .. } => {
            let flag = literal.as_deref().is_some_and(|text| matches!(text, "True" | INCREMENT | DECREMENT));
            let token = *how == Writing::Add && key.is_some() && !own;
            (*how == Writing::Assign && flag || token).then_some((*loc, key.as_ref()))
        }
        Event::Acquire { lock, key, .. } => Some((*lock, key.as_ref())),
        _ => None,
    }
}

/// Whether one event undoes the other.
fn undoes(event: &Event, other: &Event) -> bool {
    match (event, other) {
        (
            Event::Write { loc, key, how, literal, .. },
            Event::Write { loc: of, key: with, how: undo, literal: value, .. },
        ) if loc == of && same(key.as_ref(), with.as_ref()) => match (literal.as_deref(), value.as_deref()) {
            (Some(INCREMENT), Some(DECREMENT)) | (Some(DECREMENT), Some(INCREMENT)) => true,
            (Some("True"), Some("False" | "None")) => true,
            _ => *how == Writing::Add && matches!(undo, Writing::Remove | Writing::Clear) && key.is_some(),
        },
        (Event::Acquire { lock, key, .. }, Event::Release { lock: of, key: with }) => {
            lock == of && same(key.as_ref(), with.as_ref())
        }
        _ => false,
    }
}

/// Whether somebody looks at it, so that it matters if it stays as it is.
fn matters(program: &Program<'_, '_>, loc: Loc, event: &Event) -> bool {
    if matches!(event, Event::Acquire { .. }) {
        return true;
    }
    let accesses = program.accesses.get(&loc).into_iter().flatten();
    let mut tested = accesses.filter(|access| {
        let graph = &program.tasks[access.task].graph;
        matches!(graph.nodes[access.node].event, Event::Read { .. }) && graph.tested[access.node]
    });
    tested.next().is_some()
}

/// Whether the change is restored whatever way leads out, unless something is raised: otherwise it is there to stay.
fn always(program: &Program<'_, '_>, graph: &Graph, opens: NodeId, restores: &[NodeId]) -> bool {
    let own = &graph.nodes[opens];
    // The body of a generator's `with` is its caller's.
    if program.facts.function(own.function).is_generator || matches!(own.event, Event::Acquire { .. }) {
        return true;
    }
    let mut seen = vec![false; graph.nodes.len()];
    let mut left = vec![opens];
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut seen[at], true) || restores.contains(&at) {
            continue;
        }
        if at == graph.ends[0] || graph.nodes[at].call < own.call {
            return false;
        }
        left.extend(graph.nodes[at].next.iter().filter(|(_, edge)| *edge == Edge::Normal).map(|(to, _)| *to));
    }
    true
}

/// A checkpoint between the change and its restoration from which a cancellation leads out without it.
fn leak(
    graph: &Graph,
    opens: NodeId,
    loc: Loc,
    key: Option<&String>,
    restores: &[NodeId],
) -> Option<(NodeId, NodeId, Vec<NodeId>)> {
    let along = |errors: bool| {
        let stops = Stops { loc, key, anywhere: false, looks_again: false, writes: true, edges: [true, errors, false] };
        leak_along(graph, opens, restores, &Reach::of(graph, opens, &stops))
    };
    // A look-up that fails may be what the handler is for; what is raised otherwise leads out.
    along(false).or_else(|| along(true).filter(|(gap, ..)| !graph.nodes[*gap].cleanup))
}

fn leak_along(
    graph: &Graph,
    opens: NodeId,
    restores: &[NodeId],
    reach: &Reach,
) -> Option<(NodeId, NodeId, Vec<NodeId>)> {
    for closes in restores {
        if graph.nodes[*closes].call != graph.nodes[opens].call {
            continue;
        }
        let Some(path) = reach.path(*closes).filter(|path| onwards(path)) else { continue };
        // Up to the first restoration: what comes later is another change.
        let first = path.iter().position(|at| restores.contains(at)).unwrap_or(path.len());
        for gap in path[1..first].iter().copied() {
            // What an unknown manager does at its ends is not known; most do not wait there.
            let cancels = match &graph.nodes[gap].event {
                Event::Checkpoint { cancels, why, .. } => *cancels && !matches!(why, Why::Enter | Why::Exit),
                _ => false,
            };
            if cancels && switches(&graph.nodes[gap].event) && escapes(graph, gap, restores) {
                return Some((gap, *closes, path));
            }
        }
    }
    None
}

/// Whether a cancellation at a node leads to the end without a restoration.
fn escapes(graph: &Graph, gap: NodeId, restores: &[NodeId]) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut left: Vec<NodeId> =
        graph.nodes[gap].next.iter().filter(|(_, edge)| *edge == Edge::Cancel).map(|(to, _)| *to).collect();
    let mut escapes = false;
    while let Some(at) = left.pop() {
        escapes |= at == graph.ends[2] || at == graph.ends[1];
        // Restored under a condition, which may well be the one that it was changed under.
        if restores.contains(&at) {
            return false;
        }
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        left.extend(graph.nodes[at].next.iter().map(|(to, _)| *to));
    }
    escapes
}
