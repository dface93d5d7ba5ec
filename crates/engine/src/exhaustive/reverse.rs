//! From the races of an execution to new leaves.

use super::Planned;
use super::asleep::{Asleep, Sleeper};
use super::context::label_after;
use super::execution::Execution;
use super::frugal::Sleep;
use super::tree::{NodeId, Tree};
use crate::dependence::{Label, Relation, relation};
use crate::operation::OpKind;

/// A step of the sequence that a reversal leads to.
#[derive(Clone, Copy, Debug)]
struct Event {
    planned: Planned,
    label: Label,
    /// Where the execution made it.
    position: usize,
}

/// What is kept from one execution to the next, for its memory and because the same steps sleep as long
/// as executions go the same way.
#[derive(Default)]
pub(super) struct Reversal {
    asleep: Asleep,
    races: Vec<(usize, usize)>,
    /// By position: the last step of the execution before that did not come after the one there.
    last_staying: Vec<usize>,
    beside: Beside,
    rest: Rest,
}

/// Beside which branch a sequence is to be put, and what is known of all such sequences.
#[derive(Default)]
struct Beside {
    /// Who must not begin one of them, and about whom the steps that stay say nothing: the moved one
    /// decides.
    undecided: Vec<Sleeper>,
    /// Positions of the steps that stay.
    staying: Vec<usize>,
}

/// What is left of a sequence on its way down the tree.
#[derive(Default)]
struct Rest {
    sequence: Vec<Event>,
    /// Who is still to be woken by it.
    asleep: Vec<Sleeper>,
    /// Positions of the steps that were found in the tree.
    matched: Vec<usize>,
    needed: Vec<bool>,
}

/// What an execution was good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Worth {
    /// It is one of a class of its own.
    New,
    /// It was one that is made elsewhere.
    Redundant,
    /// It was one that is made elsewhere, and it is not known which others could have been made instead.
    Unknown,
}

/// Reverses every race of `execution`, which began with `leaf`, and adds the alternatives of its
/// choices.
pub(super) fn all_races(tree: &mut Tree, leaf: NodeId, execution: &Execution<'_>, kept: &mut Reversal) {
    Run::new(tree, leaf, execution, kept, false).reverse_before(execution.steps.len());
}

/// As [`all_races`], storing as little as possible. `sleep` knows who could have gone instead of whom;
/// `None` if the execution was begun before there was any need to know.
pub(super) fn all_races_frugally(
    tree: &mut Tree,
    leaf: NodeId,
    execution: &Execution<'_>,
    sleep: Option<&Sleep>,
    kept: &mut Reversal,
) -> Worth {
    let mut run = Run::new(tree, leaf, execution, kept, true);
    let end = execution.steps.len();
    let Some(at) = (0..end).find(|at| run.was_asleep(*at)) else {
        run.reverse_before(end);
        return Worth::New;
    };
    // From there on it is made elsewhere, unless somebody who was awake goes instead.
    let worth = match sleep.and_then(|sleep| sleep.offered(at)) {
        Some(offered) => {
            let all = offered.iter().flat_map(|(task, outcomes)| (0..*outcomes).map(|choice| (*task, choice)));
            run.go_instead(at, all.map(|(task, choice)| Planned { task, choice }));
            Worth::Redundant
        }
        None if execution.steps[at].was_choice => Worth::Unknown,
        None => {
            let step = &execution.steps[at];
            let outcomes = if step.kind == OpKind::Choose { step.arg } else { 1 };
            run.go_instead(at, (0..outcomes).map(|choice| Planned { task: execution.name(step.task), choice }));
            Worth::Redundant
        }
    };
    run.reverse_before(at);
    worth
}

struct Run<'a, 'e> {
    tree: &'a mut Tree,
    execution: &'a Execution<'e>,
    /// The nodes of the execution's steps, as far as the tree has them.
    nodes: Vec<NodeId>,
    kept: &'a mut Reversal,
    /// Only the first step of a sequence is stored.
    frugal: bool,
}

impl<'a, 'e> Run<'a, 'e> {
    fn new(
        tree: &'a mut Tree,
        leaf: NodeId,
        execution: &'a Execution<'e>,
        kept: &'a mut Reversal,
        frugal: bool,
    ) -> Self {
        let nodes = tree.path_to(leaf);
        kept.asleep.begin(&nodes, execution);
        kept.last_staying.resize(execution.steps.len().max(kept.last_staying.len()), 0);
        Run { tree, execution, nodes, kept, frugal }
    }

    /// Reverses the races between steps before `end`, and adds the alternatives of their choices.
    fn reverse_before(&mut self, end: usize) {
        let execution = self.execution;
        let mut races = std::mem::take(&mut self.kept.races);
        races.clear();
        races.extend(execution.causality.races().iter().filter(|(_, second)| *second < end));
        // Deepest first: what is added below cannot be in the way of what is added above.
        races.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for races in races.chunk_by(|a, b| a.0 == b.0) {
            self.reverse(races[0].0, races, end);
        }
        self.kept.races = races;
        for (at, step) in execution.steps.iter().enumerate().take(end) {
            if step.kind == OpKind::Choose {
                for outcome in (0..step.arg).filter(|outcome| *outcome != step.value) {
                    self.choose_otherwise(at, outcome);
                }
            }
        }
    }

    /// Whether the step at `position` was made although it slept.
    fn was_asleep(&mut self, position: usize) -> bool {
        let made = self.execution.planned_at(position);
        self.kept.asleep.at(position, self.tree, self.execution).iter().any(|sleeper| sleeper.planned == made)
    }

    /// Adds the first of the possible steps at `position` that does not sleep, if there is one.
    fn go_instead(&mut self, position: usize, mut possible: impl Iterator<Item = Planned>) {
        let asleep = self.kept.asleep.at(position, self.tree, self.execution);
        let awake = possible.find(|planned| !asleep.iter().any(|sleeper| sleeper.planned == *planned));
        let Some(planned) = awake else { return };
        if let Some(last) = position.checked_sub(1) {
            self.node(last);
        }
        let node = self.tree.add(self.before(position), planned);
        self.tree.mark_leaf(node);
    }

    /// The node that the step at `position` leads to; made if the tree does not have it yet.
    fn node(&mut self, position: usize) -> NodeId {
        while self.nodes.len() <= position {
            let at = self.nodes.len();
            let parent = self.before(at);
            let node = self.tree.add(parent, self.execution.planned_at(at));
            self.nodes.push(node);
        }
        self.nodes[position]
    }

    /// The node before the step at `position`.
    fn before(&self, position: usize) -> NodeId {
        match position {
            0 => Tree::root(),
            _ => self.nodes[position - 1],
        }
    }

    /// Reverses races whose first step is the one at `first`; steps from `end` on do not count.
    fn reverse(&mut self, first: usize, races: &[(usize, usize)], end: usize) {
        let execution = self.execution;
        let stays = |i: usize| i < first || (i < end && !execution.before(first, i));
        let staying = &mut self.kept.beside.staying;
        staying.clear();
        execution.causality.independent_of(first, staying);
        staying.truncate(staying.partition_point(|i| *i < end));
        let races = &races[self.known_races(first, races)..];
        if races.is_empty() || !self.may_begin_beside(first) {
            return;
        }
        for &(_, second) in races {
            let label = label_after(execution, execution.steps[second].label(), first, stays);
            if let Some(label) = label {
                self.insert(first, Event { label, ..Event::at(execution, second) });
            }
        }
    }

    /// How many of these races are those of the execution before, with the same steps that stay: there is
    /// nothing to be done for them that has not been done then.
    fn known_races(&mut self, first: usize, races: &[(usize, usize)]) -> usize {
        let last = self.kept.beside.staying.last().copied().unwrap_or(0);
        let before = std::mem::replace(&mut self.kept.last_staying[first], last);
        let common = self.execution.as_before;
        // What stays and is common to both is the same: it does not depend on what comes later. But what
        // covers a sequence is another thing in frugal mode, and may have been asked before that.
        if !self.frugal && first < common && last < common && before < common {
            races.partition_point(|(_, second)| *second < common)
        } else {
            0
        }
    }

    /// Adds the alternative `outcome` of the choice at `position`.
    fn choose_otherwise(&mut self, position: usize, outcome: u64) {
        let mut event = Event::at(self.execution, position);
        event.planned.choice = outcome;
        event.label.value = outcome;
        self.kept.beside.staying.clear();
        if self.may_begin_beside(position) {
            self.insert(position, event);
        }
    }

    /// Finds out who must not be first in a sequence beside the branch that was taken at `depth`. False
    /// if one of them is, or could be made to be, the first of the steps that stay.
    fn may_begin_beside(&mut self, depth: usize) -> bool {
        let Run { tree, execution, kept: Reversal { asleep, beside, .. }, .. } = self;
        beside.undecided.clear();
        for sleeper in asleep.beside(depth, tree, execution) {
            let task = execution.task(sleeper.planned.task);
            let decides = |i: &&usize| Some(execution.steps[**i].task) == task || wakes(execution, **i, sleeper);
            match beside.staying.iter().find(decides) {
                None => beside.undecided.push(*sleeper),
                Some(i) if conflicts(sleeper, &Event::at(execution, *i)) => {}
                Some(_) => return false,
            }
        }
        // The branch itself: what comes after it does not stay.
        beside.undecided.push(Sleeper::taken(execution, depth));
        true
    }

    /// Puts the steps that stay, and then `moved`, beside the branch that was taken at `depth`; unless
    /// that is covered.
    fn insert(&mut self, depth: usize, moved: Event) {
        let covers = |sleeper: &Sleeper| {
            !conflicts(sleeper, &moved) && (!self.frugal || sleeper.planned.task == moved.planned.task)
        };
        if self.kept.beside.undecided.iter().any(covers) {
            return;
        }
        let branch = self.node(depth);
        let mut rest = std::mem::take(&mut self.kept.rest);
        rest.sequence.clear();
        rest.sequence.extend(self.kept.beside.staying.iter().map(|i| Event::at(self.execution, *i)));
        rest.sequence.push(moved);
        rest.asleep.clear();
        rest.asleep.extend_from_slice(self.kept.asleep.beside(depth, self.tree, self.execution));
        rest.asleep.push(Sleeper::taken(self.execution, depth));
        if let Some(at) = self.descend(depth, branch, &mut rest) {
            self.add(at, &mut rest);
        }
        self.kept.rest = rest;
    }

    /// Follows the sequence to the right of `branch` as far as the tree has it. The node after which the
    /// rest of it is to be put; `None` if it is covered.
    fn descend(&self, depth: usize, branch: NodeId, rest: &mut Rest) -> Option<NodeId> {
        let Rest { sequence, asleep, matched, .. } = rest;
        matched.clear();
        let mut at = self.before(depth);
        let mut next = self.tree.right_of(branch).next();
        while let Some(candidate) = next {
            let planned = self.tree.step(candidate);
            match begins_with(planned, sequence, || self.label_beyond(planned, depth, matched)) {
                Begins::With(label, place) if place.is_some() || !self.frugal => {
                    if let Some(place) = place {
                        matched.push(sequence.remove(place).position);
                    }
                    if self.tree.is_leaf(candidate) || sequence.is_empty() {
                        return None;
                    }
                    asleep.retain(|s| s.planned.task != planned.task && !s.is_woken_by(label.as_ref()));
                    at = candidate;
                    next = self.tree.kids(candidate).next();
                }
                Begins::With(label, _) | Begins::No(label) => {
                    asleep.push(Sleeper { planned, label });
                    next = self.tree.right_of(candidate).next();
                }
            }
        }
        Some(at)
    }

    /// Adds a leaf after `at`: the part of the sequence that wakes everybody who is asleep, one witness
    /// each, and what comes before the witnesses.
    fn add(&mut self, mut at: NodeId, rest: &mut Rest) {
        let Rest { sequence, asleep, needed, .. } = rest;
        needed.clear();
        needed.resize(sequence.len(), false);
        for sleeper in &*asleep {
            let Some(witness) = sequence.iter().position(|event| conflicts(sleeper, event)) else { continue };
            let before = |event: &Event, other: &Event| self.execution.before(event.position, other.position);
            let Event { label, position, .. } = sequence[witness];
            for (i, event) in sequence.iter().enumerate().take(witness + 1) {
                needed[i] |= i == witness || before(event, &sequence[witness]);
            }
            if label == self.execution.steps[position].label() {
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
            at = needed.next().or(sequence.first()).map_or(at, |event| self.tree.add(at, event.planned));
        } else {
            needed.for_each(|event| at = self.tree.add(at, event.planned));
        }
        self.tree.mark_leaf(at);
    }

    /// The label of a planned step that is not in the sequence: of what its task does after the steps
    /// before `depth` and those at the positions `matched`.
    fn label_beyond(&self, planned: Planned, depth: usize, matched: &[usize]) -> Option<Label> {
        let task = self.execution.task(planned.task)?;
        let own = matched.iter().filter(|i| self.execution.steps[**i].task == task).max();
        let label = self.execution.pending_at(task, own.map_or(depth, |last| last + 1))?;
        let after = label_after(self.execution, label, depth, |i| i < depth || matched.contains(&i));
        Some(after.unwrap_or(label))
    }
}

impl Event {
    /// The step that the execution made at `position`.
    fn at(execution: &Execution<'_>, position: usize) -> Event {
        Event { planned: execution.planned_at(position), label: execution.steps[position].label(), position }
    }
}

/// Whether the step at `position` wakes the sleeper.
fn wakes(execution: &Execution<'_>, position: usize, sleeper: &Sleeper) -> bool {
    sleeper.is_woken_by(Some(&execution.steps[position].label()))
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

enum Begins {
    /// It cannot begin with that step, which is this one.
    No(Option<Label>),
    /// It can; the step is the one at the given place of the sequence, if it is in it.
    With(Option<Label>, Option<usize>),
}

/// Whether the sequence can begin with the planned step.
fn begins_with(planned: Planned, sequence: &[Event], beyond: impl Fn() -> Option<Label>) -> Begins {
    let place = sequence.iter().position(|event| event.planned.task == planned.task);
    let label = match place {
        Some(place) => Some(sequence[place].label),
        None => beyond(),
    };
    let sleeper = Sleeper { planned, label };
    if let Some(place) = place {
        if sequence[place].planned.choice != planned.choice {
            return Begins::No(label);
        }
    }
    let before = &sequence[..place.unwrap_or(sequence.len())];
    if before.iter().any(|event| conflicts(&sleeper, event)) {
        return Begins::No(label);
    }
    Begins::With(label, place)
}
