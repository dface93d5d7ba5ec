//! The way down the tree to a leaf, as its execution needs it: read once, when the leaf is claimed, so that
//! the tree need not be asked, and nobody kept waiting, while the execution is made and looked through.
//!
//! That is possible since what is to the left of a node never changes: siblings are added to the right.

use super::Planned;
use super::tree::NodeId;

/// The way to the leaf that was claimed last.
#[derive(Default)]
pub(super) struct Route {
    nodes: Vec<NodeId>,
    steps: Vec<Planned>,
    /// What is to the left of each step, one after the other.
    left: Vec<Planned>,
    /// By depth: where in `left` that ends.
    ends: Vec<usize>,
    /// Steps at the beginning that it has in common with the way that an execution went last.
    common: usize,
}

impl Route {
    pub(super) fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    pub(super) fn steps(&self) -> &[Planned] {
        &self.steps
    }

    /// Steps at the beginning that it has in common with the way before.
    pub(super) fn common(&self) -> usize {
        self.common
    }

    /// What is explored to the left of the step at `depth`.
    pub(super) fn left_of(&self, depth: usize) -> &[Planned] {
        match self.ends.get(depth) {
            Some(end) => &self.left[self.start(depth)..*end],
            None => &[],
        }
    }

    /// An execution has gone this way.
    pub(super) fn was_gone(&mut self) {
        self.common = self.steps.len();
    }

    /// Goes back to `depth`, to go another way from there.
    pub(super) fn back_to(&mut self, depth: usize) {
        self.left.truncate(self.start(depth));
        self.nodes.truncate(depth);
        self.steps.truncate(depth);
        self.ends.truncate(depth);
        self.common = self.common.min(depth);
    }

    /// Passes by a node on its left.
    pub(super) fn pass(&mut self, step: Planned) {
        self.left.push(step);
    }

    /// Goes a step further.
    pub(super) fn go(&mut self, node: NodeId, step: Planned) {
        self.nodes.push(node);
        self.steps.push(step);
        self.ends.push(self.left.len());
    }

    fn start(&self, depth: usize) -> usize {
        depth.checked_sub(1).map_or(0, |above| self.ends[above])
    }
}
