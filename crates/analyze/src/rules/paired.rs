//! DL004: two pieces of state that belong together, changed with a checkpoint between, and looked at together elsewhere.

use std::collections::BTreeSet;

use super::{Found, Rule, excluded, gap_of};
use crate::flow::{Reach, Stops, onwards, same, throughout};
use crate::graph::{Event, Loc, Writing};
use crate::program::{Access, Program};

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    let mut done: BTreeSet<(Loc, Loc)> = BTreeSet::new();
    for (at, task) in program.tasks.iter().enumerate() {
        if task.preempted {
            continue;
        }
        let graph = &task.graph;
        let writes: Vec<(usize, Loc, &String, Writing)> = graph
            .nodes
            .iter()
            .enumerate()
            .filter(|(node, _)| !graph.before[*node].is_empty())
            .filter_map(|(node, it)| match &it.event {
                Event::Write {
                    loc, key: Some(key), how: how @ (Writing::Add | Writing::Remove), own: false, ..
                } => Some((node, *loc, key, *how)),
                _ => None,
            })
            .collect();
        for (first, one, key, how) in &writes {
            let others: Vec<_> = writes
                .iter()
                .filter(|(_, other, with, also)| {
                    other != one && with == key && also == how && owner(program, *one) == owner(program, *other)
                })
                .filter(|(second, ..)| graph.nodes[*second].call == graph.nodes[*first].call)
                .collect();
            if others.is_empty() {
                continue;
            }
            let stops = Stops {
                loc: *one,
                key: Some(key),
                anywhere: false,
                looks_again: false,
                writes: true,
                edges: [true, false, false],
            };
            let reach = Reach::of(graph, *first, &stops);
            for (second, other, ..) in others {
                if done.contains(&(*one, *other)) {
                    continue;
                }
                let Some(path) = reach.path(*second).filter(|path| onwards(path)) else { continue };
                let holding = throughout(graph, &path);
                let opens = Access { task: at, node: *first };
                let Some(remote) = looked_at_together(program, *one, *other, opens, &holding) else { continue };
                done.insert((*one, *other));
                found.push(Found {
                    rule: Rule::PairedState,
                    loc: *one,
                    second: Some(*other),
                    task: at,
                    opens: *first,
                    gap: gap_of(program, at, &path),
                    closes: *second,
                    remote: Some(remote),
                    lock: None,
                    path,
                });
            }
        }
    }
}

/// `Sessions` of `Sessions.names`; the module's of a global.
fn owner<'p>(program: &'p Program<'_, '_>, loc: Loc) -> &'p str {
    program.names.name(loc).rsplit_once('.').map_or("", |(owner, _)| owner)
}

/// An access of a function that looks at both.
fn looked_at_together(
    program: &Program<'_, '_>,
    one: Loc,
    other: Loc,
    opens: Access,
    holding: &[usize],
) -> Option<Access> {
    let reads = |loc: Loc| {
        program.accesses.get(&loc).into_iter().flatten().copied().filter(|access| {
            matches!(program.node(*access).event, Event::Read { .. } | Event::Write { how: Writing::Atomic, .. })
        })
    };
    reads(one).find(|access| {
        let key = match &program.node(*access).event {
            Event::Read { key, .. } | Event::Write { key, .. } => key.as_ref(),
            _ => None,
        };
        let beside = reads(other).any(|second| {
            let with = match &program.node(second).event {
                Event::Read { key, .. } | Event::Write { key, .. } => key.as_ref(),
                _ => None,
            };
            second.task == access.task
                && program.node(second).function == program.node(*access).function
                && same(with, key)
        });
        let own = program.node(*access).function == program.node(opens).function;
        beside && !own && program.runs_beside(opens, *access) && !excluded(program, opens.task, holding, *access)
    })
}
