//! The tree as bytes: all of it, and what an execution added to it.
//!
//! Nodes keep their numbers, and new ones get the numbers that they would get anywhere, so what an
//! execution added needs nothing but parents and steps.

use super::{Leaf, NONE, Node, NodeId, ROOT, Tree};
use crate::exhaustive::Planned;
use crate::exhaustive::names::Name;
use crate::schedule::{Reader, put};

const END: u64 = 0;
const ADD_BELOW_LAST: u64 = 1;
const ADD_BELOW: u64 = 2;
const MARK_LAST: u64 = 3;
const MARK: u64 = 4;

const LEAF: u8 = 1;
const OVER: u8 = 3;

/// What has been added since it was last looked at.
pub(super) struct Journal {
    bytes: Vec<u8>,
    last: NodeId,
}

impl Journal {
    pub(super) fn added(&mut self, parent: NodeId, node: NodeId, step: Planned) {
        if parent == self.last {
            put(&mut self.bytes, ADD_BELOW_LAST);
        } else {
            put(&mut self.bytes, ADD_BELOW);
            put(&mut self.bytes, u64::from(parent.0));
        }
        put_step(&mut self.bytes, step);
        self.last = node;
    }

    pub(super) fn marked(&mut self, node: NodeId) {
        if node == self.last {
            put(&mut self.bytes, MARK_LAST);
        } else {
            put(&mut self.bytes, MARK);
            put(&mut self.bytes, u64::from(node.0));
        }
    }
}

impl Tree {
    /// Takes down from now on what is added.
    pub(in crate::exhaustive) fn keep_journal(&mut self) {
        self.journal = Some(Journal { bytes: Vec::new(), last: NONE });
    }

    /// Appends what the execution that began with `leaf` has added.
    pub(in crate::exhaustive) fn write_added(&mut self, leaf: NodeId, bytes: &mut Vec<u8>) {
        let Some(journal) = &mut self.journal else { return };
        put(bytes, u64::from(leaf.0));
        bytes.append(&mut journal.bytes);
        put(bytes, END);
        journal.last = NONE;
    }

    /// Adds what an execution has added elsewhere, which is over with that. `None` if it does not fit.
    pub(in crate::exhaustive) fn add_stored(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let leaf = self.known(reader)?;
        let mut last = NONE;
        loop {
            match reader.number()? {
                END => break,
                kind @ (ADD_BELOW_LAST | ADD_BELOW) => {
                    let parent = if kind == ADD_BELOW { self.known(reader)? } else { last };
                    if parent == NONE {
                        return None;
                    }
                    last = self.add(parent, step(reader)?);
                }
                kind @ (MARK_LAST | MARK) => {
                    let node = if kind == MARK { self.known(reader)? } else { last };
                    if node == NONE || self.is_leaf(node) {
                        return None;
                    }
                    self.mark_leaf(node);
                }
                _ => return None,
            }
        }
        if self.node(leaf).leaf != Leaf::Unclaimed {
            return None;
        }
        self.claimed(leaf);
        self.finish(leaf);
        self.leave(leaf);
        Some(())
    }

    fn known(&self, reader: &mut Reader<'_>) -> Option<NodeId> {
        let number = reader.number()?;
        (number < self.nodes.len() as u64).then_some(NodeId(number as u32))
    }

    /// Appends the whole tree. No execution is under way.
    pub(in crate::exhaustive) fn write(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.free.len() as u64);
        self.free.iter().for_each(|id| put(bytes, u64::from(id.0)));
        put(bytes, self.len() as u64);
        let mut left = vec![ROOT];
        while let Some(id) = left.pop() {
            let node = self.node(id);
            put(bytes, u64::from(id.0));
            put_step(bytes, node.step);
            bytes.push(match node.leaf {
                Leaf::No => 0,
                Leaf::Unclaimed => LEAF,
                Leaf::Claimed | Leaf::Over => OVER,
            });
            put(bytes, u64::from(node.made));
            let kids: Vec<NodeId> = self.kids(id).collect();
            put(bytes, kids.len() as u64);
            left.extend(kids.into_iter().rev());
        }
    }

    /// Reads what [`write`](Self::write) wrote. `None` if it is something else.
    pub(in crate::exhaustive) fn read(reader: &mut Reader<'_>) -> Option<Tree> {
        let free = (0..reader.count()?).map(|_| reader.number()).collect::<Option<Vec<u64>>>()?;
        let held = reader.count()?;
        let blank = || Node::new(Planned { task: Name(0), choice: 0 }, NONE);
        let nodes: Vec<Node> = std::iter::repeat_with(blank).take(held + free.len()).collect();
        let mut tree = Tree::of_nodes(nodes);
        // The nodes above the one that comes next, and how many children of each are to come.
        let mut above: Vec<(NodeId, u64)> = Vec::new();
        for i in 0..held {
            let id = tree.known(reader)?;
            let parent = match above.last_mut() {
                Some((parent, left)) => {
                    *left -= 1;
                    *parent
                }
                None if i == 0 && id == ROOT => NONE,
                None => return None,
            };
            tree.place(id, step(reader)?, parent)?;
            match reader.byte()? {
                0 => {}
                LEAF => tree.mark_leaf(id),
                OVER => tree.node_mut(id).leaf = Leaf::Over,
                _ => return None,
            }
            tree.node_mut(id).made = u32::try_from(reader.number()?).ok()?;
            above.push((id, reader.number()?));
            while above.last().is_some_and(|(_, left)| *left == 0) {
                above.pop();
            }
        }
        let is_free = |id: &u64| *id != 0 && tree.nodes.get(*id as usize).is_some_and(|node| node.parent == NONE);
        if !above.is_empty() || !free.iter().all(is_free) {
            return None;
        }
        tree.free = free.into_iter().map(|id| NodeId(id as u32)).collect();
        Some(tree)
    }

    /// Puts a node where it was, to the right of its siblings.
    fn place(&mut self, id: NodeId, step: Planned, parent: NodeId) -> Option<()> {
        if self.node(id).parent != NONE || (id == ROOT) != (parent == NONE) {
            return None;
        }
        *self.node_mut(id) = Node::new(step, parent);
        if parent != NONE {
            self.append(parent, id);
        }
        Some(())
    }
}

fn put_step(bytes: &mut Vec<u8>, step: Planned) {
    put(bytes, u64::from(step.task.0));
    put(bytes, step.choice);
}

fn step(reader: &mut Reader<'_>) -> Option<Planned> {
    let task = Name(u32::try_from(reader.number()?).ok()?);
    Some(Planned { task, choice: reader.number()? })
}
