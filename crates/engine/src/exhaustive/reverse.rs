//! From the races of an execution to sequences that other executions have to begin with.
//!
//! First it is found out, without the tree, which sequences are not covered by what sleeps
//! ([`Reversal::look_through`]); most are. The others are then put into the tree ([`Reversal::plant`]).

use super::Planned;
use super::asleep::{Asleep, Sleeper};
use super::context::label_after;
use super::execution::Execution;
use super::frugal::Sleep;
use super::plant::{Planter, Rest};
use super::preemptions::Preemptions;
use super::route::Route;
use super::sequence::{Event, NOTHING, Reversed, Sequence};
use super::tree::Tree;
use crate::operation::OpKind;

/// What is kept from one execution to the next, for its memory and because the same steps sleep as long
/// as executions go the same way.
#[derive(Default)]
pub(super) struct Reversal {
    asleep: Asleep,
    races: Vec<(usize, usize)>,
    /// By position: the last step of the execution before that did not come after the one there.
    last_staying: Vec<usize>,
    /// What is to be put into the tree, deepest first: what is added below cannot be in the way of what
    /// is added above.
    wanted: Vec<Reversed>,
    /// Besides, a step to be made instead of the one at a position.
    instead: Option<(usize, Planned)>,
    rest: Rest,
    pub(super) preemptions: Preemptions,
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

impl Reversal {
    /// Reverses every race of `execution`, which went along `route`, and adds the alternatives of its
    /// choices, as far as they are not covered by what sleeps.
    pub(super) fn look_through(&mut self, route: &Route, execution: &Execution<'_>) {
        Run::new(route, execution, self, false).reverse_before(execution.end);
    }

    /// The same, to store as little as possible. `sleep` knows who could have gone instead of whom; `None`
    /// if the execution was begun before there was any need to know.
    pub(super) fn look_through_frugally(
        &mut self,
        route: &Route,
        execution: &Execution<'_>,
        sleep: Option<&Sleep>,
    ) -> Worth {
        let mut run = Run::new(route, execution, self, true);
        let Some(at) = (0..execution.steps.len()).find(|at| run.was_asleep(*at)) else {
            run.reverse_before(execution.end);
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
        run.reverse_before(at.min(execution.end));
        worth
    }

    /// Forgets what is covered by what is in the tree; whatever is added to it, that will be so.
    pub(super) fn drop_covered(&mut self, tree: &Tree, route: &Route, execution: &Execution<'_>) {
        let Reversal { wanted, rest, .. } = self;
        wanted.retain(|reversed| match route.nodes().get(reversed.first) {
            Some(branch) => !rest.is_covered(tree, execution, reversed, *branch),
            None => true,
        });
    }

    /// Whether there is so much to be put into the tree that it takes a while to find the place of all of it.
    pub(super) fn wants_much(&self) -> bool {
        const MUCH: usize = 4;
        self.wanted.len() >= MUCH
    }

    /// Whether there is anything to be put into the tree.
    fn wants_anything(&self) -> bool {
        !self.wanted.is_empty() || self.instead.is_some()
    }

    /// Puts into the tree what was found to be wanted.
    pub(super) fn plant(&mut self, tree: &mut Tree, route: &Route, execution: &Execution<'_>, frugal: bool) {
        if !self.wants_anything() {
            return;
        }
        let Reversal { asleep, wanted, instead, rest, .. } = self;
        let mut planter = Planter { tree, execution, route, asleep, rest, frugal };
        planter.begin();
        if let Some((position, planned)) = instead.take() {
            planter.add_instead(position, planned);
        }
        wanted.iter().for_each(|reversed| planter.insert(reversed));
    }
}

struct Run<'a, 'e> {
    route: &'a Route,
    execution: &'a Execution<'e>,
    kept: &'a mut Reversal,
    /// Only the first step of a sequence is stored.
    frugal: bool,
}

impl<'a, 'e> Run<'a, 'e> {
    fn new(route: &'a Route, execution: &'a Execution<'e>, kept: &'a mut Reversal, frugal: bool) -> Self {
        kept.asleep.begin(route, execution);
        kept.last_staying.resize(execution.steps.len().max(kept.last_staying.len()), 0);
        kept.wanted.clear();
        kept.instead = None;
        Run { route, execution, kept, frugal }
    }

    /// Reverses the races between steps before `end`, and adds the alternatives of their choices.
    fn reverse_before(&mut self, end: usize) {
        let execution = self.execution;
        // What the execution before has made as well, it has seen to: whatever came of a race there, a branch
        // beside its first step leads to where its reversal begins, and that is all that is needed. But in
        // frugal mode another thing covers a sequence, and may have been asked before that; and what comes
        // later decides whether a sequence needs too many preemptions.
        let from = if self.frugal { 0 } else { execution.as_before };
        let races_from = if self.kept.preemptions.is_bounded() { 0 } else { from };
        let mut races = std::mem::take(&mut self.kept.races);
        races.clear();
        let all = execution.causality.races();
        let new = &all[all.partition_point(|(_, second)| *second < races_from)..];
        races.extend(new.iter().filter(|(_, second)| *second < end));
        races.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for races in races.chunk_by(|a, b| a.0 == b.0) {
            self.reverse(races[0].0, races, end);
        }
        self.kept.races = races;
        for at in execution.choices_before(end).filter(|at| *at >= from) {
            let step = &execution.steps[at];
            for outcome in (0..step.arg).filter(|outcome| *outcome != step.value) {
                self.choose_otherwise(at, outcome);
            }
        }
    }

    /// Whether the step at `position` was made although it slept.
    fn was_asleep(&mut self, position: usize) -> bool {
        let made = self.execution.planned_at(position);
        self.kept.asleep.at(position, self.route, self.execution).iter().any(|sleeper| sleeper.planned == made)
    }

    /// Wants the first of the possible steps at `position` that does not sleep, if there is one.
    fn go_instead(&mut self, position: usize, mut possible: impl Iterator<Item = Planned>) {
        let asleep = self.kept.asleep.at(position, self.route, self.execution);
        let awake = possible.find(|planned| !asleep.iter().any(|sleeper| sleeper.planned == *planned));
        self.kept.instead = awake.map(|planned| (position, planned));
    }

    /// Reverses races whose first step is the one at `first`; steps from `end` on do not count.
    fn reverse(&mut self, first: usize, races: &[(usize, usize)], end: usize) {
        let execution = self.execution;
        let origin = execution.causality.origin(first);
        let known = if self.kept.preemptions.is_bounded() { self.known_races(first, races, end) } else { 0 };
        // Behind the last one that stays there is nothing to look at.
        let end = execution.last_independent_of(first, end).map_or(first + 1, |last| last + 1);
        let stays = |i: usize| i < first || (i < end && !execution.causality.is_after(i, origin));
        for &(_, second) in &races[known..] {
            let label = label_after(execution, execution.steps[second].label(), first, end, stays);
            if let Some(label) = label {
                self.want(Reversed { first, origin, end, moved: Event { label, ..Event::at(execution, second) } });
            }
        }
    }

    /// How many of these races are those of the execution before, with the same steps that stay: they need as
    /// many preemptions as they did then.
    fn known_races(&mut self, first: usize, races: &[(usize, usize)], end: usize) -> usize {
        let last = self.execution.last_independent_of(first, end).unwrap_or(first);
        let before = std::mem::replace(&mut self.kept.last_staying[first], last);
        let common = self.execution.as_before;
        // What stays and is common to both is the same: it does not depend on what comes later.
        if !self.frugal && first < common && last < common && before < common {
            races.partition_point(|(_, second)| *second < common)
        } else {
            0
        }
    }

    /// Adds the alternative `outcome` of the choice at `position`.
    fn choose_otherwise(&mut self, position: usize, outcome: u64) {
        let mut moved = Event::at(self.execution, position);
        moved.planned.choice = outcome;
        moved.label.value = outcome;
        let origin = self.execution.causality.origin(position);
        self.want(Reversed { first: position, origin, end: position, moved });
    }

    /// Wants the sequence beside the branch that was taken, unless it can begin with a step that sleeps
    /// there, with one to the left of the branch, or with that of the branch itself; or needs too many
    /// preemptions.
    fn want(&mut self, reversed: Reversed) {
        let Run { route, execution, kept: Reversal { asleep, wanted, preemptions, .. }, frugal } = self;
        let sequence = Sequence { execution, reversed: &reversed, taken: &NOTHING, from: reversed.first + 1 };
        let covers = |sleeper: &Sleeper| {
            let task = sleeper.label.map(|label| label.task).or_else(|| execution.task(sleeper.planned.task));
            let own = task.and_then(|task| sequence.first_of(task));
            (own.is_some() || !*frugal) && sequence.can_begin_with(sleeper, own)
        };
        // Nothing that stays is in the way of the branch itself.
        let taken = Sleeper::taken(execution, reversed.first);
        let moved = &reversed.moved;
        let begins_with_branch = match moved.planned.task == taken.planned.task {
            true => moved.planned.choice == taken.planned.choice,
            false => !*frugal && !taken.is_woken_by(Some(&moved.label)),
        };
        if !begins_with_branch
            && !asleep.beside(reversed.first, route, execution).iter().any(covers)
            && !preemptions.forbid(execution, &reversed)
        {
            wanted.push(reversed);
        }
    }
}
