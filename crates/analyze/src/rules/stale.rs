//! DL006 and DL007: what was taken out of a container, or is gone over, while others remove and add.

use std::collections::BTreeSet;

use super::{Found, Rule, excluded, gap_of, intruder};
use crate::flow::{Reach, Stops, onwards, throughout};
use crate::graph::{Event, Reading, Writing};
use crate::program::{Access, Program};

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    let mut done = BTreeSet::new();
    for (at, task) in program.tasks.iter().enumerate() {
        for (node, it) in task.graph.nodes.iter().enumerate() {
            match &it.event {
                Event::Use { bound, changes } => {
                    if let Some(it) = element(program, Access { task: at, node }, *bound, *changes)
                        && done.insert((it.loc, program.tasks[at].graph.nodes[it.opens].span.line, 6))
                    {
                        found.push(it);
                    }
                }
                Event::Read { how: Reading::Iterates, .. } => {
                    if let Some(it) = iteration(program, Access { task: at, node })
                        && done.insert((it.loc, program.tasks[at].graph.nodes[it.opens].span.line, 7))
                    {
                        found.push(it);
                    }
                }
                _ => {}
            }
        }
    }
}

/// DL006.
fn element(program: &Program<'_, '_>, used: Access, bound: usize, changes: bool) -> Option<Found> {
    let graph = &program.tasks[used.task].graph;
    let (loc, key) = match &graph.nodes[bound].event {
        Event::Read { loc, key: Some(key), how: Reading::Value } => (*loc, key),
        Event::Write { loc, key: Some(key), how: Writing::Atomic, .. } => (*loc, key),
        _ => return None,
    };
    if program.tasks[used.task].preempted {
        return None;
    }
    let stops =
        Stops { loc, key: Some(key), anywhere: false, looks_again: true, writes: true, edges: [true, true, false] };
    let reach = Reach::of(graph, bound, &stops);
    let path = reach.path(used.node).filter(|path| onwards(path))?;
    let opens = Access { task: used.task, node: bound };
    let holding = throughout(graph, &path);
    let harms = |event: &Event, remote: Access| {
        let removes = matches!(event, Event::Write { how: Writing::Remove | Writing::Clear, own: false, .. });
        let own = remote.task == used.task && program.node(remote).function == program.node(used).function;
        // Who only looks at a removed element sees something old; who changes it, or uses what was closed, goes wrong.
        removes && !own && (changes || program.closes_after(remote)) && !program.in_cleanup_of_same(remote, used)
    };
    let remote = intruder(program, loc, Some(key), opens, &holding, &harms)?;
    if !changes && program.guarded_by_handler(used) {
        return None;
    }
    Some(Found {
        rule: Rule::StaleElement,
        loc,
        second: None,
        task: used.task,
        opens: bound,
        gap: gap_of(program, used.task, &path),
        closes: used.node,
        remote: Some(remote),
        lock: None,
        path,
    })
}

/// DL007.
fn iteration(program: &Program<'_, '_>, begins: Access) -> Option<Found> {
    let task = &program.tasks[begins.task];
    let graph = &task.graph;
    let Event::Read { loc, key, .. } = &graph.nodes[begins.node].event else { return None };
    if task.preempted && program.facts.module.language == drawloom_syntax::Language::Rust {
        return None;
    }
    let stops = Stops {
        loc: *loc,
        key: key.as_ref(),
        anywhere: task.preempted,
        looks_again: false,
        writes: false,
        edges: [true, false, false],
    };
    let reach = Reach::of(graph, begins.node, &stops);
    // The next element is asked for further down, by a read of its own.
    let begun = &graph.nodes[begins.node];
    let again = graph.nodes.iter().enumerate().skip(begins.node).filter(|(_, it)| {
        it.call == begun.call
            && it.span.line == begun.span.line
            && matches!(&it.event, Event::Read { loc: of, how: Reading::Next, .. } if of == loc)
    });
    let mut again = again.filter_map(|(node, _)| Some((node, reach.path(node)?)));
    let (closes, path) = again.next()?;
    let holding = throughout(graph, &path);
    let harms = |event: &Event, remote: Access| {
        let resizes = matches!(
            event,
            Event::Write { how: Writing::Remove | Writing::Clear | Writing::Add | Writing::Atomic, .. }
        );
        resizes && (remote.task != begins.task || task.multi) && program.resizes(*loc, event)
    };
    let remote = intruder(program, *loc, key.as_ref(), begins, &holding, &harms)?;
    if excluded(program, begins.task, &holding, remote) {
        return None;
    }
    // A loop that stops after its first change asks for no further element.
    Some(Found {
        rule: Rule::Iteration,
        loc: *loc,
        second: None,
        task: begins.task,
        opens: begins.node,
        gap: gap_of(program, begins.task, &path),
        closes,
        remote: Some(remote),
        lock: None,
        path,
    })
}
