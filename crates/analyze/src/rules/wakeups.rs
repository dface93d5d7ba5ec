//! DL010: a condition is read, and the wait for its change begins when the wake-up may be over.

use std::collections::BTreeSet;

use super::{Found, Rule, excluded, gap_of};
use crate::flow::{Reach, Stops, throughout};
use crate::graph::{Event, Loc, Writing};
use crate::program::{Access, Program};

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    let mut done: BTreeSet<(Loc, u32)> = BTreeSet::new();
    let wakes = wakes(program);
    for (at, task) in program.tasks.iter().enumerate() {
        let graph = &task.graph;
        for (closes, node) in graph.nodes.iter().enumerate() {
            let event = match &node.event {
                Event::Wait { loc } => *loc,
                // What clears an event after looking undoes a wake-up that has come since.
                Event::Write { loc, how: Writing::Clear, own: true, literal: None, .. } => *loc,
                _ => continue,
            };
            let clears = matches!(node.event, Event::Write { .. });
            if clears && !waits_after(graph, closes, event) {
                continue;
            }
            let wakers: Vec<Access> = wakes
                .iter()
                .copied()
                .filter(|(_, loc, stores)| *loc == event && (!stores || clears))
                .map(|(access, ..)| access)
                .collect();
            if wakers.is_empty() || done.contains(&(event, node.span.line)) {
                continue;
            }
            let conditions: Vec<usize> = node
                .controls
                .iter()
                .filter_map(|branch| match &graph.nodes[*branch].event {
                    Event::Branch { reads } => Some(reads.clone()),
                    _ => None,
                })
                .flatten()
                .collect();
            for read in conditions {
                let Event::Read { loc, key, .. } = &graph.nodes[read].event else { continue };
                let stops = Stops {
                    loc: *loc,
                    key: key.as_ref(),
                    anywhere: task.preempted,
                    looks_again: true,
                    writes: true,
                    edges: [true, false, false],
                };
                let Some(path) = Reach::of(graph, read, &stops).path(closes) else { continue };
                // Registered before it looked: nothing is lost.
                let registered =
                    graph.nodes[..read].iter().any(|it| matches!(it.event, Event::Wait { loc } if loc == event))
                        && !clears;
                if registered {
                    continue;
                }
                let holding = throughout(graph, &path);
                let opens = Access { task: at, node: read };
                let Some(waker) = wakers.iter().copied().find(|waker| {
                    sets(program, *waker, *loc, &|write| !excluded(program, at, &holding, write))
                        && program.runs_beside(opens, *waker)
                        && !excluded(program, at, &holding, *waker)
                }) else {
                    continue;
                };
                done.insert((event, node.span.line));
                found.push(Found {
                    rule: Rule::LostWakeup,
                    loc: *loc,
                    second: Some(event),
                    task: at,
                    opens: read,
                    gap: gap_of(program, at, &path),
                    closes,
                    remote: Some(waker),
                    lock: None,
                    path,
                });
                break;
            }
        }
    }
}

/// Whether an event that is cleared is then waited for.
fn waits_after(graph: &crate::graph::Graph, cleared: usize, event: Loc) -> bool {
    let stops =
        Stops { loc: event, key: None, anywhere: true, looks_again: false, writes: false, edges: [true, false, false] };
    let reach = Reach::of(graph, cleared, &stops);
    let waits = |at: &usize| matches!(graph.nodes[*at].event, Event::Wait { loc } if loc == event);
    (0..graph.nodes.len())
        .filter(waits)
        .any(|at| graph.nodes[at].function == graph.nodes[cleared].function && reach.path(at).is_some())
}

/// Wake-ups, with what is woken and whether the wake-up is kept for those who come later.
fn wakes(program: &Program<'_, '_>) -> Vec<(Access, Loc, bool)> {
    let mut found = Vec::new();
    for (at, task) in program.tasks.iter().enumerate() {
        for (node, it) in task.graph.nodes.iter().enumerate() {
            if let Event::Wake { loc, stores } = it.event {
                found.push((Access { task: at, node }, loc, stores));
            }
        }
    }
    found
}

/// Whether whoever wakes also changes what is waited for, at a moment that can come between the look and the wait.
fn sets(program: &Program<'_, '_>, waker: Access, loc: Loc, comes_in: &dyn Fn(Access) -> bool) -> bool {
    let graph = &program.tasks[waker.task].graph;
    let mut writes = (0..graph.nodes.len())
        .filter(|node| matches!(&graph.nodes[*node].event, Event::Write { loc: of, .. } if *of == loc));
    writes.any(|node| comes_in(Access { task: waker.task, node }))
}
