//! New leaves: sequences that are not covered by what sleeps find their place in the tree.
//!
//! To find out that a sequence is covered, the tree is only read, which several workers can do at once. To add
//! one is all of an execution's work for which it needs the tree to itself.

use super::Planned;
use super::asleep::{Asleep, Sleeper};
use super::context::label_after;
use super::execution::Execution;
use super::route::Route;
use super::sequence::{Event, Reversed, Sequence, Taken};
use super::tree::{NodeId, Tree};
use crate::dependence::{Label, Relation, relation};

/// Memory that is kept from one execution to the next.
#[derive(Default)]
pub(super) struct Rest {
    /// The nodes of the execution's steps, as far as the tree has them.
    nodes: Vec<NodeId>,
    sequence: Vec<Event>,
    /// What was met on the way down.
    met: Vec<Met>,
    /// Who is still to be woken by it.
    asleep: Vec<Sleeper>,
    /// Positions of the steps that were found in the tree.
    matched: Taken,
    needed: Vec<bool>,
}

/// A step of the tree that was met on the way down.
enum Met {
    /// The sequence cannot begin with it.
    Passed(Sleeper),
    /// It can.
    Followed(Sleeper),
}

impl Rest {
    /// Whether a sequence beside `branch` is covered by what is to its right.
    pub(super) fn is_covered(
        &mut self,
        tree: &Tree,
        execution: &Execution<'_>,
        reversed: &Reversed,
        branch: NodeId,
    ) -> bool {
        self.descend(tree, execution, reversed, (branch, branch), false).is_none()
    }

    /// Follows the sequence to the right of the branch that leads from one node to another, as far as the tree
    /// has it. The node after which the rest of it is to be put; `None` if it is covered. Takes down what is
    /// met on the way.
    fn descend(
        &mut self,
        tree: &Tree,
        execution: &Execution<'_>,
        reversed: &Reversed,
        (before, branch): (NodeId, NodeId),
        frugal: bool,
    ) -> Option<NodeId> {
        let Rest { matched, met, .. } = self;
        let mut at = before;
        matched.clear();
        met.clear();
        let mut next = tree.right_of(branch).next();
        if next.is_none() {
            return Some(at);
        }
        let moved = &reversed.moved;
        let mut from = Sequence::new(execution, reversed, matched, reversed.first + 1).begins_at()?;
        // A step that is in the way of the moved one.
        let mut obstacle = None;
        while let Some(candidate) = next {
            let planned = tree.step(candidate);
            // What is met most: the first step of all, and the moved one with another in its way.
            let is_first = from < reversed.end && execution.planned_at(from) == planned;
            let is_hindered = planned.task == moved.planned.task && obstacle.is_some_and(|at| !matched.contains(at));
            let (own, label, can_begin) = if is_first {
                (Some(from), Some(execution.steps[from].label()), true)
            } else if is_hindered {
                (None, Some(moved.label), false)
            } else {
                let sequence = Sequence::new(execution, reversed, matched, from);
                let own = execution.task(planned.task).and_then(|task| sequence.first_of(task));
                let label = match own {
                    Some(own) if own == moved.position => {
                        obstacle = sequence.obstacle();
                        Some(moved.label)
                    }
                    Some(own) => Some(execution.steps[own].label()),
                    None => label_beyond(execution, planned, reversed.first, matched),
                };
                let step = Sleeper { planned, label };
                let can_begin = (own.is_some() || !frugal) && sequence.can_begin_with(&step, own, obstacle);
                (own, label, can_begin)
            };
            let step = Sleeper { planned, label };
            if !can_begin {
                met.push(Met::Passed(step));
                next = tree.right_of(candidate).next();
                continue;
            }
            if tree.is_leaf(candidate) {
                return None;
            }
            if let Some(own) = own {
                matched.push(own);
                from = Sequence::new(execution, reversed, matched, from).begins_at()?;
            }
            met.push(Met::Followed(step));
            at = candidate;
            next = tree.kids(candidate).next();
        }
        Some(at)
    }
}

pub(super) struct Planter<'a, 'e> {
    pub(super) tree: &'a mut Tree,
    pub(super) execution: &'a Execution<'e>,
    pub(super) route: &'a Route,
    pub(super) asleep: &'a mut Asleep,
    pub(super) rest: &'a mut Rest,
    /// Only the first step of a sequence is stored.
    pub(super) frugal: bool,
}

impl Planter<'_, '_> {
    pub(super) fn begin(&mut self) {
        self.rest.nodes.clear();
        self.rest.nodes.extend_from_slice(self.route.nodes());
    }

    /// Adds a leaf with the step `planned` instead of the one at `position`.
    pub(super) fn add_instead(&mut self, position: usize, planned: Planned) {
        if let Some(last) = position.checked_sub(1) {
            self.node(last);
        }
        let node = self.tree.add(self.before(position), planned);
        self.tree.mark_leaf(node);
    }

    /// Puts a sequence beside the branch that was taken, unless that is covered by what is to its right.
    pub(super) fn insert(&mut self, reversed: &Reversed) {
        let branch = self.node(reversed.first);
        // Who sleeps matters only if it is not covered, which is seldom so.
        let before = self.before(reversed.first);
        let Some(at) = self.rest.descend(self.tree, self.execution, reversed, (before, branch), self.frugal) else {
            return;
        };
        let Rest { asleep, met, .. } = &mut *self.rest;
        asleep.clear();
        asleep.extend_from_slice(self.asleep.beside(reversed.first, self.route, self.execution));
        asleep.push(Sleeper::taken(self.execution, reversed.first));
        for met in &*met {
            match met {
                Met::Passed(step) => asleep.push(*step),
                Met::Followed(step) => {
                    asleep.retain(|s| s.planned.task != step.planned.task && !s.is_woken_by(step.label.as_ref()));
                }
            }
        }
        self.add(at, reversed);
    }

    /// The node that the step at `position` leads to; made if the tree does not have it yet.
    fn node(&mut self, position: usize) -> NodeId {
        while self.rest.nodes.len() <= position {
            let at = self.rest.nodes.len();
            let parent = self.before(at);
            let node = self.tree.add(parent, self.execution.planned_at(at));
            self.rest.nodes.push(node);
        }
        self.rest.nodes[position]
    }

    /// The node before the step at `position`.
    fn before(&self, position: usize) -> NodeId {
        match position {
            0 => Tree::root(),
            _ => self.rest.nodes[position - 1],
        }
    }

    /// Adds a leaf after `at`: the part of the sequence that wakes everybody who is asleep, one witness
    /// each, and what comes before the witnesses.
    fn add(&mut self, mut at: NodeId, reversed: &Reversed) {
        let Planter { tree, execution, rest: Rest { sequence, asleep, matched, needed, .. }, .. } = self;
        Sequence::new(execution, reversed, matched, reversed.first + 1).write_to(sequence);
        needed.clear();
        needed.resize(sequence.len(), false);
        for sleeper in &*asleep {
            let Some(witness) = sequence.iter().position(|event| conflicts(sleeper, event)) else { continue };
            let before = |event: &Event, other: &Event| execution.before(event.position, other.position);
            let Event { label, position, .. } = sequence[witness];
            for (i, event) in sequence.iter().enumerate().take(witness + 1) {
                needed[i] |= i == witness || before(event, &sequence[witness]);
            }
            if label == execution.steps[position].label() {
                continue;
            }
            // What the moved step comes to now may depend on steps that it did not depend on before.
            for (i, event) in sequence.iter().enumerate().take(witness).filter(|(_, event)| depends(event, &label)) {
                for (j, earlier) in sequence.iter().enumerate().take(i + 1) {
                    needed[j] |= before(earlier, event);
                }
            }
        }
        let mut needed = sequence.iter().zip(&*needed).filter(|(_, needed)| **needed).map(|(event, _)| event);
        if self.frugal {
            at = needed.next().or(sequence.first()).map_or(at, |event| tree.add(at, event.planned));
        } else {
            needed.for_each(|event| at = tree.add(at, event.planned));
        }
        tree.mark_leaf(at);
    }
}

/// The label of a planned step that is not in the sequence: of what its task does after the steps before
/// `depth` and those at the positions `matched`.
fn label_beyond(execution: &Execution<'_>, planned: Planned, depth: usize, matched: &Taken) -> Option<Label> {
    let task = execution.task(planned.task)?;
    let own = matched.iter().filter(|i| execution.steps[*i].task == task).max();
    let label = execution.pending_at(task, own.map_or(depth, |last| last + 1))?;
    let end = matched.iter().max().map_or(depth, |last| last + 1);
    let after = label_after(execution, label, depth, end, |i| i < depth || matched.contains(i));
    Some(after.unwrap_or(label))
}

/// Whether a sequence with `event` in it cannot begin with the sleeper's step.
fn conflicts(sleeper: &Sleeper, event: &Event) -> bool {
    if event.planned.task == sleeper.planned.task {
        return event.planned.choice != sleeper.planned.choice;
    }
    sleeper.is_woken_by(Some(&event.label))
}

fn depends(event: &Event, label: &Label) -> bool {
    relation(&event.label, label) == Relation::Dependent
}
