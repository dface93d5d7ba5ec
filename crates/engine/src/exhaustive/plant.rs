//! New leaves: sequences that are not covered by what sleeps find their place in the tree.
//!
//! To find out that a sequence is covered, or what of it is to be put where, the tree is only read, which several workers
//! can do at once. To add that is all of an execution's work for which it needs the tree to itself.

use std::ops::Range;

use super::Planned;
use super::asleep::{Asleep, Sleeper};
use super::context::label_after;
use super::execution::Execution;
use super::route::Route;
use super::sequence::{Event, Reversed, Sequence, Taken};
use super::tree::{NodeId, Tree};
use crate::dependence::{Label, Relation, relation};
use crate::id::TaskId;
use crate::resource::Traits;

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
    /// Of all sequences whose place has been found, one after the other: the nodes on the way there, and the steps that
    /// are to be put there.
    followed: Vec<NodeId>,
    steps: Vec<Planned>,
}

/// Where a sequence is to be put, and what of it.
pub(super) struct Plan {
    place: Place,
    /// As places in what is kept of all sequences.
    followed: Range<usize>,
    steps: Range<usize>,
}

/// Where a sequence is to be put.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// After this node; `None` if that is the one before the first step of the race, and the tree does not have that.
    at: Option<NodeId>,
    /// The rightmost child that it had.
    last: Option<NodeId>,
}

impl Plan {
    /// Whether the sequence would still find its way to the same place.
    fn holds(&self, tree: &Tree, rest: &Rest) -> bool {
        let Place { at, last } = self.place;
        let mut followed = rest.followed[self.followed.clone()].iter();
        at.is_none_or(|at| tree.last_of(at) == last) && !followed.any(|node| tree.is_leaf(*node))
    }
}

/// A step of the tree that was met on the way down.
struct Met {
    node: NodeId,
    planned: Planned,
    what: What,
    /// The sequence can begin with it.
    followed: bool,
}

/// What a step of the tree is in the execution.
#[derive(Clone, Copy)]
enum What {
    /// One that was made, and stays.
    Made(usize),
    /// The second one of the race.
    Moved,
    /// None of the sequence; it would be this, if that is known.
    Beyond(Option<Label>),
}

impl Rest {
    /// Forgets what was planned.
    pub(super) fn begin(&mut self) {
        self.followed.clear();
        self.steps.clear();
    }

    /// Finds the place of a sequence beside the branch that was taken, if the `tree` has that; `None` if it is covered.
    pub(super) fn find(
        &mut self,
        tree: Option<&Tree>,
        execution: &Execution<'_>,
        reversed: &Reversed,
        route: &Route,
    ) -> Option<Place> {
        let Some((tree, branch)) = tree.zip(route.nodes().get(reversed.first)) else {
            self.matched.clear();
            self.met.clear();
            return Some(Place { at: None, last: None });
        };
        let before = reversed.first.checked_sub(1).map_or(Tree::root(), |before| route.nodes()[before]);
        let at = self.descend(tree, execution, reversed, (before, *branch), false)?;
        Some(Place { at: Some(at), last: tree.last_of(at) })
    }

    /// Takes down what of the sequence is to be put at the `place` that was found last.
    pub(super) fn plan(
        &mut self,
        place: Place,
        execution: &Execution<'_>,
        reversed: &Reversed,
        (route, asleep): (&Route, &mut Asleep),
    ) -> Plan {
        self.work_out(execution, reversed, route, asleep);
        let Rest { met, sequence, needed, followed, steps, .. } = self;
        let (first_followed, first_step) = (followed.len(), steps.len());
        followed.extend(met.iter().filter(|met| met.followed).map(|met| met.node));
        steps.extend(sequence.iter().zip(&*needed).filter(|(_, needed)| **needed).map(|(event, _)| event.planned));
        Plan { place, followed: first_followed..followed.len(), steps: first_step..steps.len() }
    }

    /// Works out what of a sequence is needed where the [descent](Self::descend) has led to: the part that wakes everybody
    /// who is asleep, one witness each, and what comes before the witnesses.
    fn work_out(&mut self, execution: &Execution<'_>, reversed: &Reversed, route: &Route, who_sleeps: &mut Asleep) {
        let Rest { sequence, met, asleep, matched, needed, .. } = self;
        asleep.clear();
        asleep.extend_from_slice(who_sleeps.beside(reversed.first, route, execution));
        asleep.push(Sleeper::taken(execution, reversed.first));
        let mut found = 0;
        for met in &*met {
            let step = met.step(execution, reversed, &matched.in_order()[..found]);
            if met.followed {
                found += usize::from(!matches!(met.what, What::Beyond(_)));
                asleep.retain(|s| s.planned.task != step.planned.task && !s.is_woken_by(step.label.as_ref()));
            } else {
                asleep.push(step);
            }
        }
        Sequence::new(execution, reversed, matched, reversed.first + 1).write_to(sequence);
        needed.clear();
        needed.resize(sequence.len(), false);
        for sleeper in &*asleep {
            let Some(witness) = sequence.iter().position(|event| conflicts(sleeper, event)) else { continue };
            let before = |event: &Event, other: &Event| execution.before(event.position, other.position);
            for (i, event) in sequence.iter().enumerate().take(witness + 1) {
                needed[i] |= i == witness || before(event, &sequence[witness]);
            }
            let Event { label, position, .. } = sequence[witness];
            if reversed.as_made || position != reversed.moved.position {
                continue;
            }
            // What the moved step comes to now may depend on steps that it did not depend on before.
            for (i, event) in sequence.iter().enumerate().take(witness).filter(|(_, event)| depends(event, &label)) {
                for (j, earlier) in sequence.iter().enumerate().take(i + 1) {
                    needed[j] |= before(earlier, event);
                }
            }
        }
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
        let mut next = tree.next_to(branch);
        if next.is_none() {
            return Some(at);
        }
        let moved = &reversed.moved;
        let mut from = Sequence::new(execution, reversed, matched, reversed.first + 1).begins_at()?;
        let planned_at = |from: usize| (from < reversed.end).then(|| execution.planned_at(from));
        let mut first = planned_at(from);
        // A step that is in the way of the moved one.
        let mut obstacle = None;
        while let Some(candidate) = next {
            let planned = tree.step(candidate);
            // What is met most: the first step of all, and the moved one with another in its way.
            let is_first = first == Some(planned);
            let is_hindered = planned.task == moved.planned.task && obstacle.is_some_and(|at| !matched.contains(at));
            let (what, can_begin) = if is_first {
                (What::Made(from), true)
            } else if is_hindered {
                (What::Moved, false)
            } else {
                let sequence = Sequence::new(execution, reversed, matched, from);
                let next = execution.task(planned.task).map(|task| (task, sequence.next_of(task)));
                match next.and_then(|(task, next)| sequence.own(task, next)) {
                    Some(own) if own == moved.position => {
                        obstacle = sequence.obstacle();
                        (What::Moved, moved.planned.choice == planned.choice && obstacle.is_none())
                    }
                    Some(own) => {
                        let chosen = execution.choice_at(own) == planned.choice;
                        (What::Made(own), chosen && !sequence.wakes_own(own))
                    }
                    None => {
                        let found = matched.in_order();
                        let label = next.and_then(|(task, next)| label_beyond(execution, task, next, reversed, found));
                        let step = Sleeper { planned, label };
                        (What::Beyond(label), !frugal && sequence.leaves_asleep(&step))
                    }
                }
            };
            if can_begin && tree.is_leaf(candidate) {
                return None;
            }
            met.push(Met { node: candidate, planned, what, followed: can_begin });
            if !can_begin {
                next = tree.next_to(candidate);
                continue;
            }
            let own = match what {
                What::Made(own) => Some(own),
                What::Moved => Some(moved.position),
                What::Beyond(_) => None,
            };
            if let Some(own) = own {
                matched.push(own);
                from = Sequence::new(execution, reversed, matched, from).begins_at()?;
                first = planned_at(from);
            }
            at = candidate;
            next = tree.first_of(candidate);
        }
        Some(at)
    }
}

impl Met {
    /// The step that it was, where those at the positions `found` had been made of the sequence.
    fn step(&self, execution: &Execution<'_>, reversed: &Reversed, found: &[usize]) -> Sleeper {
        let (position, own) = match self.what {
            What::Made(position) => (position, execution.steps[position].label()),
            What::Moved => (reversed.moved.position, reversed.moved.label),
            What::Beyond(label) => return Sleeper { planned: self.planned, label },
        };
        let label = if self.followed || own.kind.is(Traits::SAME_ANYWHERE) {
            Some(own)
        } else {
            // It stands before others of the sequence, and may come to something else there.
            label_beyond(execution, own.task, Some(position), reversed, found)
        };
        Sleeper { planned: self.planned, label }
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
        self.rest.work_out(self.execution, reversed, self.route, self.asleep);
        self.add(at);
    }

    /// The same of a sequence whose place was found before, if it is the same now.
    pub(super) fn insert_as_planned(&mut self, reversed: &Reversed, plan: &Plan) {
        if self.frugal || !plan.holds(self.tree, self.rest) {
            return self.insert(reversed);
        }
        self.node(reversed.first);
        let mut at = plan.place.at.unwrap_or_else(|| self.before(reversed.first));
        for planned in &self.rest.steps[plan.steps.clone()] {
            at = self.tree.add(at, *planned);
        }
        self.tree.mark_leaf(at);
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

    /// Adds a leaf after `at`, with what of the sequence was worked out to be needed.
    fn add(&mut self, mut at: NodeId) {
        let Planter { tree, rest: Rest { sequence, needed, .. }, .. } = self;
        let mut needed = sequence.iter().zip(&*needed).filter(|(_, needed)| **needed).map(|(event, _)| event);
        if self.frugal {
            at = needed.next().or(sequence.first()).map_or(at, |event| tree.add(at, event.planned));
        } else {
            needed.for_each(|event| at = tree.add(at, event.planned));
        }
        tree.mark_leaf(at);
    }
}

/// The label of what `task` does, at `next` if it does anything, when the steps before the race and those at the
/// positions `matched` have been made.
fn label_beyond(
    execution: &Execution<'_>,
    task: TaskId,
    next: Option<usize>,
    reversed: &Reversed,
    matched: &[usize],
) -> Option<Label> {
    let label = execution.announced(task, next, reversed.first)?;
    if label.kind.is(Traits::SAME_ANYWHERE) {
        return Some(label);
    }
    let depth = reversed.first;
    let end = matched.iter().max().map_or(depth, |last| last + 1);
    let after = label_after(execution, label, depth, end, |i| i < depth || matched.contains(&i));
    Some(after.unwrap_or(label))
}

/// Whether a sequence with `event` in it cannot begin with the sleeper's step.
fn conflicts(sleeper: &Sleeper, event: &Event) -> bool {
    if event.planned.task == sleeper.planned.task {
        return event.planned.choice != sleeper.planned.choice;
    }
    sleeper.is_woken_by(Some(&event.label))
}

/// Whether what a step with `label` comes to may depend on `event`; a timer also depends on the wait that it ends, and a receive on
/// the delivery of what it takes.
fn depends(event: &Event, label: &Label) -> bool {
    let is_waiting = label.kind.fires() && label.arg == u64::from(event.label.task.0);
    match relation(&event.label, label) {
        Relation::Dependent => true,
        Relation::Enabling => is_waiting || label.kind.receives(),
        _ => is_waiting,
    }
}
