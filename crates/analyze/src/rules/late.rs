//! DL001 and DL010 over two pieces of state: a task sees that nothing is closed or done, lets others run, and then puts itself into
//! a table. Whoever closes sets the flag and goes over the table in between, and does not find it.

use std::collections::BTreeSet;

use super::{Found, Rule, excluded, gap_of};
use crate::flow::{Reach, Stops, straight, throughout};
use crate::graph::{Event, Graph, Loc, NodeId, Reading, Why, Writing};
use crate::program::{Access, Program};

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    let closers = closers(program);
    if closers.is_empty() {
        return;
    }
    let mut done: BTreeSet<(Loc, Loc, u32)> = BTreeSet::new();
    for (at, task) in program.tasks.iter().enumerate() {
        let graph = &task.graph;
        for (adds, node) in graph.nodes.iter().enumerate() {
            let Event::Write { loc: table, how: Writing::Add, .. } = node.event else { continue };
            if node.cleanup || !closers.iter().any(|closer| closer.table == table) {
                continue;
            }
            for looks in decided_by(graph, adds) {
                let Event::Read { loc: flag, key: None, .. } = graph.nodes[looks].event else { continue };
                let Some(it) = late(program, at, looks, adds, flag, table, &closers) else { continue };
                if done.insert((flag, table, node.span.line)) {
                    found.push(it);
                }
            }
        }
    }
}

fn late(
    program: &Program<'_, '_>,
    task: usize,
    looks: NodeId,
    adds: NodeId,
    flag: Loc,
    table: Loc,
    closers: &[Closer],
) -> Option<Found> {
    let graph = &program.tasks[task].graph;
    let stops = Stops {
        loc: flag,
        key: None,
        anywhere: program.tasks[task].preempted,
        looks_again: true,
        writes: true,
        edges: [true, true, false],
    };
    let reach = Reach::of(graph, looks, &stops);
    let path = reach.path(adds)?;
    let opens = Access { task, node: looks };
    let holding = throughout(graph, &path);
    let closer = closers.iter().find(|closer| {
        closer.flag == flag
            && closer.table == table
            && program.node(closer.at).function != graph.nodes[adds].function
            && program.runs_beside(opens, closer.at)
            && !excluded(program, task, &holding, closer.at)
    })?;
    // Who then waits to be woken waits for ever.
    let waits = (0..graph.nodes.len()).find(|wait| {
        let wakeup = matches!(graph.nodes[*wait].event, Event::Checkpoint { why: Why::Wakeup, .. });
        wakeup && graph.nodes[*wait].function == graph.nodes[adds].function && straight(graph, adds, *wait)
    });
    Some(Found {
        rule: if waits.is_some() { Rule::LostWakeup } else { Rule::CheckThenAct },
        loc: flag,
        second: Some(table),
        task,
        opens: looks,
        gap: gap_of(program, task, &path),
        closes: waits.unwrap_or(adds),
        remote: Some(closer.at),
        lock: None,
        path,
    })
}

/// The reads that decide whether a node is reached.
fn decided_by(graph: &Graph, node: NodeId) -> Vec<NodeId> {
    let branches = graph.nodes[node].controls.iter().filter_map(|branch| match &graph.nodes[*branch].event {
        Event::Branch { reads } => Some(reads.iter().copied()),
        _ => None,
    });
    branches.flatten().collect()
}

/// Who sets a flag, and goes over a table without letting others run before.
struct Closer {
    at: Access,
    flag: Loc,
    table: Loc,
}

fn closers(program: &Program<'_, '_>) -> Vec<Closer> {
    let mut found = Vec::new();
    for (task, it) in program.tasks.iter().enumerate() {
        let graph = &it.graph;
        for (sets, node) in graph.nodes.iter().enumerate() {
            let Event::Write { loc: flag, key: None, how: Writing::Assign, literal: Some(literal), .. } = &node.event
            else {
                continue;
            };
            if node.cleanup || matches!(literal.as_str(), "None" | "False" | "empty" | "+=" | "-=" | "0") {
                continue;
            }
            for (goes, other) in graph.nodes.iter().enumerate() {
                let over = matches!(other.event, Event::Read { how: Reading::Iterates | Reading::Snapshot, .. });
                let Some((table, _)) = other.event.touches() else { continue };
                if over && table != *flag && other.function == node.function && straight(graph, sets, goes) {
                    found.push(Closer { at: Access { task, node: sets }, flag: *flag, table });
                }
            }
        }
    }
    found
}
