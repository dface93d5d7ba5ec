//! The tree of what is to be explored.
//!
//! A node is a step after its parent's. Siblings are ordered: what is to the left of a branch is
//! explored by others, so an execution below it need not, and must not, repeat it. Nodes are only ever
//! added to the right. A *leaf* is the end of a sequence that some execution has to begin with.
//!
//! What is added can be taken down (`stored`), so that the tree can be built again elsewhere.

mod estimate;
mod stored;

use self::stored::Journal;
use super::Planned;
use super::names::Names;
use super::route::Route;
use crate::strategy::Tape;

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NodeId(u32);

const NONE: NodeId = NodeId(u32::MAX);

struct Node {
    step: Planned,
    parent: NodeId,
    first: NodeId,
    last: NodeId,
    next: NodeId,
    /// Leaves at or below it that nobody has claimed.
    unclaimed: u32,
    /// Leaves at or below it whose executions are not over.
    open: u32,
    /// Executions at or below it that are over.
    made: u32,
    leaf: bool,
    claimed: bool,
}

pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// Everything to the left of the way to this node has been forgotten.
    edge: NodeId,
    /// What is added is taken down here.
    journal: Option<Journal>,
}

const ROOT: NodeId = NodeId(0);

impl Tree {
    /// A tree with one leaf: the empty prefix.
    pub(super) fn new() -> Self {
        let step = Planned { task: Names::MAIN, choice: 0 };
        let mut tree = Tree { nodes: vec![Node::new(step, NONE)], free: Vec::new(), edge: ROOT, journal: None };
        tree.mark_leaf(ROOT);
        tree
    }

    pub(super) fn unclaimed(&self) -> u64 {
        u64::from(self.node(ROOT).unclaimed)
    }

    /// Nodes that it holds.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Bytes that its nodes take.
    pub(super) fn bytes(&self) -> usize {
        self.len() * size_of::<Node>()
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn step(&self, id: NodeId) -> Planned {
        self.node(id).step
    }

    pub(super) fn is_leaf(&self, id: NodeId) -> bool {
        self.node(id).leaf
    }

    /// Its children, left to right.
    pub(super) fn kids(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.from(self.node(id).first)
    }

    /// Its right siblings, left to right.
    pub(super) fn right_of(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.from(self.node(id).next)
    }

    fn from(&self, first: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let some = |id: NodeId| (id != NONE).then_some(id);
        std::iter::successors(some(first), move |id| some(self.node(*id).next))
    }

    /// The parent of a node on a path, given that path and the node's depth.
    pub(super) fn root() -> NodeId {
        ROOT
    }

    /// Claims a leaf that nobody has claimed, and leads `route` there from the leaf before: the leftmost one
    /// below the deepest node on the way that has any. If `apart`, where others are at work to the left of
    /// something that nobody has begun, that is taken: so everybody has a part of the tree to himself,
    /// but what is to the right of others' parts cannot be forgotten yet when it is done.
    pub(super) fn claim(&mut self, route: &mut Route, apart: bool) -> Option<NodeId> {
        if self.node(ROOT).unclaimed == 0 {
            return None;
        }
        // From above: a node of the way that has been forgotten is below one that has nothing left.
        let kept = route.nodes().iter().take_while(|node| self.node(**node).unclaimed > 0).count();
        route.back_to(kept);
        let mut at = route.nodes().last().copied().unwrap_or(ROOT);
        while !self.node(at).leaf || self.node(at).claimed {
            let has_some = |kid: &NodeId| self.node(*kid).unclaimed > 0;
            let is_untouched = |kid: &NodeId| has_some(kid) && self.node(*kid).unclaimed == self.node(*kid).open;
            let untouched = if apart { self.kids(at).find(is_untouched) } else { None };
            let chosen = untouched.or_else(|| self.kids(at).find(has_some))?;
            self.kids(at).take_while(|kid| *kid != chosen).for_each(|kid| route.pass(self.step(kid)));
            route.go(chosen, self.step(chosen));
            at = chosen;
        }
        Some(self.claimed(at))
    }

    /// As [`claim`](Self::claim), of a leaf to which the draws of `tape` lead from the root.
    pub(super) fn claim_anywhere(&mut self, route: &mut Route, tape: &mut Tape) -> Option<NodeId> {
        if self.node(ROOT).unclaimed == 0 {
            return None;
        }
        route.back_to(0);
        let mut at = ROOT;
        while !self.node(at).leaf || self.node(at).claimed {
            let has_some = |kid: &NodeId| self.node(*kid).unclaimed > 0;
            let drawn = match self.kids(at).filter(has_some).count() {
                1 => 0,
                several => tape.below(several as u64) as usize,
            };
            let chosen = self.kids(at).filter(has_some).nth(drawn)?;
            self.kids(at).take_while(|kid| *kid != chosen).for_each(|kid| route.pass(self.step(kid)));
            route.go(chosen, self.step(chosen));
            at = chosen;
        }
        Some(self.claimed(at))
    }

    fn claimed(&mut self, leaf: NodeId) -> NodeId {
        self.node_mut(leaf).claimed = true;
        self.for_ancestors(leaf, |node| node.unclaimed -= 1);
        leaf
    }

    /// Adds a child to the right of the others.
    pub(super) fn add(&mut self, parent: NodeId, step: Planned) -> NodeId {
        let node = Node::new(step, parent);
        let id = match self.free.pop() {
            Some(id) => {
                *self.node_mut(id) = node;
                id
            }
            None => {
                self.nodes.push(node);
                NodeId(self.nodes.len() as u32 - 1)
            }
        };
        self.append(parent, id);
        if let Some(journal) = &mut self.journal {
            journal.added(parent, id, step);
        }
        id
    }

    /// Makes `id` the rightmost child.
    fn append(&mut self, parent: NodeId, id: NodeId) {
        match self.node(parent).last {
            NONE => self.node_mut(parent).first = id,
            last => self.node_mut(last).next = id,
        }
        self.node_mut(parent).last = id;
    }

    /// Makes a node the end of a sequence that is to be explored.
    pub(super) fn mark_leaf(&mut self, id: NodeId) {
        if let Some(journal) = &mut self.journal {
            journal.marked(id);
        }
        self.node_mut(id).leaf = true;
        self.for_ancestors(id, |node| {
            node.unclaimed += 1;
            node.open += 1;
        });
    }

    /// The execution that began with `leaf` is over, and has added what it had to add. Forgets what
    /// nobody can need any more: subtrees that are done, as is everything to their left.
    pub(super) fn finish(&mut self, leaf: NodeId) {
        self.for_ancestors(leaf, |node| {
            node.open -= 1;
            node.made = node.made.saturating_add(1);
        });
        // The topmost node on the way to the edge that is done, if there is one; from there to the right.
        let (mut at, mut kid) = (self.edge, NONE);
        while at != ROOT && self.node(at).open == 0 {
            (at, kid) = (self.node(at).parent, at);
        }
        if kid == NONE {
            kid = self.node(at).first;
        }
        while kid != NONE {
            if self.node(kid).open > 0 {
                (at, kid) = (kid, self.node(kid).first);
            } else {
                self.forget_below(kid);
                kid = self.node(kid).next;
            }
        }
        self.edge = at;
    }

    /// Frees all nodes below `id`. Those just freed are the list of what is still to be looked at: paths
    /// are as long as executions, too long to recurse.
    fn forget_below(&mut self, id: NodeId) {
        let mut looked_at = self.free.len();
        let mut at = id;
        loop {
            let mut kid = self.node(at).first;
            while kid != NONE {
                self.free.push(kid);
                kid = self.node(kid).next;
            }
            let node = self.node_mut(at);
            (node.first, node.last) = (NONE, NONE);
            let Some(next) = self.free.get(looked_at) else { return };
            at = *next;
            looked_at += 1;
        }
    }

    fn for_ancestors(&mut self, id: NodeId, mut f: impl FnMut(&mut Node)) {
        let mut at = id;
        while at != NONE {
            let node = self.node_mut(at);
            f(node);
            at = node.parent;
        }
    }
}

impl Node {
    fn new(step: Planned, parent: NodeId) -> Self {
        Node {
            step,
            parent,
            first: NONE,
            last: NONE,
            next: NONE,
            unclaimed: 0,
            open: 0,
            made: 0,
            leaf: false,
            claimed: false,
        }
    }
}
