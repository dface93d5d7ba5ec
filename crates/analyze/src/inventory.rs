//! What several tasks use, with its guards, and where tasks can be left: the first two sections of an analysis.

use std::collections::{BTreeMap, BTreeSet};

use drawloom_report::Place;
use drawloom_report::explain::{Accessor, Checkpoint, GuardCell, SharedState};
use drawloom_syntax::Span;

use crate::flow::lock_of;
use crate::graph::{Certainty, Event, Loc, NodeId, Why};
use crate::lower::RootKind;
use crate::program::{Access, Program};
use crate::types::Type;

/// Lines of a file, and its name.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) lines: Vec<&'a str>,
}

impl Source<'_> {
    pub(crate) fn line(&self, line: u32) -> String {
        self.lines.get(line.saturating_sub(1) as usize).map(|line| line.trim().to_owned()).unwrap_or_default()
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        Place { file: self.path.to_owned(), line: span.line.max(1), column: span.column }
    }
}

/// State that is shared: what more than one task can reach, and somebody writes.
pub(crate) fn shared(program: &Program<'_, '_>, source: &Source<'_>, wanted: &BTreeSet<Loc>) -> Vec<SharedState> {
    let mut all = Vec::new();
    for (loc, accesses) in &program.accesses {
        let kind = program.kind(*loc);
        if kind.synchronises() && !kind.is_lock() && !wanted.contains(loc) {
            continue;
        }
        let several = accesses.iter().any(|one| accesses.iter().any(|other| program.runs_beside(*one, *other)));
        let written = accesses.iter().any(|access| matches!(program.node(*access).event, Event::Write { .. }));
        let matters = several && written;
        if !matters && !wanted.contains(loc) {
            continue;
        }
        let who = |write: bool| {
            let mut by: BTreeMap<&str, BTreeSet<Span>> = BTreeMap::new();
            for access in accesses {
                let node = program.node(*access);
                let writes = matches!(node.event, Event::Write { .. });
                if writes == write {
                    by.entry(program.facts.function(node.function).qualified.as_str()).or_default().insert(node.span);
                }
            }
            let all = by.into_iter().map(|(name, spans)| {
                let mut places: Vec<Place> = spans.into_iter().map(|span| source.place(span)).collect();
                places.dedup_by_key(|place| place.line);
                Accessor { task: if name.is_empty() { "module".to_owned() } else { name.to_owned() }, places }
            });
            all.collect::<Vec<Accessor>>()
        };
        all.push(SharedState {
            state: program.names.name(*loc).to_owned(),
            resource: all.len() as u32,
            writers: who(true),
            readers: who(false),
            guard: guard(program, accesses),
        });
    }
    all
}

/// What protects it: the lock that is held at all accesses, or at most of them.
pub(crate) fn guard(program: &Program<'_, '_>, accesses: &[Access]) -> GuardCell {
    let mut counts: BTreeMap<Loc, BTreeSet<(Span, u32)>> = BTreeMap::new();
    let mut places: BTreeSet<(Span, u32)> = BTreeSet::new();
    let mut within = true;
    for access in accesses {
        let task = &program.tasks[access.task];
        if task.root.kind == RootKind::Entry && task.graph.alive[access.node].is_empty() {
            continue;
        }
        let node = program.node(*access);
        let kind = u32::from(matches!(node.event, Event::Write { .. }));
        places.insert((node.span, kind));
        within &= !task.preempted;
        for taken in &task.graph.held[access.node] {
            if let Some((lock, _, _)) = lock_of(&task.graph.nodes[*taken].event) {
                counts.entry(lock).or_default().insert((node.span, kind));
            }
        }
    }
    let of = places.len() as u64;
    let best = counts.iter().max_by_key(|(lock, held)| (held.len(), std::cmp::Reverse(**lock)));
    match best {
        Some((lock, held)) => {
            let (name, held) = (program.names.name(*lock).to_owned(), held.len() as u64);
            let latch =
                !program.kind(*lock).is_lock() && !matches!(program.kind(*lock), Type::Around(..) | Type::Container(_));
            let text = match (held == of, latch) {
                (true, true) => format!("busy flag {name}"),
                (true, false) => name.clone(),
                (false, _) => format!("{name} ({held}/{of} accesses)"),
            };
            GuardCell { text, lock: Some(name), held, of }
        }
        None if program.kind_is_atomic(accesses) => GuardCell { text: "atomic".to_owned(), lock: None, held: 0, of },
        None if within && accesses.iter().all(|access| alone(program, *access)) => {
            GuardCell { text: "single step (no checkpoint inside)".to_owned(), lock: None, held: 0, of }
        }
        None => GuardCell { text: "UNGUARDED".to_owned(), lock: None, held: 0, of },
    }
}

/// Whether the function of an access has no checkpoint.
fn alone(program: &Program<'_, '_>, access: Access) -> bool {
    let graph = &program.tasks[access.task].graph;
    !graph.nodes.iter().any(|node| crate::flow::switches(&node.event))
}

/// Where tasks can be left, and what wakes others or gives locks back.
pub(crate) fn checkpoints(program: &Program<'_, '_>, source: &Source<'_>) -> Vec<Checkpoint> {
    // The same place in the graphs of several roots: the surest mark counts.
    let mut marks: BTreeMap<(u32, u32), (u8, String)> = BTreeMap::new();
    for task in &program.tasks {
        for (at, node) in task.graph.nodes.iter().enumerate() {
            if at != 0 && task.graph.before[at].is_empty() {
                continue;
            }
            let Some((rank, text)) = mark(program, task, at) else { continue };
            let entry = marks.entry((node.span.line, rank.into())).or_insert((rank, text.clone()));
            if entry.0 < rank {
                *entry = (rank, text);
            }
        }
    }
    let mut by_line: BTreeMap<u32, Vec<(u8, String)>> = BTreeMap::new();
    for ((line, _), mark) in marks {
        by_line.entry(line).or_default().push(mark);
    }
    let mut all = Vec::new();
    for (line, mut marks) in by_line {
        marks.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        // A certain checkpoint makes a possible one needless; what is done on the way out is said beside it.
        let (first, rest) = (marks[0].clone(), &marks[1..]);
        let mut texts = vec![first.1];
        texts.extend(
            rest.iter().filter(|(rank, text)| *rank == 2 && text.contains("exit")).map(|(_, text)| text.clone()),
        );
        for text in texts {
            all.push(Checkpoint {
                place: Some(Place { file: source.path.to_owned(), line, column: 0 }),
                source: Some(source.line(line)),
                mark: text,
                step: 0,
                taken: false,
            });
        }
    }
    all
}

/// The mark of a node, and how much it says.
fn mark(program: &Program<'_, '_>, task: &crate::program::Task, at: NodeId) -> Option<(u8, String)> {
    Some(match &task.graph.nodes[at].event {
        Event::Checkpoint { why: Why::CancelOnly, .. } => (4, "CANCEL-POINT ONLY".to_owned()),
        Event::Checkpoint { why: Why::Exit, .. } => (2, "CHECKPOINT (on exit)".to_owned()),
        Event::Checkpoint { certainty: Certainty::Always, .. } => (9, "CHECKPOINT".to_owned()),
        Event::Checkpoint { certainty: Certainty::May, note, .. } => {
            let note = if note.is_empty() { "it depends" } else { note };
            (8, format!("MAY CHECKPOINT ({note})"))
        }
        Event::Suspend => (7, "SUSPEND (caller runs)".to_owned()),
        Event::Wake { loc, .. } => {
            let waiting = waits_for(program, *loc);
            (6, format!("(wakes {waiting}, no switch yet)"))
        }
        Event::Release { lock, .. } if !task.graph.nodes[at].event.eq(&Event::Nothing) && explicit(task, at, *lock) => {
            (5, "(not a checkpoint, but changes lock state)".to_owned())
        }
        _ => return None,
    })
}

/// Whether a lock is given back by a call, and not at the end of a `with`: then it is where the lock was taken.
fn explicit(task: &crate::program::Task, at: NodeId, lock: Loc) -> bool {
    let span = task.graph.nodes[at].span;
    !task
        .graph
        .nodes
        .iter()
        .any(|node| matches!(node.event, Event::Acquire { lock: of, .. } if of == lock) && node.span.line == span.line)
}

/// The function that waits for an event; the event itself if that is not known.
fn waits_for(program: &Program<'_, '_>, loc: Loc) -> String {
    for task in &program.tasks {
        for node in &task.graph.nodes {
            if matches!(node.event, Event::Wait { loc: of } if of == loc) {
                return program.facts.function(node.function).name.clone();
            }
        }
    }
    // An event that was looked up: whoever waits for one of those.
    let waiters: BTreeSet<&str> = program
        .tasks
        .iter()
        .flat_map(|task| task.graph.nodes.iter())
        .filter(|node| matches!(node.event, Event::Checkpoint { why: Why::Wakeup, .. }))
        .map(|node| program.facts.function(node.function).name.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    match waiters.len() {
        1 => waiters.into_iter().next().unwrap_or_default().to_owned(),
        _ => "a waiter".to_owned(),
    }
}
