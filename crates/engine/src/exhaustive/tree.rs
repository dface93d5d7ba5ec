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

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NodeId(u32);

const NONE: NodeId = NodeId(u32::MAX);

/// A step, with what is to be done at and below it. That is counted by children, and not by leaves, so that
/// the nodes above need not know of everything: what workers do far from each other does not meet. For the
/// same reason a node has a cache line to itself.
#[repr(align(64))]
pub(super) struct Node {
    step: Planned,
    parent: NodeId,
    first: NodeId,
    last: NodeId,
    next: NodeId,
    /// Children with leaves that nobody has claimed; and itself, if it is one.
    unclaimed: u32,
    /// Children with leaves whose executions are not over; and itself, if it is one.
    open: u32,
    /// Children with leaves that somebody is at work at; and itself, if it is one.
    active: u32,
    /// Its own execution, if that is over, and those below it that have been forgotten.
    made: u32,
    leaf: Leaf,
}

/// Whether a node is a leaf, and what has become of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Leaf {
    No,
    Unclaimed,
    Claimed,
    Over,
}

pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// Leaves that nobody has claimed.
    unclaimed: u64,
    /// Leaves whose executions are not over.
    open: u64,
    /// Everything to the left of the way to this node has been forgotten.
    edge: NodeId,
    /// What is added is taken down here.
    journal: Option<Journal>,
}

const ROOT: NodeId = NodeId(0);

/// Where a [descent](Tree::descend) has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A leaf, which is claimed by that.
    Leaf(NodeId),
    /// A node above one.
    Above(NodeId),
}

impl Tree {
    /// A tree with one leaf: the empty prefix.
    pub(super) fn new() -> Self {
        let step = Planned { task: Names::MAIN, choice: 0 };
        let mut tree = Tree::of_nodes(vec![Node::new(step, NONE)]);
        tree.mark_leaf(ROOT);
        tree
    }

    /// Begins anew, in the same memory.
    pub(super) fn clear(&mut self) {
        self.nodes.truncate(1);
        self.nodes[0] = Node::new(Planned { task: Names::MAIN, choice: 0 }, NONE);
        self.free.clear();
        (self.unclaimed, self.open, self.edge, self.journal) = (0, 0, ROOT, None);
        self.mark_leaf(ROOT);
    }

    /// Nodes that there is room for.
    pub(super) fn room(&self) -> usize {
        self.nodes.capacity()
    }

    pub(super) fn of_nodes(nodes: Vec<Node>) -> Self {
        Tree { nodes, free: Vec::new(), unclaimed: 0, open: 0, edge: ROOT, journal: None }
    }

    /// Leaves that nobody has claimed.
    pub(super) fn unclaimed(&self) -> u64 {
        self.unclaimed
    }

    /// Leaves whose executions are not over.
    pub(super) fn open(&self) -> u64 {
        self.open
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
        self.node(id).leaf != Leaf::No
    }

    /// Its leftmost child.
    #[inline]
    pub(super) fn first_of(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).first)
    }

    /// Its rightmost child.
    pub(super) fn last_of(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).last)
    }

    /// The sibling to its right.
    #[inline]
    pub(super) fn next_to(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).next)
    }

    /// Its children, left to right.
    pub(super) fn kids(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_of(id), move |id| self.next_to(*id))
    }

    pub(super) fn root() -> NodeId {
        ROOT
    }

    /// Claims a leaf that nobody has claimed, and leads `route` there from the leaf before: the leftmost one
    /// below the deepest node on the way that has any. If `apart`, where others are at work to the left of
    /// something that nobody has begun, that is taken: so everybody has a part of the tree to himself,
    /// but what is to the right of others' parts cannot be forgotten yet when it is done.
    pub(super) fn claim(&mut self, route: &mut Route, apart: bool) -> Option<NodeId> {
        if self.unclaimed == 0 {
            return None;
        }
        // From above: a node of the way that has been forgotten is below one that has nothing left.
        let kept = route.nodes().iter().take_while(|node| self.node(**node).unclaimed > 0).count();
        route.back_to(kept);
        let mut at = route.nodes().last().copied().unwrap_or(ROOT);
        while self.node(at).leaf != Leaf::Unclaimed {
            let has_some = |kid: &NodeId| self.node(*kid).unclaimed > 0;
            let is_untouched = |kid: &NodeId| has_some(kid) && self.node(*kid).active == 0;
            let untouched = if apart { self.kids(at).find(is_untouched) } else { None };
            let chosen = untouched.or_else(|| self.kids(at).find(has_some))?;
            self.kids(at).take_while(|kid| *kid != chosen).for_each(|kid| route.pass(self.step(kid)));
            route.go(chosen, self.step(chosen));
            at = chosen;
        }
        Some(self.claimed(at))
    }

    /// Goes back to the root, to [descend](Self::descend) from there. Claims it, if it is a leaf; `None` if there is
    /// none to be claimed at all.
    pub(super) fn start_at_root(&mut self, route: &mut Route) -> Option<Place> {
        route.back_to(0);
        (self.unclaimed > 0).then(|| self.arrive(ROOT))
    }

    /// Goes a step down from where `route` has come to, towards a leaf that nobody has claimed: a step that `fits`,
    /// if one leads there. `draw` chooses from so many. Claims the leaf, if that is where it leads.
    pub(super) fn descend(
        &mut self,
        route: &mut Route,
        fits: impl Fn(Planned) -> bool,
        draw: impl FnOnce(usize) -> usize,
    ) -> Option<Place> {
        let at = route.nodes().last().copied().unwrap_or(ROOT);
        let has_some = |kid: &NodeId| self.node(*kid).unclaimed > 0;
        let is_fit = |kid: &NodeId| has_some(kid) && fits(self.step(*kid));
        let chosen = match self.kids(at).filter(is_fit).count() {
            0 => self.kids(at).filter(has_some).nth(draw(self.kids(at).filter(has_some).count()))?,
            several => self.kids(at).filter(is_fit).nth(draw(several))?,
        };
        self.kids(at).take_while(|kid| *kid != chosen).for_each(|kid| route.pass(self.step(kid)));
        route.go(chosen, self.step(chosen));
        Some(self.arrive(chosen))
    }

    fn arrive(&mut self, at: NodeId) -> Place {
        if self.node(at).leaf == Leaf::Unclaimed { Place::Leaf(self.claimed(at)) } else { Place::Above(at) }
    }

    fn claimed(&mut self, leaf: NodeId) -> NodeId {
        self.node_mut(leaf).leaf = Leaf::Claimed;
        self.unclaimed -= 1;
        self.lower(leaf, |node| &mut node.unclaimed);
        self.raise(leaf, |node| &mut node.active);
        leaf
    }

    /// Nobody makes the execution that begins with `leaf`, for the moment.
    pub(super) fn unclaim(&mut self, leaf: NodeId) {
        self.node_mut(leaf).leaf = Leaf::Unclaimed;
        self.unclaimed += 1;
        self.raise(leaf, |node| &mut node.unclaimed);
        self.lower(leaf, |node| &mut node.active);
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
        self.node_mut(id).leaf = Leaf::Unclaimed;
        (self.unclaimed, self.open) = (self.unclaimed + 1, self.open + 1);
        self.raise(id, |node| &mut node.unclaimed);
        self.raise(id, |node| &mut node.open);
    }

    /// The execution that began with `leaf` is over, and has added what it had to add. Forgets what
    /// nobody can need any more: subtrees that are done, as is everything to their left. Its worker has yet to
    /// [leave](Self::leave).
    pub(super) fn finish(&mut self, leaf: NodeId) {
        let node = self.node_mut(leaf);
        (node.leaf, node.made) = (Leaf::Over, node.made.saturating_add(1));
        self.open -= 1;
        self.lower(leaf, |node| &mut node.open);
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

    /// Nobody is at work at `leaf` any more, whose execution is over; nothing has been added since. The later, the less is
    /// to be done: only what is not on the way to where the worker is now.
    pub(super) fn leave(&mut self, leaf: NodeId) {
        self.lower(leaf, |node| &mut node.active);
    }

    /// Frees all nodes below `id`. Those just freed are the list of what is still to be looked at: paths
    /// are as long as executions, too long to recurse.
    fn forget_below(&mut self, id: NodeId) {
        let mut looked_at = self.free.len();
        let (mut at, mut made) = (id, 0);
        loop {
            let mut kid = self.node(at).first;
            while kid != NONE {
                self.free.push(kid);
                let node = self.node_mut(kid);
                made += node.made;
                kid = node.next;
            }
            let node = self.node_mut(at);
            (node.first, node.last) = (NONE, NONE);
            let Some(next) = self.free.get(looked_at) else { break };
            at = *next;
            looked_at += 1;
        }
        let node = self.node_mut(id);
        node.made = node.made.saturating_add(made);
    }

    /// There is one more of something at `id`; its parent knows only whether there is any.
    fn raise(&mut self, id: NodeId, count: impl Fn(&mut Node) -> &mut u32) {
        let mut at = id;
        while at != NONE {
            let node = self.node_mut(at);
            let parent = node.parent;
            let count = count(node);
            *count += 1;
            if *count > 1 {
                return;
            }
            at = parent;
        }
    }

    /// There is one less.
    fn lower(&mut self, id: NodeId, count: impl Fn(&mut Node) -> &mut u32) {
        let mut at = id;
        while at != NONE {
            let node = self.node_mut(at);
            let parent = node.parent;
            let count = count(node);
            *count -= 1;
            if *count > 0 {
                return;
            }
            at = parent;
        }
    }
}

#[inline]
fn some(id: NodeId) -> Option<NodeId> {
    (id != NONE).then_some(id)
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
            active: 0,
            made: 0,
            leaf: Leaf::No,
        }
    }
}
