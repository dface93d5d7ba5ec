//! What is known of all roots together: the locks that a line is under, and which tasks an object runs one at a time.

use std::collections::{BTreeMap, BTreeSet};

use drawloom_syntax::{FunctionId, Span};

use crate::graph::{Event, Loc};
use crate::program::{Access, Program};

impl Program<'_, '_> {
    pub(crate) fn find_locks(&mut self) {
        let mut all: BTreeMap<(Loc, Span), BTreeSet<BTreeSet<Loc>>> = BTreeMap::new();
        for (loc, accesses) in &self.accesses {
            for access in accesses {
                let span = self.node(*access).span;
                all.entry((*loc, span)).or_default().insert(self.locks_at(*access));
            }
        }
        self.locks_of_line = all;
    }

    /// The locks, and not busy flags, that are held at an access.
    pub(crate) fn locks_at(&self, access: Access) -> BTreeSet<Loc> {
        let graph = &self.tasks[access.task].graph;
        let taken = graph.held[access.node].iter().filter_map(|taken| match graph.nodes[*taken].event {
            Event::Acquire { lock, .. } => Some(lock),
            _ => None,
        });
        taken.collect()
    }

    pub(crate) fn find_single(&mut self) {
        let mut loose: BTreeSet<FunctionId> = BTreeSet::new();
        for task in &self.tasks {
            for (at, node) in task.graph.nodes.iter().enumerate() {
                let Event::Spawn { root, many } = node.event else { continue };
                let Some(child) = task.children.get(root).filter(|child| **child != usize::MAX) else { continue };
                let function = self.tasks[*child].root.callable.function;
                if task.graph.stored.contains(&at) && !many && !task.graph.alive[at].contains(&at) {
                    self.single.insert(function);
                } else {
                    loose.insert(function);
                }
            }
        }
        self.single.retain(|function| !loose.contains(function));
    }
}
