//! Patterns that are no mistake in themselves: DN101 to DN107.

use std::collections::BTreeMap;

use drawloom_syntax::Language;

use crate::finding::Note;
use crate::graph::{Certainty, Event, INCREMENT, Why, Writing};
use crate::inventory::Source;
use crate::program::Program;
use crate::rules::{Found, Rule};
use crate::types::{Framework, LockKind, Type};

/// The notes on a file.
pub(crate) fn notes(program: &Program<'_, '_>, source: &Source<'_>, found: &[Found]) -> Vec<Note> {
    let mut all: BTreeMap<(u32, &'static str), Note> = BTreeMap::new();
    let mut add = |rule: &'static str, span: drawloom_syntax::Span, text: String| {
        let note = Note { rule, place: source.place(span), source: source.line(span.line), text };
        all.entry((span.line, rule)).or_insert(note);
    };
    for it in found {
        let graph = &program.tasks[it.task].graph;
        match (it.rule, it.gap.map(|gap| &graph.nodes[gap])) {
            (Rule::LockLifetime, _) => {
                if let Some(remote) = it.remote {
                    let name = program.names.name(it.loc);
                    let text = format!(
                        "one task removes the entry of `{name}` here, while another task may still be cleaning up the state that it protects"
                    );
                    add("DN101", program.node(remote).span, text);
                }
            }
            (Rule::PairedState, Some(node)) if matches!(node.event, Event::Checkpoint { why: Why::Exit, .. }) => {
                let (one, other) =
                    (program.names.name(it.loc), it.second.map(|loc| program.names.name(loc)).unwrap_or_default());
                add(
                    "DN102",
                    node.span,
                    format!(
                        "the end of this `async with` runs between the removal from `{one}` and that from `{other}`"
                    ),
                );
            }
            _ => {}
        }
    }
    let trio = matches!(program.facts.tasks(), Framework::Trio | Framework::Anyio);
    let python = program.facts.module.language == Language::Python;
    for task in &program.tasks {
        let graph = &task.graph;
        for (at, node) in graph.nodes.iter().enumerate() {
            if at != 0 && graph.before[at].is_empty() {
                continue;
            }
            match &node.event {
                // A count for all keys, raised where everything else is done for one key.
                Event::Write { loc, key: None, literal: Some(text), .. } if text == INCREMENT => {
                    let keyed: Vec<&str> = graph
                        .nodes
                        .iter()
                        .filter(|other| other.function == node.function)
                        .filter_map(|other| match &other.event {
                            Event::Write { loc: of, key: Some(_), how: Writing::Add | Writing::Remove, .. } => {
                                Some(program.names.name(*of))
                            }
                            _ => None,
                        })
                        .collect();
                    let name = program.names.name(*loc);
                    let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
                    let beside =
                        keyed.iter().find(|other| other.rsplit_once('.').map_or("", |(owner, _)| owner) == owner);
                    if let (Some(other), true) = (
                        beside,
                        program.accesses.get(loc).is_some_and(|all| {
                            all.iter().any(|access| program.tasks[access.task].graph.tested[access.node])
                        }),
                    ) {
                        add(
                            "DN103",
                            node.span,
                            format!(
                                "`{name}` counts all keys together, but `{other}` has an entry per key: users of one key keep those of another alive"
                            ),
                        );
                    }
                }
                Event::Wake { .. } if python && !task.preempted && changes_before_switch(graph, at) => {
                    add(
                        "DN104",
                        node.span,
                        "this wakes a task without a switch: the code up to the next checkpoint runs first".to_owned(),
                    );
                }
                Event::Checkpoint { certainty, why, .. }
                    if node.cleanup
                        && python
                        && *certainty != Certainty::Never
                        && *why != Why::Exit
                        && !task.preempted =>
                {
                    let released = graph.nodes[at]
                        .next
                        .iter()
                        .any(|(next, _)| matches!(graph.nodes[*next].event, Event::Release { .. }));
                    if *why == Why::Wakeup {
                        add(
                            "DN106",
                            node.span,
                            "this clean-up waits without a time limit: if no task wakes it, it never ends".to_owned(),
                        );
                    } else if trio {
                        add(
                            "DN105",
                            node.span,
                            format!(
                                "an `await` in a handler or `finally` raises at once in a scope that was cancelled{}",
                                if released { ", and the lock is released after it" } else { "" }
                            ),
                        );
                    }
                }
                Event::Checkpoint { .. } if program.facts.module.language == Language::Rust => {
                    let sync = graph.held[at].iter().find_map(|taken| match graph.nodes[*taken].event {
                        Event::Acquire { lock, .. } if !awaited_lock(graph, *taken) => Some(lock),
                        _ => None,
                    });
                    if let Some(lock) = sync.filter(|lock| {
                        matches!(
                            program.kind(*lock),
                            Type::Around(LockKind::Mutex | LockKind::ReadWrite, _) | Type::ConcurrentMap(_)
                        )
                    }) {
                        let name = program.names.name(lock);
                        add(
                            "DN107",
                            node.span,
                            format!(
                                "the guard of `{name}` is held over this `.await`: another task on this thread that wants it never gets it (clippy's await_holding_lock says the same)"
                            ),
                        );
                    }
                }
                _ => {}
            }
        }
    }
    all.into_values().collect()
}

/// Whether state is written after a wake-up, before anybody can run.
fn changes_before_switch(graph: &crate::graph::Graph, at: usize) -> bool {
    let mut left = vec![at];
    let mut seen = vec![false; graph.nodes.len()];
    while let Some(node) = left.pop() {
        for (next, _) in &graph.nodes[node].next {
            if std::mem::replace(&mut seen[*next], true) || crate::flow::switches(&graph.nodes[*next].event) {
                continue;
            }
            if matches!(graph.nodes[*next].event, Event::Write { how: Writing::Remove | Writing::Assign, .. }) {
                return true;
            }
            left.push(*next);
        }
    }
    false
}

/// Whether a lock is one of tasks: the checkpoint of its `.await` comes just before.
fn awaited_lock(graph: &crate::graph::Graph, taken: usize) -> bool {
    graph.before[taken]
        .iter()
        .any(|before| matches!(graph.nodes[*before].event, Event::Checkpoint { why: Why::Lock, .. }))
}
