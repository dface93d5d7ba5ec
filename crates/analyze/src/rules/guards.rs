//! DL008: one side holds a lock over two accesses, the other side does not hold it.

use super::{Found, Rule, changes, excluded, gap_of};
use crate::flow::{Reach, Stops, lock_of, throughout};
use crate::graph::{Event, Loc, NodeId, Reading, Writing};
use crate::program::{Access, Program};

/// Whether most accesses hold a lock: then the others have forgotten it.
fn is_custom(program: &Program<'_, '_>, accesses: &[Access], lock: Loc) -> bool {
    let mut places: std::collections::BTreeMap<(drawloom_syntax::Span, bool), bool> = std::collections::BTreeMap::new();
    for access in accesses {
        let graph = &program.tasks[access.task].graph;
        let node = program.node(*access);
        let holds = graph.held[access.node]
            .iter()
            .any(|taken| lock_of(&graph.nodes[*taken].event).is_some_and(|(of, ..)| of == lock));
        *places.entry((node.span, matches!(node.event, Event::Write { .. }))).or_default() |= holds;
    }
    let with = places.values().filter(|held| **held).count();
    // A lock that protects it is taken where it is used, at least once.
    let here = accesses.iter().any(|access| {
        let graph = &program.tasks[access.task].graph;
        graph.held[access.node].iter().any(|taken| {
            graph.nodes[*taken].function == graph.nodes[access.node].function
                && lock_of(&graph.nodes[*taken].event).is_some_and(|(of, ..)| of == lock)
        })
    });
    here && 2 * with >= places.len()
}

/// DL008: two accesses under a lock with something between, and a write elsewhere without it.
pub(super) fn find(program: &Program<'_, '_>, loc: Loc, accesses: &[Access], found: &mut Vec<Found>) {
    let unguarded: Vec<Access> = accesses
        .iter()
        .copied()
        .filter(|access| {
            let node = program.node(*access);
            changes(&node.event) && !matches!(&node.event, Event::Write { how: Writing::Atomic, .. })
        })
        .collect();
    if unguarded.is_empty()
        || accesses.iter().all(|access| program.tasks[access.task].graph.held[access.node].is_empty())
    {
        return;
    }
    for opens in accesses {
        let task = &program.tasks[opens.task];
        let graph = &task.graph;
        let locks = &graph.held[opens.node];
        let real: Vec<NodeId> = locks
            .iter()
            .copied()
            .filter(|taken| matches!(graph.nodes[*taken].event, Event::Acquire { shared: false, .. }))
            .collect();
        if real.is_empty() {
            continue;
        }
        let (key, reads) = match &program.node(*opens).event {
            Event::Read { key, .. } => (key.as_ref(), true),
            Event::Write { key, .. } => (key.as_ref(), false),
            _ => continue,
        };
        let stops = Stops {
            loc,
            key,
            anywhere: task.preempted,
            looks_again: false,
            writes: false,
            edges: [true, false, false],
        };
        let reach = Reach::of(graph, opens.node, &stops);
        for closes in accesses.iter().filter(|access| access.task == opens.task && access.node != opens.node) {
            let Some(path) = reach.path(closes.node) else { continue };
            let holding: Vec<NodeId> =
                throughout(graph, &path).into_iter().filter(|taken| real.contains(taken)).collect();
            let Some(taken) = holding.first() else { continue };
            if path.iter().any(|at| matches!(graph.nodes[*at].event, Event::Release { .. }) && task.preempted)
                && holding.is_empty()
            {
                continue;
            }
            let closing_write = matches!(program.node(*closes).event, Event::Write { .. });
            // R W R, R W W, W W R: two accesses of which one at least looks at it.
            if !reads && closing_write {
                continue;
            }
            // Two looks that need not agree are no harm; a loop is one look.
            let loops = |access: &Access| {
                matches!(program.node(*access).event, Event::Read { how: Reading::Iterates | Reading::Next, .. })
            };
            let one_look = loops(opens) && loops(closes);
            if !closing_write && !one_look {
                continue;
            }
            let Some((lock, ..)) = lock_of(&graph.nodes[*taken].event) else { continue };
            if !is_custom(program, accesses, lock) {
                continue;
            }
            let fills = matches!(&program.node(*closes).event, Event::Write { how: Writing::Assign, literal, .. } if !matches!(literal.as_deref(), Some("None" | "False" | "0" | "empty")));
            for remote in &unguarded {
                if remote.task == opens.task && !task.multi {
                    continue;
                }
                let at = program.node(*remote);
                // Whoever fills what is missing finds it missing as well where somebody else has emptied it.
                if fills && graph.tested[opens.node] && super::pairs::empties(&at.event) {
                    continue;
                }
                let with = match &at.event {
                    Event::Write { key, .. } => key.as_ref(),
                    _ => None,
                };
                // Those who only add find what others added there still.
                if !crate::flow::may_be_same(with, key)
                    || excluded(program, opens.task, &holding, *remote)
                    || !program.runs_beside(*opens, *remote)
                    || !program.tasks[remote.task].graph.held[remote.node].iter().all(|taken| {
                        !matches!(
                            program.tasks[remote.task].graph.nodes[*taken].event,
                            Event::Acquire { shared: false, .. }
                        )
                    })
                {
                    continue;
                }
                if at.function == program.node(*opens).function && !closing_write {
                    continue;
                }
                let gap = gap_of(program, opens.task, &path);
                if gap.is_none() && !task.preempted {
                    continue;
                }
                found.push(Found {
                    rule: Rule::MissingGuard,
                    loc,
                    second: None,
                    task: opens.task,
                    opens: opens.node,
                    gap,
                    closes: closes.node,
                    remote: Some(*remote),
                    lock: Some(lock),
                    path: path.clone(),
                });
            }
        }
    }
}
