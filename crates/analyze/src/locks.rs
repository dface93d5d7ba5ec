//! What is known of all roots together: the locks that a line is under, and which tasks an object runs one at a time.

use std::collections::{BTreeMap, BTreeSet};

use drawloom_syntax::{FunctionId, Span};

use crate::graph::{Edge, Event, Loc};
use crate::lower::RootKind;
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
                let field = task.graph.stored.iter().find(|(spawn, _)| *spawn == at).map(|(_, field)| *field);
                match field.filter(|_| !many && !task.graph.alive[at].contains(&at)) {
                    Some(field) => drop(self.single.insert(function, field)),
                    None => drop(loose.insert(function)),
                }
            }
        }
        self.single.retain(|function, _| !loose.contains(function));
        for task in &self.tasks {
            let runs = task.root.callable.function;
            if self.single.contains_key(&runs) {
                for node in &task.graph.nodes {
                    self.run_by_single.entry(node.function).or_default().insert(runs);
                }
            }
        }
    }

    /// Whether both roots are what one single task runs: one of them can be called by others, but here nobody does.
    pub(crate) fn of_one_task(&self, one: usize, other: usize) -> bool {
        let runs = |at: usize| {
            let root = &self.tasks[at].root;
            match root.kind {
                RootKind::Exported => self.run_by_single.get(&root.callable.function).cloned(),
                _ => self.single.get(&root.callable.function).map(|_| BTreeSet::from([root.callable.function])),
            }
        };
        let (Some(mut all), Some(others)) = (runs(one), runs(other)) else { return false };
        all.extend(others);
        all.len() == 1
    }

    /// Whether a task has ended for sure: an object runs one at a time, and its handle was awaited on the way.
    pub(crate) fn has_ended(&self, at: Access, other: usize) -> bool {
        let Some(field) = self.single.get(&self.tasks[other].root.callable.function) else { return false };
        let graph = &self.tasks[at.task].graph;
        let waits = |node: usize| matches!(graph.nodes[node].event, Event::Wait { loc } if loc == *field);
        if self.tasks[other].root.kind == RootKind::Exported || !(0..at.node).any(waits) {
            return false;
        }
        let mut seen = vec![false; graph.nodes.len()];
        let mut left = vec![0];
        while let Some(node) = left.pop() {
            if node == at.node {
                return false;
            }
            if !std::mem::replace(&mut seen[node], true) && !waits(node) {
                let normal = graph.nodes[node].next.iter().filter(|(_, edge)| *edge == Edge::Normal);
                left.extend(normal.map(|(to, _)| *to));
            }
        }
        true
    }
}
