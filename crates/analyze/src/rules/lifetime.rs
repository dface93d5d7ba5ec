//! DL005: a map of locks from which entries are removed while others may hold or await the lock.

use super::{Found, Rule};
use crate::graph::{Event, INCREMENT, Loc, NodeId, Reading, Writing};
use crate::program::{Access, Program};
use crate::types::{LockKind, Type};

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    for (loc, accesses) in &program.accesses {
        if !holds_locks(program, *loc) {
            continue;
        }
        let takes: Vec<Access> = taken(program, *loc);
        let Some(first_take) = takes.first() else { continue };
        let mut done: Vec<(drawloom_syntax::FunctionId, u32)> = Vec::new();
        for removal in accesses {
            let node = program.node(*removal);
            let Event::Write { how: Writing::Remove | Writing::Clear, .. } = &node.event else { continue };
            if done.contains(&(node.function, node.span.line)) || is_safe(program, *loc, *removal) {
                continue;
            }
            // Somebody must be able to ask for the lock while another one is on the way to the removal.
            let Some(take) = takes.iter().find(|take| program.runs_beside(**take, *removal)).or(Some(first_take))
            else {
                continue;
            };
            if !program.runs_beside(*take, *removal) {
                continue;
            }
            done.push((node.function, node.span.line));
            let graph = &program.tasks[take.task].graph;
            let Some(opens) = looked_up(graph, *loc, take.node) else { continue };
            found.push(Found {
                rule: Rule::LockLifetime,
                loc: *loc,
                second: None,
                task: take.task,
                opens,
                gap: Some(take.node),
                closes: take.node,
                remote: Some(*removal),
                lock: Some(*loc),
                path: vec![opens, take.node],
            });
        }
    }
}

/// Where the lock was looked up that is taken at a node.
fn looked_up(graph: &crate::graph::Graph, loc: Loc, take: NodeId) -> Option<NodeId> {
    let before = (0..take).rev();
    let mut found = before.filter(|at| match &graph.nodes[*at].event {
        Event::Read { loc: of, .. } | Event::Write { loc: of, how: Writing::Atomic | Writing::Add, .. } => *of == loc,
        _ => false,
    });
    let direct = matches!(graph.nodes[take].event, Event::Acquire { lock, .. } if lock == loc);
    found.next().or(direct.then_some(take))
}

/// Whether it is a map of locks, or of objects with a lock each.
fn holds_locks(program: &Program<'_, '_>, loc: Loc) -> bool {
    let kind = program.kind(loc);
    let (Type::Container(element) | Type::ConcurrentMap(element)) = kind else { return false };
    match *element {
        Type::Lock { kind, .. } => kind != LockKind::Semaphore,
        Type::Around(..) => true,
        Type::Object(class) => {
            program.facts.fields_of(class).any(|(_, kind)| kind.is_lock() || matches!(kind, Type::Around(..)))
        }
        _ => false,
    }
}

/// Where a lock out of the map is taken.
fn taken(program: &Program<'_, '_>, loc: Loc) -> Vec<Access> {
    let mut found = Vec::new();
    let element = match program.kind(loc) {
        Type::Container(element) | Type::ConcurrentMap(element) => *element,
        _ => Type::Unknown,
    };
    let owner = match element {
        Type::Object(class) => Some(format!("{}.", program.facts.module.classes[class.0].name)),
        _ => None,
    };
    for (at, task) in program.tasks.iter().enumerate() {
        for (node, it) in task.graph.nodes.iter().enumerate() {
            let Event::Acquire { lock, .. } = it.event else { continue };
            let name = program.names.name(lock);
            if lock == loc || owner.as_ref().is_some_and(|owner| name.starts_with(owner.as_str())) {
                found.push(Access { task: at, node });
            }
        }
    }
    found
}

/// Whether a removal makes sure that nobody has the lock or waits for it: it asks the lock, or a count of those who use it that is
/// raised before the lock is taken.
fn is_safe(program: &Program<'_, '_>, loc: Loc, removal: Access) -> bool {
    let graph = &program.tasks[removal.task].graph;
    let node = &graph.nodes[removal.node];
    let asked = node.controls.iter().filter_map(|branch| match &graph.nodes[*branch].event {
        Event::Branch { reads } => Some(reads.iter().copied()),
        _ => None,
    });
    asked.flatten().any(|read| match &graph.nodes[read].event {
        // `lock.locked()`, `lock.statistics()`
        Event::Read { loc: of, how: Reading::Value, .. } if *of == loc => true,
        Event::Read { loc: counter, .. } => counted_early(program, loc, *counter),
        _ => false,
    })
}

/// Whether a count is raised by those who do not have the lock yet.
fn counted_early(program: &Program<'_, '_>, locks: Loc, counter: Loc) -> bool {
    let raises = program.accesses.get(&counter).into_iter().flatten().copied().filter(|access| {
        matches!(&program.node(*access).event, Event::Write { literal: Some(text), .. } if text == INCREMENT)
            || matches!(&program.node(*access).event, Event::Write { how: Writing::Assign | Writing::Add, from, .. } if !from.is_empty())
    });
    let takes = taken(program, locks);
    let mut any = false;
    let mut early = true;
    for access in raises {
        any = true;
        let graph = &program.tasks[access.task].graph;
        let holds =
            graph.held[access.node].iter().any(|taken| takes.contains(&Access { task: access.task, node: *taken }));
        early &= !holds;
    }
    any && early
}
