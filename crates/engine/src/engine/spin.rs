//! Spin loops under exhaustive exploration: rounds that repeat themselves are cut after a few.
//!
//! A yield is a hint. It commutes with every step and decides nothing, so exhaustive exploration lets a task go on after it
//! like after any other step. But a loop that looks again and again has one behaviour for each number of rounds that it
//! makes in vain: without a bound there is no end to them. So a task that has repeated a round
//! [`spin_rounds`](super::Limits::spin_rounds) times is *held* until nobody else can go on.
//!
//! Nothing is claimed of the rounds that are cut off. A further round may well do something else, since the task can count
//! its rounds where nobody sees it; an exploration that has held anybody says so ([`Engine::spins_were_cut`]).
//!
//! Whether a task is held follows from its own steps and from what they came to, and from nothing else. So it is the same in
//! every order of steps that commute, as race reversal needs it. The hold ends with a step of the clock that comes after
//! everything, like a timer that fires when nobody can go on. A loop that gives up after many rounds ends that way, and
//! one that does not is found to be a livelock. Where timers are pending the task looks once more, and then time passes.

use super::Engine;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::Operation;
use crate::resource::{Parts, Several, Traits, changes};
use crate::task::Status;
use crate::trace::Step;

/// A loop may yield at several places: a round is compared with so many before it.
const LONGEST_PERIOD: usize = 8;

/// Values from here on may be addresses, which must not decide anything: two of them are taken for the same only if nothing
/// was written between them.
const FIRST_ADDRESS: u64 = 4096;

/// The rounds that a task has made: what it did between two yields.
#[derive(Clone, Default, Debug)]
pub(super) struct Rounds {
    /// The last ones, the newest last: from which step on, up to which.
    last: Vec<(usize, usize)>,
    /// The step after its last yield.
    begun: usize,
    /// Where it yielded last.
    site: Option<Site>,
    /// Rounds in a row that were the same as an earlier one, and how far back that was.
    repeated: u64,
    period: u64,
    /// Rounds in a row that ended at the same place.
    at_one_place: u64,
}

/// A task that is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spinner {
    pub(super) task: TaskId,
    /// Where it has yielded.
    site: Site,
}

impl Engine {
    /// `task` has yielded, by the last step; it is held after so many `rounds` that brought nothing new.
    pub(super) fn spin(&mut self, task: TaskId, rounds: u32) {
        if self.rounds.len() <= task.index() {
            self.rounds.resize_with(task.index() + 1, Rounds::default);
        }
        let mut own = std::mem::take(&mut self.rounds[task.index()]);
        let site = self.steps[self.steps.len() - 1].site;
        if own.end_round(&self.steps, task, site) && own.is_spent(rounds) {
            self.remove_ready(task);
            self.spinning.push(Spinner { task, site });
            self.spins_were_cut = true;
            self.may_need_care = true;
            self.leave_fast_path();
        }
        self.rounds[task.index()] = own;
    }

    /// Whether a spin loop was cut in this execution: what lies beyond its rounds was not explored.
    pub fn spins_were_cut(&self) -> bool {
        self.spins_were_cut
    }

    pub(super) fn is_spinning(&self, task: TaskId) -> bool {
        self.spinning.iter().any(|spinner| spinner.task == task)
    }

    /// Nobody else can go on: lets them look once more, unless they have and time can pass instead.
    pub(super) fn release_spinners(&mut self) {
        if self.spinning.is_empty() {
            return;
        }
        let has_timers = self.timers.pending();
        for spinner in std::mem::take(&mut self.spinning) {
            let waits = self.tasks[spinner.task.index()].status == Status::Disabled;
            if waits || has_timers && self.second_looks.contains(&spinner) {
                self.spinning.push(spinner);
                continue;
            }
            let pending = Operation { resource: ResourceId::NONE, ..self.tasks[spinner.task.index()].pending };
            let step = Step { was_choice: false, ..self.firing(spinner.task, &pending, self.timers.now()) };
            self.steps.push(step);
            self.leave_trail();
            self.clock_has_ticked();
            self.make_ready(spinner.task);
            self.second_looks.push(spinner);
        }
    }
}

impl Rounds {
    /// Takes note of the round of `task` that its last step, a yield at `site`, has ended. False if there was nothing in it.
    fn end_round(&mut self, steps: &[Step], task: TaskId, site: Site) -> bool {
        let round = (self.begun, steps.len() - 1);
        self.begun = steps.len();
        if !own_steps(steps, task, round).any(|at| looks(&steps[at])) {
            return false;
        }
        // What comes before the loop is part of its first round.
        let is_first = |earlier: (usize, usize)| earlier.0 == 0;
        let is_repeated = |earlier: &(usize, usize)| is_repeated(steps, task, *earlier, round, is_first(*earlier));
        let period = self.last.iter().rev().position(is_repeated);
        (self.repeated, self.period) = match period {
            Some(before) => (self.repeated + 1, before as u64 + 1),
            None => (0, 1),
        };
        self.at_one_place = if self.site == Some(site) { self.at_one_place + 1 } else { 0 };
        self.site = Some(site);
        if self.last.len() == LONGEST_PERIOD {
            self.last.remove(0);
        }
        self.last.push(round);
        true
    }

    /// Whether it has made all the rounds that are explored. A loop that counts its rounds where it can be seen is never the
    /// same twice; its bound is wider, since what is no loop at all may yield several times at one place.
    fn is_spent(&self, rounds: u32) -> bool {
        let rounds = u64::from(rounds.max(1));
        self.repeated >= rounds * self.period || self.at_one_place >= 4 * (rounds + 1)
    }
}

/// The steps of `task` in a round, the last one first.
fn own_steps(steps: &[Step], task: TaskId, (begun, end): (usize, usize)) -> impl Iterator<Item = usize> {
    (begun..end).rev().filter(move |at| steps[*at].task == task)
}

/// Whether a step looks at something that others can change.
fn looks(step: &Step) -> bool {
    step.resource != ResourceId::NONE || step.kind.is(Traits::LOOKS_ABOUT)
}

/// Whether `task` did the same in both rounds, and it came to the same; what else the earlier one begins with does not count, if
/// it may begin with `more`.
fn is_repeated(steps: &[Step], task: TaskId, earlier: (usize, usize), later: (usize, usize), more: bool) -> bool {
    let (mut before, mut now) = (own_steps(steps, task, earlier), own_steps(steps, task, later));
    loop {
        match (before.next(), now.next()) {
            (None, None) => return true,
            (Some(_), None) => return more,
            (Some(before), Some(now)) if came_to_the_same(steps, before, now) => {}
            _ => return false,
        }
    }
}

fn came_to_the_same(steps: &[Step], i: usize, j: usize) -> bool {
    let (before, now) = (&steps[i], &steps[j]);
    let same = |step: &Step| (step.kind, step.resource, step.site, step.outcome);
    if same(before) != same(now) {
        return false;
    }
    let unwritten = || !steps[i..j].iter().any(|step| changes(step, now.resource));
    let all_unwritten = || {
        let mut touched = Several::of(now.resource, now.arg).touched();
        !touched.any(|(id, _)| steps[i..j].iter().any(|step| changes(step, id)))
    };
    let untouched = || {
        let touches = |step: &Step| Parts::of(step.arg).conflict(all_read(now));
        !steps[i..j].iter().any(|step| step.resource == now.resource && touches(step))
    };
    let equal = (before.value, before.arg) == (now.value, now.arg);
    match now.kind {
        // What is in a cell nobody has told us.
        kind if kind.is_of_cell() || kind.awaits() => unwritten(),
        kind if kind.is_of_parts() => untouched(),
        kind if kind.is_of_several() => before.arg == now.arg && all_unwritten(),
        kind if kind.is_access() => equal && now.value.max(now.arg) < FIRST_ADDRESS || unwritten(),
        _ => equal,
    }
}

/// What a step that touches parts of its resource touches, as if it only looked.
fn all_read(step: &Step) -> Parts {
    let Parts { reads, writes } = Parts::of(step.arg);
    Parts { reads: reads | writes, writes: 0 }
}
