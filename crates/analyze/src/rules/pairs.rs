//! Two accesses of one task to one piece of state: DL001, DL002, DL003, DL008, DL011, DL012, DL013.

use drawloom_syntax::Language;

use super::{Found, Rule, changes, excluded, gap_of, intruder};
use crate::flow::{Reach, Stops, lock_of, onwards, same, switches, throughout};
use crate::graph::{DECREMENT, Event, Graph, IF_THERE, LOCK, Loc, NodeId, Reading, Why, Writing};
use crate::program::{Access, Program};
use crate::types::Type;

pub(super) fn find(program: &Program<'_, '_>, found: &mut Vec<Found>) {
    for (loc, accesses) in &program.accesses {
        if program.is_ordering(*loc) {
            continue;
        }
        for opens in accesses {
            let Event::Read { key, how, .. } = &program.node(*opens).event else { continue };
            if matches!(how, Reading::Iterates | Reading::Next) {
                continue;
            }
            from(program, *loc, *opens, key.as_ref(), found);
        }
        guards(program, *loc, accesses, found);
    }
}

/// Windows that a read opens.
fn from(program: &Program<'_, '_>, loc: Loc, opens: Access, key: Option<&String>, found: &mut Vec<Found>) {
    let task = &program.tasks[opens.task];
    let graph = &task.graph;
    let writes: Vec<Access> = program.accesses[&loc]
        .iter()
        .copied()
        .filter(|access| access.task == opens.task)
        .filter(|access| match &program.node(*access).event {
            Event::Write { key: with, how, .. } => *how != Writing::Atomic && same(with.as_ref(), key),
            _ => false,
        })
        .collect();
    if writes.is_empty() {
        return;
    }
    // Whether a thread can come into a task.
    let with_threads =
        !task.preempted && program.accesses[&loc].iter().any(|access| program.tasks[access.task].preempted);
    for anywhere in [task.preempted, true] {
        if anywhere && !task.preempted && !with_threads {
            break;
        }
        let stops = Stops { loc, key, anywhere, looks_again: true, writes: true, edges: [true, true, false] };
        let reach = Reach::of(graph, opens.node, &stops);
        for closes in &writes {
            let Some(path) = reach.path(closes.node).filter(|path| onwards(path)) else { continue };
            if let Some(it) = window(program, loc, opens, *closes, key, &path, anywhere && !task.preempted) {
                found.push(it);
            }
        }
        if task.preempted {
            break;
        }
    }
}

fn window(
    program: &Program<'_, '_>,
    loc: Loc,
    opens: Access,
    closes: Access,
    key: Option<&String>,
    path: &[NodeId],
    threads_only: bool,
) -> Option<Found> {
    let graph = &program.tasks[opens.task].graph;
    let closing = program.node(closes);
    let Event::Write { from, literal, own, how, key: closing_key, .. } = &closing.event else { return None };
    if *own && *how != Writing::Assign {
        return None;
    }
    // What is undone in a handler was done by this task; unless what is left there is decided by something out of date.
    let outdated = *how == Writing::Remove
        && closing_key.is_some()
        && closing_key.as_ref() == key
        && matches!(&program.node(opens).event, Event::Read { how: Reading::Value, .. })
        && closing.cleanup
        && matches!(program.kind(loc).element(), Type::Container(_));
    if closing.cleanup && !program.node(opens).cleanup && !outdated {
        return None;
    }
    let decided = |by: NodeId, node: NodeId| {
        graph.nodes[node].controls.iter().any(|branch| match &graph.nodes[*branch].event {
            Event::Branch { reads } => reads.contains(&by),
            _ => false,
        })
    };
    // What is added or taken out loses nobody's update: only a value that is put in place of another one does.
    let replaces = *how == Writing::Assign || (*how == Writing::Add && closing_key.is_some());
    let depends = from.contains(&opens.node);
    let flows = depends && replaces;
    let read_as = match &graph.nodes[opens.node].event {
        Event::Read { how, .. } => Some(*how),
        _ => None,
    };
    let taken_by_index = depends && *how == Writing::Remove && read_as == Some(Reading::Value);
    let controls = taken_by_index || graph.tested[opens.node] && decided(opens.node, closes.node);
    let gap = gap_of(program, opens.task, path);
    let waits = path[1..].iter().copied().find(|at| {
        matches!(graph.nodes[*at].event, Event::Checkpoint { why: Why::Wakeup, .. }) && decided(opens.node, *at)
    });
    let woken = graph.tested[opens.node] && waits.is_some() && !program.is_library_wait(graph, path);
    let resets = matches!(literal.as_deref(), Some("None" | "False" | "0"));
    let rule = if outdated && controls && program.facts.module.language == Language::Python {
        Rule::StaleElement
    } else if literal.as_deref() == Some(LOCK) && (controls || flows) {
        Rule::RacedGuard
    } else if woken && !flows && !resets && graph.nodes[opens.node].call == closing.call {
        Rule::WakeOrder
    } else if flows {
        let opening = &graph.nodes[opens.node];
        let inside = gap.is_some_and(|gap| {
            opening.span.line == closing.span.line
                && graph.nodes[gap].span.line >= opening.span.line
                && graph.nodes[gap].span.line <= closing.span.end_line
        });
        if inside { Rule::AwaitInUpdate } else { Rule::ReadModifyWrite }
    } else if controls {
        if program.facts.module.language == Language::Rust { Rule::AtomicPair } else { Rule::CheckThenAct }
    } else {
        return None;
    };
    // To take out or reset what was seen to be there is harmless where another one may have done the same.
    if matches!(rule, Rule::CheckThenAct | Rule::AtomicPair) && (resets || matches!(how, Writing::Clear)) {
        return None;
    }
    // A flag that is set by a helper is not what was decided on: the helper would set it in any case.
    let constant = matches!(literal.as_deref(), Some("True" | "true" | "False" | "false" | "None"));
    if rule == Rule::CheckThenAct && constant && graph.nodes[opens.node].function != closing.function {
        return None;
    }
    // A flag that only ever goes one way: who comes second changes nothing.
    let python = program.facts.module.language == Language::Python;
    if python && rule == Rule::CheckThenAct && program.idempotent(loc, literal.as_deref(), path, opens.task) {
        return None;
    }
    let key = closing_key.as_ref().or(key);
    let holding =
        throughout(graph, from_first_switch(graph, path, program.tasks[opens.task].preempted || threads_only));
    // Whoever takes something out is not harmed by those who put something in.
    let takes = *how == Writing::Remove;
    // To remove what is gone already is no mistake, if it is said so.
    let tolerant = takes && literal.as_deref() == Some(IF_THERE);
    // Whoever fills what is missing finds it missing as well where somebody else has emptied it.
    let fills = rule == Rule::CheckThenAct && (*how == Writing::Assign && !resets || *how == Writing::Add);
    let harms = |event: &Event, remote: Access| {
        changes(event)
            && !((fills || tolerant) && empties(event))
            && (outdated || !(takes && matches!(event, Event::Write { how: Writing::Add, .. })))
            && (!threads_only || program.tasks[remote.task].preempted)
            && (remote.task != opens.task || program.tasks[remote.task].multi || remote.node != closes.node)
    };
    let behind = if rule == Rule::WakeOrder { queues(graph, opens.node, path) } else { Vec::new() };
    // Whoever gives back does not come first; whoever takes does.
    let gives = |event: &Event| {
        empties(event) || matches!(event, Event::Write { literal: Some(text), .. } if text == DECREMENT)
    };
    let harms = |event: &Event, remote: Access| {
        let first = rule != Rule::WakeOrder || takes || !gives(event);
        harms(event, remote) && first && !looks_at(program, remote, &behind)
    };
    let remote = intruder(program, loc, key, opens, &holding, &harms)?;
    Some(Found {
        rule,
        loc,
        second: None,
        task: opens.task,
        opens: opens.node,
        gap: waits.filter(|_| rule == Rule::WakeOrder).or(gap),
        closes: closes.node,
        remote: Some(remote),
        lock: None,
        path: path.to_vec(),
    })
}

/// The part of a path on which others can come in: nobody does before the first checkpoint.
fn from_first_switch<'p>(graph: &Graph, path: &'p [NodeId], anywhere: bool) -> &'p [NodeId] {
    let first = path.iter().position(|at| switches(&graph.nodes[*at].event));
    match first {
        Some(first) if !anywhere && first > 0 => &path[first..],
        _ => path,
    }
}

/// The queues that a task has entered before it waits, and leaves only when it runs again.
fn queues(graph: &Graph, opens: NodeId, path: &[NodeId]) -> Vec<Loc> {
    let call = graph.nodes[opens].call;
    let at = |how: Writing| {
        graph.nodes.iter().filter(move |node| node.call == call).filter_map(move |node| match &node.event {
            Event::Write { loc, how: it, .. } if *it == how => Some(*loc),
            _ => None,
        })
    };
    let entered = path.iter().filter_map(|at| match &graph.nodes[*at].event {
        Event::Write { loc, how: Writing::Add, .. } => Some(*loc),
        _ => None,
    });
    entered.filter(|queue| at(Writing::Remove).any(|left| left == *queue)).collect()
}

/// Whether a write is made only after a look at one of these queues: newcomers stand in line.
fn looks_at(program: &Program<'_, '_>, at: Access, queues: &[Loc]) -> bool {
    let graph = &program.tasks[at.task].graph;
    let decisions = graph.nodes[at.node].controls.iter().filter_map(|branch| match &graph.nodes[*branch].event {
        Event::Branch { reads } => Some(reads.iter()),
        _ => None,
    });
    let mut looks = decisions.flatten().filter_map(|read| match &graph.nodes[*read].event {
        Event::Read { loc, .. } => Some(*loc),
        _ => None,
    });
    looks.any(|loc| queues.contains(&loc))
}

/// Whether an event leaves nothing.
fn empties(event: &Event) -> bool {
    match event {
        Event::Write { how: Writing::Remove | Writing::Clear, .. } => true,
        Event::Write { how: Writing::Assign, literal, .. } => {
            matches!(literal.as_deref(), Some("None" | "False" | "0" | "empty"))
        }
        _ => false,
    }
}

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
fn guards(program: &Program<'_, '_>, loc: Loc, accesses: &[Access], found: &mut Vec<Found>) {
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
                if fills && graph.tested[opens.node] && empties(&at.event) {
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
