//! The tree of what is to be explored.
//!
//! A node is a step after its parent's. Siblings are ordered: what is to the left of a branch is
//! explored by others, so an execution below it need not, and must not, repeat it. Nodes are only ever
//! added to the right. A *leaf* is the end of a sequence that some execution has to begin with.
//!
//! What is added can be taken down (`stored`), so that the tree can be built again elsewhere.

mod stored;

use self::stored::Journal;
use super::Planned;
use super::names::Names;

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
    leaf: bool,
    claimed: bool,
}

pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// What is added is taken down here.
    journal: Option<Journal>,
}

const ROOT: NodeId = NodeId(0);
/// Paths are seldom longer: it is worth while to have room for that many steps at once.
const USUAL_DEPTH: usize = 64;

impl Tree {
    /// A tree with one leaf: the empty prefix.
    pub(super) fn new() -> Self {
        let step = Planned { task: Names::MAIN, choice: 0 };
        let mut tree = Tree { nodes: vec![Node::new(step, NONE)], free: Vec::new(), journal: None };
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

    /// For each step that leads to `id`: the steps to its left.
    pub(super) fn left_of_path(&self, id: NodeId) -> Vec<Vec<Planned>> {
        let steps = |node: &NodeId| self.left_of(*node).map(|left| self.step(left)).collect();
        self.path_to(id).iter().map(steps).collect()
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

    /// Its left siblings, left to right.
    pub(super) fn left_of(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = match self.node(id).parent {
            NONE => NONE,
            parent => self.node(parent).first,
        };
        self.from(first).take_while(move |sibling| *sibling != id)
    }

    fn from(&self, first: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let some = |id: NodeId| (id != NONE).then_some(id);
        std::iter::successors(some(first), move |id| some(self.node(*id).next))
    }

    /// The nodes from the root's child down to `id`.
    pub(super) fn path_to(&self, id: NodeId) -> Vec<NodeId> {
        let mut path = Vec::with_capacity(USUAL_DEPTH);
        let mut at = id;
        while at != ROOT {
            path.push(at);
            at = self.node(at).parent;
        }
        path.reverse();
        path
    }

    /// The parent of a node on a path, given that path and the node's depth.
    pub(super) fn root() -> NodeId {
        ROOT
    }

    /// Claims the leftmost leaf that nobody has claimed, with the steps that lead to it.
    pub(super) fn claim(&mut self) -> Option<(NodeId, Vec<Planned>)> {
        if self.node(ROOT).unclaimed == 0 {
            return None;
        }
        let mut at = ROOT;
        let mut path = Vec::with_capacity(USUAL_DEPTH);
        while !self.node(at).leaf || self.node(at).claimed {
            at = self.kids(at).find(|kid| self.node(*kid).unclaimed > 0)?;
            path.push(self.node(at).step);
        }
        self.node_mut(at).claimed = true;
        self.for_ancestors(at, |node| node.unclaimed -= 1);
        Some((at, path))
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
        self.for_ancestors(leaf, |node| node.open -= 1);
        let mut at = ROOT;
        'down: loop {
            let mut kid = self.node(at).first;
            while kid != NONE {
                if self.node(kid).open > 0 {
                    at = kid;
                    continue 'down;
                }
                self.forget_below(kid);
                kid = self.node(kid).next;
            }
            return;
        }
    }

    fn forget_below(&mut self, id: NodeId) {
        let mut kid = self.node(id).first;
        while kid != NONE {
            self.forget_below(kid);
            let next = self.node(kid).next;
            self.free.push(kid);
            kid = next;
        }
        let node = self.node_mut(id);
        (node.first, node.last) = (NONE, NONE);
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
        Node { step, parent, first: NONE, last: NONE, next: NONE, unclaimed: 0, open: 0, leaf: false, claimed: false }
    }
}
