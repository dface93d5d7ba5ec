//! Looks for the shortest cycle of each class in a strongly connected component.
//!
//! A cycle of a class needs certain edges, and allows others between them. The search starts at every edge that
//! the class needs (two, for those with adjacent anti-dependencies) and goes round breadth first, through states
//! that remember what the rest of the cycle must still have. Once a cycle is known, only shorter ones are looked for.

use super::anomaly::{Class, Suffix};
use super::graph::{Dependency, Edge, Graph, Hop, Layer};
use super::history::TxnId;

/// Edges looked at in a component for one class before the search gives up.
const MOST_WORK: u64 = 10_000_000;

/// What a search for one class gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// There is none.
    Nothing,
    /// The shortest one, or the shortest that the budget allowed.
    Cycle(Vec<Hop>),
    /// The budget ran out first.
    Undecided,
}

/// A component with nodes of its own numbering: transactions first, as in the whole graph.
pub(super) struct Component {
    nodes: Vec<u32>,
    transactions: usize,
    first: Vec<u32>,
    edges: Vec<Edge>,
}

const STATES: usize = 8;

/// Where a cycle is after an edge, relative to the anti-dependencies that it has had.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The last edge was the first anti-dependency.
    First = 0,
    /// Since the first one, there has been no other.
    Between = 1,
    /// The last edge was an anti-dependency, not the first.
    Again = 2,
    /// There have been several, and the last edge was none.
    Several = 3,
}

impl Component {
    pub(super) fn new(graph: &Graph, nodes: Vec<u32>, keep: impl Fn(&Edge) -> bool) -> Component {
        let mut first = vec![0];
        let mut edges = Vec::new();
        for node in &nodes {
            for edge in graph.out(*node).iter().filter(|edge| keep(edge)) {
                if let Ok(to) = nodes.binary_search(&edge.to) {
                    edges.push(Edge { to: to as u32, ..*edge });
                }
            }
            first.push(edges.len() as u32);
        }
        let transactions = nodes.partition_point(|node| !graph.is_relay(*node));
        Component { nodes, transactions, first, edges }
    }

    pub(super) fn transactions(&self) -> impl ExactSizeIterator<Item = TxnId> {
        self.nodes[..self.transactions].iter().map(|node| TxnId(*node))
    }

    fn out(&self, node: u32) -> &[Edge] {
        &self.edges[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// The shortest cycle of a class.
    pub(super) fn shortest(&self, class: Class, suffix: Suffix) -> Found {
        let mut search = Search::new(self, class, suffix);
        for start in 0..self.transactions as u32 {
            for anchor in search.hops(start) {
                if class != Class::G2Item {
                    search.go_round(&[anchor]);
                } else {
                    for second in search.hops(anchor.to) {
                        search.go_round(&[anchor, second]);
                        if search.is_over() {
                            break;
                        }
                    }
                }
                if search.is_over() {
                    return search.result();
                }
            }
        }
        search.result()
    }

    fn hop(&self, local: &Local) -> Hop {
        Hop {
            from: TxnId(self.nodes[local.from as usize]),
            to: TxnId(self.nodes[local.to as usize]),
            from_op: local.from_op,
            to_op: local.to_op,
            dependency: local.edge.dependency,
            layer: local.edge.layer,
        }
    }
}

#[derive(Clone, Copy)]
struct Local {
    from: u32,
    to: u32,
    from_op: u32,
    to_op: u32,
    edge: Edge,
}

struct Search<'c> {
    component: &'c Component,
    class: Class,
    suffix: Suffix,
    best: Option<Vec<Local>>,
    work: u64,
    /// Which search reached a node in a state, and over which edge from which state.
    stamp: Vec<u32>,
    reached: Vec<(Local, u8)>,
    round: u32,
    queue: Vec<(u32, u8)>,
    relays: Vec<u32>,
    relay_stamp: Vec<u32>,
    relay_round: u32,
}

impl Class {
    fn anchor(self, dependency: Dependency) -> bool {
        match self {
            Class::G0 => dependency == Dependency::Ww,
            Class::G1c => dependency == Dependency::Wr,
            Class::GSingle | Class::GNonadjacent | Class::G2Item => dependency == Dependency::Rw,
        }
    }

    /// Whether the rest of a cycle may have such an edge.
    pub(super) fn allows(self, dependency: Dependency) -> bool {
        match dependency {
            Dependency::Ww | Dependency::Session | Dependency::RealTime | Dependency::Relay => true,
            Dependency::Wr => self != Class::G0,
            Dependency::Rw => matches!(self, Class::GNonadjacent | Class::G2Item),
            Dependency::Visible => false,
        }
    }
}

impl<'c> Search<'c> {
    fn new(component: &'c Component, class: Class, suffix: Suffix) -> Search<'c> {
        let states = component.nodes.len() * STATES;
        let nowhere = Edge { to: 0, from_op: 0, to_op: 0, dependency: Dependency::Relay, layer: Layer::Data };
        Search {
            component,
            class,
            suffix,
            best: None,
            work: 0,
            stamp: vec![0; states],
            reached: vec![(Local { from: 0, to: 0, from_op: 0, to_op: 0, edge: nowhere }, 0); states],
            round: 0,
            queue: Vec::new(),
            relays: Vec::new(),
            relay_stamp: vec![0; component.nodes.len()],
            relay_round: 0,
        }
    }

    /// All edges from a transaction to others that a cycle of the class needs.
    fn hops(&mut self, from: u32) -> Vec<Local> {
        let component = self.component;
        let mut hops = Vec::new();
        self.relay_round += 1;
        for edge in component.out(from).iter().filter(|edge| self.class.anchor(edge.dependency)) {
            self.work += 1;
            if (edge.to as usize) < component.transactions {
                hops.push(Local { from, to: edge.to, from_op: edge.from_op, to_op: edge.to_op, edge: *edge });
                continue;
            }
            self.relays.clear();
            self.relays.push(edge.to);
            while let Some(relay) = self.relays.pop() {
                if std::mem::replace(&mut self.relay_stamp[relay as usize], self.relay_round) == self.relay_round {
                    continue;
                }
                for end in component.out(relay) {
                    self.work += 1;
                    if end.to as usize >= component.transactions {
                        self.relays.push(end.to);
                    } else if end.to != from {
                        hops.push(Local { from, to: end.to, from_op: edge.from_op, to_op: end.to_op, edge: *edge });
                    }
                }
            }
        }
        hops
    }

    fn is_over(&self) -> bool {
        self.work > MOST_WORK || self.best.as_ref().is_some_and(|best| best.len() == 2)
    }

    fn result(self) -> Found {
        let Search { component, best, work, .. } = self;
        match best {
            Some(best) => Found::Cycle(best.iter().map(|local| component.hop(local)).collect()),
            None if work > MOST_WORK => Found::Undecided,
            None => Found::Nothing,
        }
    }

    /// Whether the edge makes the cycle one of the suffix.
    fn marks(&self, edge: &Edge) -> bool {
        match self.suffix {
            Suffix::None => true,
            Suffix::Process => edge.layer == Layer::Session,
            Suffix::Realtime => edge.layer == Layer::RealTime,
        }
    }

    /// Looks for a shorter cycle that begins with these edges.
    fn go_round(&mut self, anchors: &[Local]) {
        let longest = self.best.as_ref().map_or(usize::MAX, Vec::len);
        let (start, last) = (anchors[0].from, anchors[anchors.len() - 1]);
        let marked = anchors.iter().any(|anchor| self.marks(&anchor.edge));
        let avoided = (anchors.len() == 2).then_some(last.from);
        if anchors.len() >= longest {
            return;
        }
        if last.to == start {
            if marked {
                self.best = Some(anchors.to_vec());
            }
            return;
        }
        self.round += 1;
        self.queue.clear();
        let first_state = Phase::First as u8 | u8::from(marked) << 2;
        self.visit(last, first_state, first_state);
        let (mut at, mut depth, mut level_ends) = (0, anchors.len(), 1);
        while at < self.queue.len() {
            if at == level_ends {
                depth += 1;
                level_ends = self.queue.len();
            }
            if depth + 1 >= longest || self.work > MOST_WORK {
                return;
            }
            let (node, state) = self.queue[at];
            at += 1;
            if let Some((closing, from_state)) = self.expand(node, state, start, avoided) {
                let cycle = self.cycle(anchors, closing, from_state);
                let simple = (1..cycle.len()).all(|i| cycle[..i].iter().all(|before| before.from != cycle[i].from));
                // A walk that meets itself is made of smaller cycles, which have a class of their own.
                if simple {
                    self.best = Some(cycle);
                }
                return;
            }
        }
    }

    /// Follows all edges of a node; returns the one that closes the cycle.
    fn expand(&mut self, node: u32, state: u8, start: u32, avoided: Option<u32>) -> Option<(Local, u8)> {
        let component = self.component;
        for edge in component.out(node) {
            self.work += 1;
            if !self.class.allows(edge.dependency) {
                continue;
            }
            let Some(next) = self.next_state(state, edge) else { continue };
            let local = Local { from: node, to: edge.to, from_op: edge.from_op, to_op: edge.to_op, edge: *edge };
            if (edge.to as usize) < component.transactions {
                if let Some(closing) = self.arrive(local, state, next, start, avoided) {
                    return Some(closing);
                }
                continue;
            }
            self.relays.clear();
            self.relays.push(edge.to);
            while let Some(relay) = self.relays.pop() {
                let slot = relay as usize * STATES + next as usize;
                if self.stamp[slot] == self.round {
                    continue;
                }
                self.stamp[slot] = self.round;
                for end in component.out(relay) {
                    self.work += 1;
                    if end.to as usize >= component.transactions {
                        self.relays.push(end.to);
                    } else if end.to != node {
                        let local = Local { to: end.to, to_op: end.to_op, ..local };
                        if let Some(closing) = self.arrive(local, state, next, start, avoided) {
                            return Some(closing);
                        }
                    }
                }
            }
        }
        None
    }

    fn arrive(&mut self, local: Local, from: u8, state: u8, start: u32, avoided: Option<u32>) -> Option<(Local, u8)> {
        if local.to == start {
            return self.closes(state).then_some((local, from));
        }
        if Some(local.to) != avoided {
            self.visit(local, from, state);
        }
        None
    }

    fn visit(&mut self, local: Local, from: u8, state: u8) {
        let slot = local.to as usize * STATES + state as usize;
        if self.stamp[slot] != self.round {
            self.stamp[slot] = self.round;
            self.reached[slot] = (local, from);
            self.queue.push((local.to, state));
        }
    }

    fn next_state(&self, state: u8, edge: &Edge) -> Option<u8> {
        let marked = state & 4 | u8::from(self.marks(edge)) << 2;
        if self.class != Class::GNonadjacent {
            return Some(marked | state & 3);
        }
        let phase = match (state & 3, edge.dependency == Dependency::Rw) {
            (0 | 1, false) => Phase::Between,
            (1 | 3, true) => Phase::Again,
            (2 | 3, false) => Phase::Several,
            (_, true) => return None,
            (_, false) => Phase::Between,
        };
        Some(marked | phase as u8)
    }

    fn closes(&self, state: u8) -> bool {
        state & 4 != 0 && (self.class != Class::GNonadjacent || state & 3 == Phase::Several as u8)
    }

    /// The edges that led to the closing one, in order.
    fn cycle(&self, anchors: &[Local], closing: Local, from_state: u8) -> Vec<Local> {
        let mut cycle = vec![closing];
        let (mut node, mut state) = (closing.from, from_state);
        let last = anchors[anchors.len() - 1];
        loop {
            let (local, from) = self.reached[node as usize * STATES + state as usize];
            if local.from == last.from && local.to == last.to && (node, state) == self.queue[0] {
                break;
            }
            cycle.push(local);
            (node, state) = (local.from, from);
        }
        cycle.extend(anchors.iter().rev());
        cycle.reverse();
        cycle
    }
}
