//! The attempt of `auto` to explore everything, where that takes few executions.
//!
//! The first executions are guided: none of them is equivalent to another, so that those of a very small program
//! are all there is. After that it is made in bursts, between rounds: a small program is exhausted in the first
//! ones, and a large one loses little by them, as at most a third of all executions are theirs. When what is known to
//! be left does not fit into a tenth of the budget any more, the size of the whole is estimated: if that fits into what
//! is left of the budget, all of it is explored in one go, since samples would cost as much and say less; else the
//! attempt is given up for good. A burst runs on one OS thread, while nobody else makes executions, so that what it
//! makes does not depend on the number of workers.

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::strategy::{Fate, Guide, Profile, Sequential, is_beyond};

use super::exhaust::add;
use super::exploration::Exploration;
use super::plan::{GUIDED, Plan};
use super::program::Program;
use super::sharing::SHARING;
use super::spread::empty;
use super::worker::Worker;

/// No burst is made before this execution: the first ones of each kind come first.
const AFTER: u64 = 9;
/// Nor before this one where the guide of the first has given up: what is too wide for it, or unfit, is seldom small
/// enough, and a burst finds less in it than what is drawn.
const AFTER_GIVEN_UP: u64 = GUIDED + 1;
/// Executions that a burst must be worth.
const LEAST: u64 = 4;
/// The part of the budget that may be spent on it.
const SHARE: u64 = 10;
/// Executions that it may make at most.
const MOST: u64 = 1_000;
/// Executions that it may make if it is estimated that these are all.
const LARGEST: u64 = 100_000;
/// So many times as many executions as are estimated to come must be left: estimates are low at first.
const CERTAIN: u64 = 3;
/// Executions longer than this are not worth it: what an attempt costs grows faster than their length...
const LONGEST: u64 = 2_000;
/// ... unless hardly any of their steps meet those of another task: then there is little to do but to run them. Up to
/// this length, and for so many meetings.
const LONGEST_NARROW: u64 = 200_000;
const NARROW: u64 = 20;

/// An attempt under way.
pub(super) struct Attempt {
    /// As the executions are made; known when the first one is.
    plan: Option<Plan>,
    /// None until it begins.
    explorer: Option<Explorer>,
    /// Whose executions are the first ones; none when they are over.
    guide: Option<Guide>,
    most: u64,
    /// It was found to fit into the budget: it is not left half done any more.
    fits: bool,
    /// No burst is made before this execution.
    after: u64,
    given_up: bool,
    /// Before which execution a burst was made, and how many had been made by then in all of them.
    bursts: Vec<(u64, u64)>,
    pub(super) found: Exploration,
    /// Everything has been explored.
    pub(super) exhausted: bool,
    /// A task had to be left.
    pub(super) spent: bool,
}

impl Attempt {
    pub(super) fn new(plan: &Plan) -> Self {
        let most = if plan.may_exhaust() { (plan.executions / SHARE).min(MOST) } else { 0 };
        Attempt {
            plan: None,
            explorer: None,
            guide: plan.guide.clone(),
            most,
            fits: false,
            after: AFTER,
            given_up: most == 0,
            bursts: Vec::new(),
            found: empty(most),
            exhausted: false,
            spent: false,
        }
    }

    /// Takes note of what the guided executions before execution `number` have come to.
    pub(super) fn look_at_guide(&mut self, number: u64) {
        let Some(guide) = &self.guide else { return };
        let progress = guide.explorer().progress();
        let fate = guide.fate();
        if fate == Fate::Alive && !progress.exhausted && number < GUIDED {
            return;
        }
        if fate != Fate::Alive {
            self.after = AFTER_GIVEN_UP;
        }
        if fate != Fate::Unfit {
            self.explorer = Some(guide.explorer().clone());
            self.exhausted = progress.exhausted;
            self.given_up |= progress.exhausted || progress.diverged || progress.pending > self.most;
        }
        self.guide = None;
    }

    /// Behaviours that it has explored.
    pub(super) fn explored(&self) -> u64 {
        self.explorer.as_ref().map_or(0, |explorer| explorer.progress().executions)
    }

    /// Whether there is to be a burst before execution `number`.
    pub(super) fn is_due(&self, number: u64) -> bool {
        !self.given_up && self.guide.is_none() && number >= self.after && number / 2 >= self.found.executions + LEAST
    }

    /// Whether there is nothing left to sample for.
    pub(super) fn settles(&self, keep_going: bool) -> bool {
        (self.exhausted && self.found.spins_cut.is_none()) || self.spent || (!keep_going && self.found.failing > 0)
    }

    /// Executions that it made before execution `number`.
    pub(super) fn made_before(&self, number: u64) -> u64 {
        self.bursts.iter().rev().find(|(before, _)| *before <= number).map_or(0, |(_, made)| *made)
    }

    /// Makes the burst before execution `number`, unless it `is_late` by then.
    pub(super) fn go_on<P: Program>(
        &mut self,
        number: u64,
        plan: &Plan,
        program: &P,
        profile: &Profile,
        is_late: impl Fn() -> bool,
    ) {
        // Each outcome of a choice would have to be explored.
        if self.plan.is_none() && (profile.steps() > LONGEST_NARROW || profile.outcomes() > self.most) {
            self.given_up = true;
            return;
        }
        let left = plan.executions.saturating_sub(number);
        let is_first = self.plan.is_none();
        let plan = self.plan.get_or_insert_with(|| plan.to_exhaust(4 * profile.steps() + 64));
        let mut worker = Worker::new(plan, program);
        if is_first && profile.steps() > LONGEST {
            let mut ran = worker.run_with(number, Box::new(Sequential));
            if let Some(stop) = ran.stopped.take() {
                self.given_up = true;
                return self.found.stop(stop);
            }
            self.given_up = ran.cut || ran.failure.is_some() || is_beyond(&worker.engine().view(), NARROW);
            add(&mut self.found, ran, plan.spin_rounds);
        }
        let explorer = self.explorer.get_or_insert_with(|| Explorer::new(SHARING, u64::MAX));
        while !self.given_up && (self.fits || self.found.executions < number / 2) && !is_late() {
            let Some(strategy) = explorer.claim() else {
                self.exhausted = explorer.progress().exhausted;
                self.given_up = true;
                break;
            };
            let ticket = strategy.ticket();
            let mut ran = worker.run_with(number + self.found.executions, Box::new(strategy));
            if let Some(stop) = ran.stopped.take() {
                self.given_up = true;
                self.found.stop(stop);
                break;
            }
            self.spent = worker.is_spent();
            let stops = ran.cut
                || self.spent
                || (ran.failure.is_some() && !plan.keep_going)
                || explorer.was_redundant(ticket)
                || worker.engine().has_unmovable_choice();
            add(&mut self.found, ran, plan.spin_rounds);
            if self.found.executions + explorer.progress().pending > self.most {
                let to_come = explorer.estimate().saturating_sub(explorer.progress().executions);
                let whole = self.found.executions.saturating_add(to_come);
                let left_of_it = left.min(LARGEST).saturating_sub(self.found.executions);
                self.fits = to_come.saturating_mul(CERTAIN) <= left_of_it;
                // Estimates are often off by a factor of two, and made anew when it turns out to be more.
                self.most = left.min(whole.max(self.found.executions * 9 / 8 + 1));
                self.given_up = !self.fits;
            }
            self.given_up |= stops;
        }
        self.bursts.push((number, self.found.executions));
    }
}
