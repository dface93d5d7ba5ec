//! What holds at each node of a graph, by fixed points: locks held, tasks that may still run. And the paths between two accesses.

use std::collections::VecDeque;

use crate::graph::{Certainty, Edge, Event, Graph, Loc, NodeId, Reading, Why, Writing};

/// Works out what holds at each node. `latches`: whether a busy flag counts as a lock, as it does where only checkpoints switch.
pub(crate) fn analyse(graph: &mut Graph, latches: bool) {
    let count = graph.nodes.len();
    graph.before = vec![Vec::new(); count];
    for from in 0..count {
        for at in 0..graph.nodes[from].next.len() {
            let to = graph.nodes[from].next[at].0;
            graph.before[to].push(from);
        }
    }
    graph.tested = vec![false; count];
    for node in &graph.nodes {
        if let Event::Branch { reads } = &node.event {
            for read in reads {
                graph.tested[*read] = true;
            }
        }
    }
    graph.just_read = vec![Vec::new(); count];
    for (at, node) in graph.nodes.iter().enumerate() {
        let Event::Branch { reads } = &node.event else { continue };
        if reads.len() > 1 {
            let just = reads.iter().copied().filter(|read| *read < at && straight(graph, *read, at));
            graph.just_read[at] = just.collect();
        }
    }
    let latch = if latches { find_latches(graph) } else { vec![Latch::No; count] };
    graph.held = held(graph, &latch);
    graph.alive = alive(graph);
}

/// What a write is to a busy flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Latch {
    No,
    Takes,
    Gives,
}

/// Busy flags: tested, then set without a checkpoint between, and reset somewhere. Whoever sets it has what it protects alone.
fn find_latches(graph: &Graph) -> Vec<Latch> {
    let mut found = vec![Latch::No; graph.nodes.len()];
    for (at, node) in graph.nodes.iter().enumerate() {
        let Event::Write { loc, key, how, literal, own, .. } = &node.event else { continue };
        let sets = match how {
            Writing::Assign => literal.as_ref().is_some_and(|text| {
                !resets(text)
                    && !matches!(text.as_str(), crate::graph::INCREMENT | crate::graph::DECREMENT | crate::graph::PART)
            }),
            Writing::Add => key.is_some() && !own,
            _ => false,
        };
        if !sets {
            continue;
        }
        let asserted = graph.nodes[..at].iter().enumerate().filter(|(_, it)| it.call == node.call);
        let asserted = asserted.filter(|(_, it)| matches!(it.event, Event::Asserts { .. })).map(|(id, _)| id);
        let tests = node.controls.iter().copied().chain(asserted);
        let tests = tests.filter_map(|branch| match &graph.nodes[branch].event {
            Event::Branch { reads } | Event::Asserts { reads } => Some(reads.iter()),
            _ => None,
        });
        let tests = tests.flatten().filter(|read| match &graph.nodes[**read].event {
            Event::Read { loc: of, key: with, .. } => of == loc && with == key,
            _ => false,
        });
        let at_once = tests.into_iter().any(|read| straight(graph, *read, at));
        if !at_once {
            continue;
        }
        let mut gives = Vec::new();
        for (other, candidate) in graph.nodes.iter().enumerate() {
            let Event::Write { loc: of, key: with, how, literal, .. } = &candidate.event else { continue };
            let resets = match how {
                Writing::Assign => literal.as_ref().is_some_and(|text| resets(text)),
                Writing::Remove | Writing::Clear => true,
                _ => false,
            };
            if of == loc && (with == key || with.is_none()) && resets && other != at {
                gives.push(other);
            }
        }
        if !gives.is_empty() {
            found[at] = Latch::Takes;
            for give in gives {
                found[give] = Latch::Gives;
            }
        }
    }
    found
}

/// Whether that is what a flag says when nobody is busy.
fn resets(literal: &str) -> bool {
    matches!(literal, "False" | "false" | "None" | "0")
}

/// Whether some path leads from one node to another without a checkpoint.
pub(crate) fn straight(graph: &Graph, from: NodeId, to: NodeId) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut left = VecDeque::from([from]);
    while let Some(at) = left.pop_front() {
        for (next, _) in &graph.nodes[at].next {
            if *next == to {
                return true;
            }
            if !seen[*next] && !switches(&graph.nodes[*next].event) {
                seen[*next] = true;
                left.push_back(*next);
            }
        }
    }
    false
}

/// Whether another task can run at an event.
pub(crate) fn switches(event: &Event) -> bool {
    match event {
        Event::Checkpoint { certainty, why, .. } => *certainty != Certainty::Never && *why != Why::CancelOnly,
        Event::Suspend => true,
        _ => false,
    }
}

/// The lock that an event takes, and for which key.
pub(crate) fn lock_of(event: &Event) -> Option<(Loc, Option<&String>, bool)> {
    match event {
        Event::Acquire { lock, key, shared } => Some((*lock, key.as_ref(), *shared)),
        Event::Write { loc, key, .. } => Some((*loc, key.as_ref(), false)),
        // Whoever gives back what it has not taken has it from the beginning.
        Event::Release { lock, key } => Some((*lock, key.as_ref(), false)),
        _ => None,
    }
}

/// Locks held at each node, whatever path leads there.
fn held(graph: &Graph, latch: &[Latch]) -> Vec<Vec<NodeId>> {
    let mut at_entry: Vec<Option<Vec<NodeId>>> = vec![None; graph.nodes.len()];
    let taken_here = |lock: Loc| {
        graph.nodes.iter().any(|node| matches!(&node.event, Event::Acquire { lock: of, .. } if *of == lock))
    };
    let from_before = (0..graph.nodes.len()).filter(|at| match &graph.nodes[*at].event {
        Event::Release { lock, .. } => !taken_here(*lock),
        _ => false,
    });
    at_entry[0] = Some(from_before.collect());
    let mut left: VecDeque<NodeId> = VecDeque::from([0]);
    let mut rounds = 0;
    while let Some(at) = left.pop_front() {
        rounds += 1;
        if rounds > 60 * graph.nodes.len() {
            break;
        }
        let mut out = at_entry[at].clone().unwrap_or_default();
        match (&graph.nodes[at].event, latch[at]) {
            (Event::Acquire { .. }, _) | (_, Latch::Takes) => {
                if let Err(place) = out.binary_search(&at) {
                    out.insert(place, at);
                }
            }
            // Of a lock that was taken twice the inner one is given back.
            (Event::Release { lock, key }, _) => {
                if let Some(last) = out.iter().rposition(|taken| gives_back(graph, *taken, *lock, key.as_ref())) {
                    out.remove(last);
                }
            }
            (Event::Write { loc, key, .. }, Latch::Gives) => {
                out.retain(|taken| !gives_back(graph, *taken, *loc, key.as_ref()));
            }
            _ => {}
        }
        for (next, _) in &graph.nodes[at].next {
            let merged = match &at_entry[*next] {
                None => out.clone(),
                Some(known) => known.iter().filter(|taken| out.contains(taken)).copied().collect(),
            };
            if at_entry[*next].as_ref() != Some(&merged) {
                at_entry[*next] = Some(merged);
                left.push_back(*next);
            }
        }
    }
    at_entry.into_iter().map(Option::unwrap_or_default).collect()
}

fn gives_back(graph: &Graph, taken: NodeId, lock: Loc, key: Option<&String>) -> bool {
    match lock_of(&graph.nodes[taken].event) {
        Some((of, with, _)) => of == lock && (with == key || with.is_none() || key.is_none()),
        None => false,
    }
}

/// Spawns that may still run at each node.
fn alive(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut at_entry: Vec<Vec<NodeId>> = vec![Vec::new(); graph.nodes.len()];
    if !graph.nodes.iter().any(|node| matches!(node.event, Event::Spawn { .. })) {
        return at_entry;
    }
    let mut reached = vec![false; graph.nodes.len()];
    reached[0] = true;
    let mut left: VecDeque<NodeId> = VecDeque::from([0]);
    while let Some(at) = left.pop_front() {
        let mut out = at_entry[at].clone();
        match &graph.nodes[at].event {
            Event::Spawn { .. } => crate::lower::merge(&mut out, &[at]),
            Event::Join(None) => out.clear(),
            Event::Join(Some(over)) => out.retain(|spawn| !over.contains(spawn)),
            _ => {}
        }
        for (next, edge) in &graph.nodes[at].next {
            if *edge == Edge::Cancel {
                continue;
            }
            let before = at_entry[*next].len();
            let mut merged = std::mem::take(&mut at_entry[*next]);
            crate::lower::merge(&mut merged, &out);
            let grown = merged.len() > before || !reached[*next];
            at_entry[*next] = merged;
            if grown {
                reached[*next] = true;
                left.push_back(*next);
            }
        }
    }
    at_entry
}

/// Where paths from an access lead, on which another task can run.
pub(crate) struct Reach {
    /// For each state (node, switched), the state before it.
    from: Vec<[Option<(NodeId, usize)>; 2]>,
    start: NodeId,
}

/// What ends a path from an access.
pub(crate) struct Stops<'a> {
    pub(crate) loc: Loc,
    pub(crate) key: Option<&'a String>,
    /// Whether a switch can come anywhere, and not at checkpoints alone.
    pub(crate) anywhere: bool,
    /// Whether looking again ends it.
    pub(crate) looks_again: bool,
    /// Whether a write of one's own ends it.
    pub(crate) writes: bool,
    /// Whether only a cancellation's path counts.
    pub(crate) edges: [bool; 3],
}

impl Reach {
    pub(crate) fn of(graph: &Graph, start: NodeId, stops: &Stops<'_>) -> Reach {
        let mut reach = Reach { from: vec![[None; 2]; graph.nodes.len()], start };
        let mut left = VecDeque::from([(start, usize::from(stops.anywhere))]);
        while let Some((at, switched)) = left.pop_front() {
            let node = &graph.nodes[at];
            let mut now = switched;
            if at != start {
                match &node.event {
                    // What is looked up or added in one step is not put in its place.
                    Event::Write { loc, key, how, .. }
                        if *how != Writing::Atomic && *loc == stops.loc && stops.writes && same(key.as_ref(), stops.key) =>
                    {
                        continue;
                    }
                    Event::Read { loc, key, how }
                        if *loc == stops.loc
                            && stops.looks_again
                            && switched == 1
                            && graph.tested[at]
                            && !matches!(how, Reading::Iterates | Reading::Next)
                            && same(key.as_ref(), stops.key)
                            && (!stops.anywhere || !graph.held[at].is_empty()) =>
                    {
                        continue;
                    }
                    // One half of a condition was enough, and the other half was not looked at: the condition was all the same.
                    Event::Branch { .. }
                        if stops.looks_again
                            && switched == 1
                            && (!stops.anywhere || !graph.held[at].is_empty())
                            && graph.just_read[at].iter().any(|read| {
                                *read != start
                                    && matches!(&graph.nodes[*read].event, Event::Read { loc, key, .. } if *loc == stops.loc && same(key.as_ref(), stops.key))
                            }) =>
                    {
                        continue;
                    }
                    _ => {}
                }
                if switches(&node.event) {
                    now = 1;
                }
            }
            for (next, edge) in &node.next {
                let allowed = stops.edges[match edge {
                    Edge::Normal => 0,
                    Edge::Error => 1,
                    Edge::Cancel => 2,
                }];
                if allowed && *next != start && reach.from[*next][now].is_none() {
                    reach.from[*next][now] = Some((at, switched));
                    left.push_back((*next, now));
                }
            }
        }
        reach
    }

    /// The nodes of a shortest path to `to` on which another task can run before it.
    pub(crate) fn path(&self, to: NodeId) -> Option<Vec<NodeId>> {
        let mut path = vec![to];
        let mut at = (to, 1);
        loop {
            let before = self.from[at.0][at.1]?;
            path.push(before.0);
            if before.0 == self.start {
                path.reverse();
                return Some(path);
            }
            at = before;
            if path.len() > self.from.len() * 2 {
                return None;
            }
        }
    }
}

/// Whether a path never goes back to the head of a loop: in the next round variables are others, and what was looked at is, too.
pub(crate) fn onwards(path: &[NodeId]) -> bool {
    path.windows(2).all(|pair| pair[0] < pair[1])
}

/// Whether two keys can be the same one, within one task: nobody knows of what is not written out.
pub(crate) fn same(one: Option<&String>, other: Option<&String>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

/// Whether keys of two tasks can be the same: unless both are written out, and differ.
pub(crate) fn may_be_same(one: Option<&String>, other: Option<&String>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other || !(written_out(one) && written_out(other)),
        _ => true,
    }
}

fn written_out(key: &str) -> bool {
    key.starts_with('"') || key.starts_with(|c: char| c.is_ascii_digit())
}

/// The locks that are held from the first to the last node of a path without a break.
pub(crate) fn throughout(graph: &Graph, path: &[NodeId]) -> Vec<NodeId> {
    let Some((first, rest)) = path.split_first() else { return Vec::new() };
    let mut all = graph.held[*first].clone();
    for at in rest {
        all.retain(|taken| graph.held[*at].contains(taken));
    }
    // What is given back on the way, and taken again by the same node, is not held without a break.
    all.retain(|taken| {
        let own = lock_of(&graph.nodes[*taken].event).map(|(lock, ..)| lock);
        let mut again = 0_u32;
        !path[1..].iter().any(|at| match &graph.nodes[*at].event {
            Event::Acquire { lock, .. } if Some(*lock) == own => {
                again += 1;
                false
            }
            Event::Release { lock, key } if *at != path[path.len() - 1] => {
                let inner = again > 0 && Some(*lock) == own;
                again -= u32::from(inner);
                !inner && gives_back(graph, *taken, *lock, key.as_ref())
            }
            _ => false,
        })
    });
    all
}
