//! Dependencies between transactions: who must come before whom, and because of which two micro-operations.
//!
//! Nodes are transactions, and *relays* behind them: a relay stands for all pairs between what leads to it and
//! what it leads to. Real time needs one for each completion, where plain edges would be one for every pair of
//! transactions that are near each other.

use super::history::TxnId;

/// Why one transaction comes before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dependency {
    /// The second wrote what replaced a version of the first.
    Ww,
    /// The second read what the first wrote.
    Wr,
    /// The second wrote what replaced a version that the first read.
    Rw,
    /// The same session ran the second one later.
    Session,
    /// The second began when the first had ended.
    RealTime,
    /// The second read a version of a key, while the first, which also wrote that key, was visible to the reader.
    Visible,
    /// Not a reason of its own: the end of an edge that went to a relay.
    Relay,
}

/// What must be taken for granted to know an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Layer {
    /// Nothing.
    Data,
    /// That transactions of a session take effect in order.
    Session,
    /// That a transaction takes effect between its call and its end.
    RealTime,
}

/// A transaction and one of its micro-operations.
pub(crate) type Place = (u32, u32);

pub(crate) const NO_OP: u32 = u32::MAX;

/// An edge, without the node that it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    /// The micro-operation of the first transaction, or [`NO_OP`].
    pub(crate) from_op: u32,
    /// The micro-operation of the second transaction, or [`NO_OP`].
    pub(crate) to_op: u32,
    pub(crate) dependency: Dependency,
    pub(crate) layer: Layer,
}

/// Edges that are being collected.
#[derive(Debug)]
pub(crate) struct Edges {
    edges: Vec<(u32, Edge)>,
    transactions: u32,
    nodes: u32,
}

impl Edges {
    pub(crate) fn new(transactions: usize, expected: usize) -> Edges {
        Edges { edges: Vec::with_capacity(expected), transactions: transactions as u32, nodes: transactions as u32 }
    }

    /// A new relay.
    pub(crate) fn relay(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }

    pub(crate) fn add(&mut self, from: u32, edge: Edge) {
        if from != edge.to {
            self.edges.push((from, edge));
        }
    }

    pub(crate) fn data(&mut self, dependency: Dependency, (from, from_op): Place, (to, to_op): Place) {
        self.add(from, Edge { to, from_op, to_op, dependency, layer: Layer::Data });
    }

    /// From a relay on.
    pub(crate) fn onwards(&mut self, relay: u32, to: u32, to_op: u32, layer: Layer) {
        self.add(relay, Edge { to, from_op: NO_OP, to_op, dependency: Dependency::Relay, layer });
    }

    /// Every one of `from` before every one of `to`, through a relay if that is shorter.
    pub(crate) fn all_pairs(&mut self, dependency: Dependency, layer: Layer, from: &[Place], to: &[Place]) {
        if from.len() * to.len() <= from.len() + to.len() {
            for &(a, from_op) in from {
                for &(b, to_op) in to {
                    self.add(a, Edge { to: b, from_op, to_op, dependency, layer });
                }
            }
            return;
        }
        let relay = self.relay();
        for &(a, from_op) in from {
            self.add(a, Edge { to: relay, from_op, to_op: NO_OP, dependency, layer });
        }
        for &(b, to_op) in to {
            self.onwards(relay, b, to_op, layer);
        }
    }

    /// The graph. Edges keep the order in which they were added.
    pub(crate) fn finish(self) -> Graph {
        let Edges { edges, transactions, nodes } = self;
        let mut first = vec![0_u32; nodes as usize + 1];
        for (from, _) in &edges {
            first[*from as usize + 1] += 1;
        }
        for node in 0..nodes as usize {
            first[node + 1] += first[node];
        }
        let filler = Edge { to: 0, from_op: NO_OP, to_op: NO_OP, dependency: Dependency::Relay, layer: Layer::Data };
        let mut sorted = vec![filler; edges.len()];
        let mut next = first.clone();
        for (from, edge) in edges {
            let at = &mut next[from as usize];
            sorted[*at as usize] = edge;
            *at += 1;
        }
        Graph { first, edges: sorted, transactions }
    }
}

/// A dependency graph.
#[derive(Debug)]
pub(crate) struct Graph {
    first: Vec<u32>,
    edges: Vec<Edge>,
    transactions: u32,
}

impl Graph {
    pub(crate) fn nodes(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    pub(crate) fn is_relay(&self, node: u32) -> bool {
        node >= self.transactions
    }

    pub(crate) fn out(&self, node: u32) -> &[Edge] {
        &self.edges[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// Strongly connected components with at least two transactions, of what `keep` leaves of the graph. Nodes are
    /// sorted, and components by their first node.
    pub(crate) fn components(&self, keep: impl Fn(&Edge) -> bool) -> Vec<Vec<u32>> {
        let mut components = Tarjan::new(self).run(keep);
        for component in &mut components {
            component.sort_unstable();
        }
        // Transactions come before relays, so the second node tells.
        components.retain(|component| component.get(1).is_some_and(|second| !self.is_relay(*second)));
        components.sort_unstable();
        components
    }
}

/// A step of a cycle: an edge between two transactions, relays left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) from: TxnId,
    pub(crate) to: TxnId,
    pub(crate) from_op: u32,
    pub(crate) to_op: u32,
    pub(crate) dependency: Dependency,
    pub(crate) layer: Layer,
}

/// Tarjan's algorithm without recursion.
struct Tarjan<'g> {
    graph: &'g Graph,
    /// 0: not seen; otherwise the order of discovery, 1 and up.
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    calls: Vec<(u32, u32)>,
}

impl<'g> Tarjan<'g> {
    fn new(graph: &'g Graph) -> Self {
        let nodes = graph.nodes() as usize;
        Tarjan {
            graph,
            index: vec![0; nodes],
            low: vec![0; nodes],
            on_stack: vec![false; nodes],
            stack: Vec::new(),
            calls: Vec::new(),
        }
    }

    fn run(mut self, keep: impl Fn(&Edge) -> bool) -> Vec<Vec<u32>> {
        let mut components = Vec::new();
        let mut clock = 0;
        for root in 0..self.graph.nodes() {
            if self.index[root as usize] != 0 {
                continue;
            }
            self.enter(root, &mut clock);
            while let Some((node, next)) = self.calls.last_mut() {
                let node = *node;
                let edges = self.graph.out(node);
                let Some(edge) = edges.get(*next as usize) else {
                    self.calls.pop();
                    self.leave(node, &mut components);
                    continue;
                };
                *next += 1;
                if !keep(edge) {
                    continue;
                }
                let to = edge.to as usize;
                if self.index[to] == 0 {
                    self.enter(edge.to, &mut clock);
                } else if self.on_stack[to] {
                    self.low[node as usize] = self.low[node as usize].min(self.index[to]);
                }
            }
        }
        components
    }

    fn enter(&mut self, node: u32, clock: &mut u32) {
        *clock += 1;
        self.index[node as usize] = *clock;
        self.low[node as usize] = *clock;
        self.on_stack[node as usize] = true;
        self.stack.push(node);
        self.calls.push((node, 0));
    }

    fn leave(&mut self, node: u32, components: &mut Vec<Vec<u32>>) {
        let low = self.low[node as usize];
        if let Some((caller, _)) = self.calls.last() {
            let caller = *caller as usize;
            self.low[caller] = self.low[caller].min(low);
        }
        if low != self.index[node as usize] {
            return;
        }
        let from = self.stack.iter().rposition(|other| *other == node).unwrap_or(0);
        if self.stack.len() - from > 1 {
            components.push(self.stack[from..].to_vec());
        }
        for other in self.stack.drain(from..) {
            self.on_stack[other as usize] = false;
        }
    }
}
