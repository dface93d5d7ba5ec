//! Two accesses of one task to one piece of state: DL001, DL002, DL003, DL011, DL012, DL013.

use drawloom_syntax::Language;

use super::{Found, Rule, changes, gap_of, intruder};
use crate::flow::{Reach, Stops, onwards, same, switches, throughout};
use crate::graph::{DECREMENT, Event, Graph, IF_THERE, INCREMENT, LOCK, Loc, MERGE, NodeId, Reading, Why, Writing};
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
        super::guards::find(program, *loc, accesses, found);
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
    let read_as = match &graph.nodes[opens.node].event {
        Event::Read { how, .. } => Some(*how),
        _ => None,
    };
    // The keys of all elements are no value of one of them.
    let keys_alone = read_as == Some(Reading::Snapshot) && key.is_none() && closing_key.is_some();
    let flows = depends && replaces && !keys_alone || emptied(program, graph, opens.node, closes.node, path);
    let taken_by_index = depends && *how == Writing::Remove && read_as == Some(Reading::Value);
    let controls = taken_by_index || graph.tested[opens.node] && decided(opens.node, closes.node);
    let gap = gap_of(program, opens.task, path);
    // A cell is one thread's: others come in at checkpoints alone.
    if matches!(program.kind(loc), Type::Cell(_)) && gap.is_none() {
        return None;
    }
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
    } else if controls || waits_if_full(graph, opens.node, closes.node, gap) {
        if program.facts.module.language == Language::Rust { Rule::AtomicPair } else { Rule::CheckThenAct }
    } else {
        return None;
    };
    // What is added to the end of a list does not care whether others are in it.
    let appends = *how == Writing::Add && closing_key.is_none();
    if matches!(rule, Rule::CheckThenAct | Rule::AtomicPair) && appends && read_as == Some(Reading::Empty) {
        return None;
    }
    let merges = literal.as_deref() == Some(MERGE);
    let queued = matches!(program.kind(loc), Type::Queue(_)) && *how == Writing::Add;
    if rule == Rule::CheckThenAct && (merges && read_as != Some(Reading::Contains) || queued) {
        return None;
    }
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

/// Whether a task takes all that is in a container, lets others run, and then empties it: what was added in between is lost.
fn emptied(program: &Program<'_, '_>, graph: &Graph, opens: NodeId, closes: NodeId, path: &[NodeId]) -> bool {
    let (looked, acted) = (&graph.nodes[opens], &graph.nodes[closes]);
    let taken = matches!(looked.event, Event::Read { how: Reading::Value | Reading::Snapshot, key: None, .. });
    let empties = match &acted.event {
        Event::Write { how: Writing::Clear, key: None, .. } => true,
        Event::Write { how: Writing::Assign, key: None, literal, .. } => literal.as_deref() == Some("empty"),
        _ => false,
    };
    let between = path.iter().any(|at| switches(&graph.nodes[*at].event));
    let function = &program.facts.function(acted.function).name;
    taken && empties && between && !graph.tested[opens] && looked.call == acted.call && !crate::customs::ends(function)
}

/// Whether a task waits if there is no room, and then goes in without another look.
fn waits_if_full(graph: &Graph, opens: NodeId, closes: NodeId, gap: Option<NodeId>) -> bool {
    let Some(gap) = gap else { return false };
    let looked = match graph.nodes[opens].event {
        Event::Read { how, key: None, .. } => how,
        _ => return false,
    };
    // `len(x) >= most`, `n >= most`
    let grows = match &graph.nodes[closes].event {
        Event::Write { how: Writing::Add, .. } => looked == Reading::Contains,
        Event::Write { literal: Some(text), .. } => text == INCREMENT && looked == Reading::Value,
        _ => false,
    };
    let decided = graph.nodes[gap].controls.iter().any(|branch| match &graph.nodes[*branch].event {
        Event::Branch { reads } => reads.contains(&opens),
        _ => false,
    });
    grows && decided && graph.tested[opens] && graph.nodes[opens].call == graph.nodes[closes].call
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
pub(super) fn empties(event: &Event) -> bool {
    match event {
        Event::Write { how: Writing::Remove | Writing::Clear, .. } => true,
        Event::Write { how: Writing::Assign, literal, .. } => {
            matches!(literal.as_deref(), Some("None" | "False" | "0" | "empty"))
        }
        _ => false,
    }
}
