//! From the races of an execution to sequences that other executions have to begin with.
//!
//! First it is found out, without the tree, which sequences are not covered by what sleeps
//! ([`Reversal::look_through`]); most are. The others are then put into the tree ([`Reversal::plant`]).

use super::Planned;
use super::asleep::{Asleep, Sleeper};
use super::context::label_after;
use super::execution::Execution;
use super::frugal::Sleep;
use super::plant::{Plan, Planter, Rest};
use super::preemptions::Preemptions;
use super::route::Route;
use super::sequence::{Event, NOTHING, Reversed, Staying};
use super::sharing::Commons;
use super::tree::Tree;
use crate::dependence::dependent_on_step;
use crate::look::Look;
use crate::resource::{Traits, writes};
use crate::trace::Step;

/// What is kept from one execution to the next, for its memory and because the same steps sleep as long
/// as executions go the same way.
#[derive(Default)]
pub(super) struct Reversal {
    asleep: Asleep,
    races: Vec<(usize, usize)>,
    /// Races of awaits with what was written before, where an execution was cut.
    awaits: Vec<(usize, usize)>,
    /// By position: the last step of the execution before that did not come after the one there.
    last_staying: Vec<usize>,
    /// Of those who must not begin a sequence beside the branch at hand: who makes none of the steps that stay.
    elsewhere: Vec<usize>,
    /// What is to be put into the tree, deepest first: what is added below cannot be in the way of what
    /// is added above.
    wanted: Vec<Wanted>,
    /// Besides, a step to be made instead of the one at a position.
    instead: Option<(usize, Planned)>,
    rest: Rest,
    pub(super) preemptions: Preemptions,
}

/// A sequence to be put into the tree, and where, if that is known.
struct Wanted {
    reversed: Reversed,
    plan: Option<Plan>,
}

impl Wanted {
    fn new(reversed: Reversed) -> Self {
        Wanted { reversed, plan: None }
    }
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
    /// choices, as far as they are not covered by what sleeps. If it `may_repeat` another one, whether it does.
    pub(super) fn look_through(&mut self, route: &Route, execution: &Execution<'_>, may_repeat: bool) -> Worth {
        let mut run = Run::new(route, execution, self, false);
        run.reverse_before(execution.end);
        let repeats = may_repeat && (0..execution.made).any(|at| run.was_asleep(at));
        if repeats { Worth::Redundant } else { Worth::New }
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
        let Some(at) = (0..execution.made).find(|at| run.was_asleep(*at)) else {
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
                let outcomes = step.outcomes();
                run.go_instead(at, (0..outcomes).map(|choice| Planned { task: execution.name(step.task), choice }));
                Worth::Redundant
            }
        };
        let end = run.end_of_races(at);
        run.reverse_before(end);
        worth
    }

    /// Finds the places of what is to be put into the tree, and forgets what is covered there; whatever is added by
    /// others, that will be so. The tree is only read.
    pub(super) fn find_places(&mut self, commons: &dyn Commons, route: &Route, execution: &Execution<'_>) {
        let Reversal { asleep, wanted, rest, .. } = self;
        rest.begin();
        let mut beside = None;
        // Whether it stays wanted.
        let mut find = |tree: Option<&Tree>, Wanted { reversed, plan }: &mut Wanted| {
            let Some(place) = rest.find(tree, execution, reversed, route) else { return false };
            // What is put beside the same branch before it may be in its way.
            if beside.replace(reversed.first) != Some(reversed.first) {
                *plan = Some(rest.plan(place, execution, reversed, (route, asleep)));
            }
            true
        };
        let needs_tree = |wanted: &Wanted| wanted.reversed.first < route.nodes().len();
        let (mut next, mut kept) = (0, 0);
        while next < wanted.len() && !needs_tree(&wanted[next]) {
            if find(None, &mut wanted[next]) {
                wanted.swap(kept, next);
                kept += 1;
            }
            next += 1;
        }
        if next < wanted.len() {
            commons.read(&mut |board| {
                if board.frugal || find(Some(&board.tree), &mut wanted[next]) {
                    wanted.swap(kept, next);
                    kept += 1;
                }
                next += 1;
                next < wanted.len()
            });
        }
        wanted.truncate(kept);
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
        for Wanted { reversed, plan } in &*wanted {
            match plan {
                Some(plan) => planter.insert_as_planned(reversed, plan),
                None => planter.insert(reversed),
            }
        }
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
        // later decides whether a sequence needs too many preemptions. And what a choice came to that only this
        // execution has made stays in a sequence: no branch for another outcome leads to where that begins. So it is with a
        // kill, which decides what its task does at its next step, and with all that decides what becomes of a process.
        let from = if self.frugal { 0 } else { execution.as_before };
        let races_from = if self.kept.preemptions.is_bounded() { 0 } else { from };
        let mut races = std::mem::take(&mut self.kept.races);
        races.clear();
        let all = execution.causality.races();
        let until = |position: usize| match all.last() {
            Some((_, last)) if *last >= position => all.partition_point(|(_, second)| *second < position),
            _ => all.len(),
        };
        // At the very end also those of what is awaited in vain.
        let last = if end < execution.end { until(end) } else { all.len() };
        let known = until(races_from).min(last);
        let chosen = || execution.choices_before(end).filter(|at| *at >= from);
        let decided = || chosen().chain(execution.decided_between(from, end));
        if decided().next().is_some() {
            let has_decided = |first: usize| {
                let origin = execution.causality.origin(first);
                decided().any(|at| !execution.causality.is_after(at, origin))
            };
            races.extend(all[..known].iter().filter(|(first, _)| has_decided(*first)));
        }
        races.extend_from_slice(&all[known..last]);
        races.append(&mut self.kept.awaits);
        races.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for races in races.chunk_by(|a, b| a.0 == b.0) {
            self.reverse(races[0].0, races, end);
        }
        self.kept.races = races;
        for at in execution.choices_before(end).filter(|at| *at >= from) {
            let step = &execution.steps[at];
            for outcome in step.alternatives() {
                self.choose_otherwise(at, outcome);
            }
        }
    }

    /// From step number `cut` on, all that can go on sleeps: up to where races are to be reversed. Who awaits something
    /// there does not sleep, and has not gone on: whether it could have gone on before has to be found out now.
    fn end_of_races(&mut self, cut: usize) -> usize {
        let execution = self.execution;
        let mut awaits = Vec::new();
        for (j, step) in execution.steps.iter().enumerate().skip(cut) {
            let is_next = step.kind.awaits() && !execution.steps[cut..j].iter().any(|s| s.task == step.task);
            let is_write = |s: &&Step| s.resource == step.resource && writes(s.kind, u32::from(s.outcome));
            let since = || execution.steps[cut..j].iter().filter(is_write).count();
            if !is_next || Look::of(step.arg).held(since()) == Some(true) {
                continue;
            }
            match execution.causality.await_could_precede(j).find(|write| write.is_none_or(|write| write < cut)) {
                Some(Some(write)) => awaits.push((write, j)),
                // Nobody knows when: all that follows is gone through, as if nobody slept.
                Some(None) => return execution.end,
                None => {}
            }
        }
        self.kept.awaits = awaits;
        cut.min(execution.end)
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
        let Run { route, kept: Reversal { asleep, elsewhere, wanted, preemptions, .. }, frugal, .. } = self;
        let staying = Staying { execution, first, origin, taken: &NOTHING, from: first + 1, end }.starting_at_first();
        let sleepers = asleep.beside(first, route, execution);
        let Some(beside) = Beside::new(sleepers, staying, elsewhere, *frugal) else { return };
        let stays = |i: usize| i < first || (i < end && !execution.causality.is_after(i, origin));
        for &(_, second) in &races[known..] {
            let made = execution.steps[second].label();
            let Some(label) = label_after(execution, made, first, end, stays) else { continue };
            // Else it depends on the first one, and nothing that stays is in the way of that.
            let as_made = made.kind.is(Traits::SAME_ANYWHERE) || label == made;
            let begins_with_first = !as_made && !*frugal && !dependent_on_step(&execution.steps[first], &label);
            let mut planned = execution.planned_at(second);
            if execution.steps[second].kind.happens() {
                // What is chosen there may be another thing.
                planned.choice = 0;
            }
            let moved = Event { planned, label, position: second };
            if begins_with_first || beside.covers(&moved) {
                continue;
            }
            let reversed = Reversed { first, origin, end, moved, as_made };
            if !preemptions.forbid(execution, &reversed) {
                wanted.push(Wanted::new(reversed));
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
        let Run { route, execution, kept: Reversal { asleep, elsewhere, wanted, preemptions, .. }, frugal } = self;
        let mut moved = Event::at(execution, position);
        moved.planned.choice = outcome;
        moved.label.value = outcome;
        let (first, origin, end) = (position, execution.causality.origin(position), position);
        let nothing = Staying { execution, first, origin, taken: &NOTHING, from: end, end };
        let sleepers = asleep.beside(first, route, execution);
        let Some(beside) = Beside::new(sleepers, nothing, elsewhere, *frugal) else { return };
        let reversed = Reversed { first, origin, end, moved, as_made: false };
        if !beside.covers(&moved) && !preemptions.forbid(execution, &reversed) {
            wanted.push(Wanted::new(reversed));
        }
    }
}

/// Those with which sequences beside a branch must not begin, that have the same steps that stay.
struct Beside<'a, 'e> {
    staying: Staying<'a, 'e>,
    sleepers: &'a [Sleeper],
    /// Those of them who make none of these steps: what is moved decides.
    elsewhere: &'a [usize],
    frugal: bool,
}

impl<'a, 'e> Beside<'a, 'e> {
    /// `None` if all of these sequences can begin with one of them, whatever is moved.
    #[inline]
    fn new(
        sleepers: &'a [Sleeper],
        staying: Staying<'a, 'e>,
        elsewhere: &'a mut Vec<usize>,
        frugal: bool,
    ) -> Option<Self> {
        elsewhere.clear();
        for (number, sleeper) in sleepers.iter().enumerate() {
            match sleeper.task(staying.execution).and_then(|task| staying.first_of(task)) {
                None => elsewhere.push(number),
                Some(own) => {
                    let chosen = staying.execution.choice_at(own) == sleeper.planned.choice;
                    if chosen && !staying.wakes_before(sleeper, own) {
                        return None;
                    }
                }
            }
        }
        Some(Beside { staying, sleepers, elsewhere, frugal })
    }

    /// Whether the sequence can begin with one of them if `moved` is what comes last.
    #[inline]
    fn covers(&self, moved: &Event) -> bool {
        for number in self.elsewhere {
            let sleeper = &self.sleepers[*number];
            let covers = match sleeper.planned.task == moved.planned.task {
                true => self.is_moved(sleeper, moved),
                false if self.frugal || sleeper.is_woken_by(Some(&moved.label)) => false,
                false => !self.staying.wakes(sleeper, self.staying.end),
            };
            if covers {
                return true;
            }
        }
        false
    }

    /// Whether the sequence can begin with the sleeper's step, which is that of the task of what is moved.
    #[inline(never)]
    fn is_moved(&self, sleeper: &Sleeper, moved: &Event) -> bool {
        let made = || self.staying.execution.steps[moved.position].label();
        let as_made = sleeper.label.is_some_and(|own| own == made());
        sleeper.planned.choice == moved.planned.choice
            && self.staying.who_wakes_moved(sleeper, moved.position, as_made).is_none()
    }
}
