//! Exploring with little memory: who sleeps, while an execution runs.
//!
//! When the tree outgrows its budget, only the first step of each new sequence is stored from then on
//! (Source-DPOR of the same paper). A leaf then says too little to keep its execution away from what is
//! explored elsewhere, so the execution itself has to avoid the steps that *sleep*: those to the left
//! of its path that nothing since depends on. Where only sleepers can go on, all that follows is
//! explored elsewhere; such an execution is *redundant*, and is not counted.
//!
//! What is believed here steers, no more: outcomes of steps that have not been made are guesses. When
//! the execution is over, [`reverse`](super::reverse) finds out for certain, and who could have gone
//! instead is looked up in what was [`offered`](Sleep::offered).

use super::Planned;
use super::asleep::Sleeper;
use super::context::label_after;
use super::execution::{Analysis, Execution};
use super::names::{Cast, Name};
use super::route::Route;
use crate::dependence::Label;
use crate::id::TaskId;
use crate::operation::outcome;
use crate::strategy::{View, sequential_fill};

/// A task that could have made a step, and the number of outcomes that it had to choose from.
pub(super) type Offer = (Name, u64);

/// Who sleeps in the execution that runs.
pub(super) struct Sleep {
    /// By depth: what is explored to the left of the prefix.
    left: Vec<Vec<Planned>>,
    asleep: Vec<Sleeper>,
    /// Steps that `asleep` takes into account.
    known: usize,
    /// By position: who could have gone, where there was a choice beyond the prefix.
    offered: Vec<(usize, Vec<Offer>)>,
    nothing: Analysis,
}

impl Sleep {
    pub(super) fn new(route: &Route) -> Self {
        let left = (0..route.steps().len()).map(|depth| route.left_of(depth).to_vec()).collect();
        Sleep { left, asleep: Vec::new(), known: 0, offered: Vec::new(), nothing: Analysis::default() }
    }

    pub(super) fn begin(&mut self) {
        self.asleep.clear();
        self.offered.clear();
        self.known = 0;
    }

    /// Who could have gone at `position`; `None` if nobody was asked.
    pub(super) fn offered(&self, position: usize) -> Option<&[Offer]> {
        let at = self.offered.binary_search_by_key(&position, |(at, _)| *at).ok()?;
        Some(&self.offered[at].1)
    }

    /// The sequential choice among those who are awake; among all if nobody is.
    pub(super) fn pick(&mut self, view: &View<'_>, cast: &Cast) -> TaskId {
        let made = view.steps().len();
        self.catch_up(view, cast, made);
        let offer = |task: &TaskId| (cast.name(*task), outcomes(view, *task));
        self.offered.push((made, view.ready().iter().map(offer).collect()));
        let awake = |task: TaskId| {
            (0..outcomes(view, task)).any(|choice| !self.sleeps(Planned { task: cast.name(task), choice }))
        };
        let first = sequential_fill(view);
        if awake(first) {
            return first;
        }
        let others = view.ready().iter().copied().filter(|task| awake(*task));
        others.min_by_key(|task| (view.is_environment(*task), view.path(*task))).unwrap_or(first)
    }

    /// The first outcome of the last step that does not sleep.
    pub(super) fn choose(&mut self, outcomes: u64, view: &View<'_>, cast: &Cast) -> u64 {
        let at = view.steps().len() - 1;
        self.catch_up(view, cast, at);
        let task = cast.name(view.steps()[at].task);
        (0..outcomes).find(|choice| !self.sleeps(Planned { task, choice: *choice })).unwrap_or(0)
    }

    fn sleeps(&self, planned: Planned) -> bool {
        self.asleep.iter().any(|sleeper| sleeper.planned == planned)
    }

    /// Takes the steps before `position` into account.
    fn catch_up(&mut self, view: &View<'_>, cast: &Cast, position: usize) {
        let so_far = Execution::so_far(view, cast, &self.nothing);
        for at in self.known..position {
            if let Some(left) = self.left.get(at) {
                let sleeper =
                    |planned: &Planned| Sleeper { planned: *planned, label: label(view, &so_far, *planned, at) };
                self.asleep.extend(left.iter().map(sleeper));
            }
            let step = view.steps()[at].label();
            self.asleep.retain(|s| s.planned.task != cast.name(step.task) && !s.is_woken_by(Some(&step)));
        }
        self.known = position;
    }
}

/// The number of outcomes that the next step of `task` has.
fn outcomes(view: &View<'_>, task: TaskId) -> u64 {
    view.engine.outcomes_left(task, view.pending(task).outcomes())
}

/// What a planned step would be at `position`, as far as that can be told.
fn label(view: &View<'_>, so_far: &Execution<'_>, planned: Planned, position: usize) -> Option<Label> {
    let task = so_far.task(planned.task)?;
    let made = view.steps()[position..].iter().find(|step| step.task == task);
    let label = made.map(|step| step.label()).unwrap_or_else(|| {
        let pending = view.task(task).pending;
        // As if it had failed: then its argument is what it expects.
        let outcome = if pending.kind.compares() { outcome::REFUSED } else { outcome::OK };
        Label { task, kind: pending.kind, resource: pending.resource, arg: pending.arg, outcome, value: 0 }
    });
    Some(label_after(so_far, label, position, position, |i| i < position).unwrap_or(label))
}
