//! Vector clocks over a trace: what happened before what.
//!
//! Computed after the fact, from the steps and the dependence table alone, so that an execution pays
//! nothing for them. A step knows of
//!
//! - its task's previous step;
//! - what ended the wait after that step, or would have ended it had it come later: the unlock before
//!   a lock, the send of the ticket that was received. The *request* does not know of it, only what
//!   follows: so it makes no difference whether a task came before the unlock and waited, or after;
//! - every earlier step that it depends on or is enabled by.
//!
//! Looking at the dependent ones newest first finds exactly the *immediate* races: pairs of dependent
//! steps that nothing else orders. Of each task only the newest step of a kind can be one, so a place
//! remembers just those, and a step costs time in proportion to the tasks, not to the steps before it.
//!
//! Timers: one that fires because nobody could go on comes after everything. One that fires early, as a
//! choice, does not; but which of the two it is depends on the budget of early firings, which no step
//! shows. So clocks of runs with early timers are right, but not the same for all equivalent runs.

mod history;
mod place;

use self::history::{Change, History};
use self::place::{Newest, Place, Places, join, places};
use crate::dependence::{Relation, never_ordered, ordered_with_all, relation};
use crate::id::TaskId;
use crate::operation::{OpKind, outcome};
use crate::trace::Step;

/// For each step, how many steps of every task happened before it or are it.
#[derive(Clone, Debug, Default)]
pub struct Causality {
    tasks: usize,
    /// The clock of step j is the j-th row of `tasks` words.
    clocks: Vec<u32>,
    /// The number of each step among its own task's, from 1.
    own: Vec<u32>,
    races: Vec<(usize, usize)>,
    /// The steps that all this is of.
    steps: Vec<Step>,
    /// Whether the clock has any part in them.
    timed: bool,
    known: Known,
}

/// A step that many others are asked of, whether they happened after it.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    task: u32,
    number: u32,
}

/// No step.
const NONE: u32 = u32::MAX;

/// What is known of earlier steps while a step's clock is computed; kept for its memory.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The newest step of each task.
    newest: Vec<u32>,
    /// The newest firing of a timer of each task.
    fired: Vec<u32>,
    places: Vec<Place>,
    /// What is in a place that has not this number is of an execution before.
    number: u64,
    /// The candidates of the step at hand.
    earlier: Vec<usize>,
    history: History,
    /// By step: how many changes of all this came before it.
    changes_before: Vec<usize>,
}

impl Causality {
    /// Computes the clocks of `steps`.
    pub fn of(steps: &[Step]) -> Self {
        let mut causality = Self::default();
        causality.become_of(steps);
        causality
    }

    /// Computes the clocks of `steps` in place of those that it has. Quicker than anew, the more so the
    /// longer both begin alike; how many steps long that is, is returned.
    pub fn become_of(&mut self, steps: &[Step]) -> usize {
        let is_timed = |s: &Step| matches!(s.kind, OpKind::TimerFire | OpKind::Now);
        let mut kept = self.steps.iter().zip(steps).take_while(|(old, new)| old == new).count();
        let (old, new) = steps.split_at(kept);
        let tasks = new.iter().map(|s| s.task.index() + 1).max().unwrap_or(0);
        let timed = new.iter().any(is_timed) || self.timed && old.iter().any(is_timed);
        if tasks > self.tasks || timed != self.timed {
            (self.tasks, self.timed, kept) = (tasks.max(self.tasks), timed, 0);
            self.known.reset(self.tasks);
        }
        self.known.take_back(kept);
        self.steps.truncate(kept);
        self.steps.extend_from_slice(&steps[kept..]);
        self.clocks.truncate(kept * self.tasks);
        self.clocks.resize(steps.len() * self.tasks, 0);
        self.own.resize(steps.len(), 0);
        self.races.truncate(self.races.partition_point(|(_, second)| *second < kept));
        for j in kept..steps.len() {
            self.step(j);
        }
        kept
    }

    /// Whether step `i` happened before step `j`, or is it.
    #[inline]
    pub fn before(&self, steps: &[Step], i: usize, j: usize) -> bool {
        i <= j && self.own[i] <= self.row(j)[steps[i].task.index()]
    }

    /// Step `i`, for [`is_after`](Self::is_after).
    pub fn origin(&self, i: usize) -> Origin {
        Origin { task: self.steps[i].task.0, number: self.own[i] }
    }

    /// Whether step `j` happened after `origin`, or is it.
    #[inline]
    pub fn is_after(&self, j: usize, origin: Origin) -> bool {
        self.clocks[j * self.tasks + origin.task as usize] >= origin.number
    }

    /// The last step before `end` that comes after `i` but did not happen after it; looks at all of them.
    pub fn last_independent_of(&self, i: usize, end: usize) -> Option<usize> {
        let (task, number) = (self.steps[i].task.index(), self.own[i]);
        let column = self.clocks.get((i + 1) * self.tasks + task..end * self.tasks)?;
        column.iter().step_by(self.tasks).rposition(|known| *known < number).map(|at| i + 1 + at)
    }

    /// Pairs of dependent steps of different tasks that nothing else orders.
    pub fn races(&self) -> &[(usize, usize)] {
        &self.races
    }

    /// How much of `task` step `j` knows of.
    pub fn clock(&self, j: usize, task: TaskId) -> u32 {
        self.row(j).get(task.index()).copied().unwrap_or(0)
    }

    /// The number of step `j` among its own task's, from 1.
    pub fn own(&self, j: usize) -> u32 {
        self.own[j]
    }

    #[inline]
    fn row(&self, j: usize) -> &[u32] {
        &self.clocks[j * self.tasks..(j + 1) * self.tasks]
    }
}

impl Known {
    fn reset(&mut self, tasks: usize) {
        self.number += 1;
        self.history.clear();
        self.changes_before.clear();
        for of_tasks in [&mut self.newest, &mut self.fired] {
            of_tasks.clear();
            of_tasks.resize(tasks, NONE);
        }
    }

    /// Knows only of the first `kept` steps again.
    fn take_back(&mut self, kept: usize) {
        let Some(length) = self.changes_before.get(kept) else { return };
        while let Some((of, change)) = self.history.pop_beyond(*length) {
            match change {
                Change::OfTask(newest) => self.newest[of] = newest,
                Change::Fired(newest) => self.fired[of] = newest,
                _ => self.history.take_back(&mut self.places[of], change),
            }
        }
        self.changes_before.truncate(kept);
    }

    fn place(&self, at: usize) -> Option<&Place> {
        self.places.get(at).filter(|place| place.number == self.number)
    }

    fn place_mut(&mut self, at: usize) -> (&mut Place, &mut History) {
        if self.places.len() <= at {
            self.places.resize_with(at + 1, Place::default);
        }
        let place = &mut self.places[at];
        if place.number != self.number {
            place.reset(self.number);
        }
        (place, &mut self.history)
    }
}

/// The weaving itself, a step at a time.
impl Causality {
    fn step(&mut self, j: usize) {
        let step = self.steps[j];
        let task = step.task.index();
        let tasks = self.tasks;
        let previous = self.known.newest[task];
        if previous != NONE {
            let previous = previous as usize;
            self.clocks.copy_within(previous * tasks..(previous + 1) * tasks, j * tasks);
        }
        let number = &mut self.clocks[j * tasks + task];
        *number += 1;
        self.own[j] = *number;
        if step.after > 0 {
            self.learn(j, step.after as usize - 1);
        }
        let fire = self.known.fired[task];
        if fire != NONE {
            self.learn(j, fire as usize);
        }
        if previous != NONE {
            self.learn_grant(j, previous as usize);
        }
        if step.kind == OpKind::TimerFire {
            self.learn_before_firing(j);
        }
        let places = places(&step, self.timed);
        self.learn_related(j, &places);
        self.remember(j, &places);
    }

    /// Step `j` knows all that step `i` knows.
    #[inline]
    fn learn(&mut self, j: usize, i: usize) {
        if !self.knows(j, i) {
            self.join(j, i);
        }
    }

    #[inline]
    fn join(&mut self, j: usize, i: usize) {
        let tasks = self.tasks;
        let (before, at) = self.clocks.split_at_mut(j * tasks);
        join(&mut at[..tasks], &before[i * tasks..(i + 1) * tasks]);
    }

    /// Whether step `j` knows of step `i`, as far as has been found out.
    #[inline]
    fn knows(&self, j: usize, i: usize) -> bool {
        self.own[i] <= self.clocks[j * self.tasks + self.steps[i].task.index()]
    }

    /// The same of a step that is remembered.
    #[inline]
    fn knows_of(&self, j: usize, earlier: &Newest) -> bool {
        earlier.own <= self.clocks[j * self.tasks + earlier.task as usize]
    }

    /// Step `j` follows request `p` of its task: what let `p` go on, waited for or not.
    fn learn_grant(&mut self, j: usize, p: usize) {
        use OpKind::*;
        let Causality { steps, known, clocks, tasks, .. } = self;
        let request = &steps[p];
        if !matches!(request.kind, Lock | Read | Write | OnceEnter | Acquire | Recv | Send) {
            return;
        }
        let Some(place) = known.place(Place::of_resource(request.resource)) else {
            return;
        };
        let waited = steps[j].after.checked_sub(1).map(|by| steps[by as usize].kind);
        if waited == Some(TimerFire) {
            return;
        }
        let closed = u32::from(request.outcome) == outcome::DISCONNECTED || waited == Some(CloseSend);
        let (mut by, mut all) = (None, false);
        match request.kind {
            Lock | Read | OnceEnter => by = place.exclusive,
            Write => (by, all) = (place.exclusive, true),
            Acquire if waited.is_none() => by = place.release_for(p, request),
            Recv if closed => all = true,
            Recv if waited.is_none() => by = place.sends.get(Some(request.value)),
            Send if waited.is_none() && !closed => by = place.receives.get(request.value.checked_sub(request.arg)),
            _ => {}
        }
        if all && !place.shared.is_empty() {
            join(&mut clocks[j * *tasks..], &place.shared);
        }
        if let Some(i) = by {
            self.learn(j, i);
        }
    }

    /// A timer knows of the wait that it ends; and where it fires because nobody could go on, all that
    /// was done had to be done before.
    fn learn_before_firing(&mut self, j: usize) {
        let step = self.steps[j];
        for task in 0..self.tasks {
            if !step.was_choice || step.arg == task as u64 {
                let newest = self.known.newest[task];
                if newest != NONE {
                    self.learn(j, newest as usize);
                }
            }
        }
    }

    /// What the table says of earlier steps at the same places, newest first.
    fn learn_related(&mut self, j: usize, at: &Places) {
        let kind = self.steps[j].kind;
        match at.as_slice() {
            [] => {}
            [only] if !matches!(kind, OpKind::TrySend | OpKind::TryRecv) => self.learn_at(j, *only),
            _ => self.learn_sorted(j, at),
        }
    }

    /// The same where there is but one place, at which what is remembered is in order already.
    fn learn_at(&mut self, j: usize, at: usize) {
        let Some(place) = self.known.places.get_mut(at) else { return };
        if place.number != self.known.number {
            return;
        }
        let newest = std::mem::take(&mut place.newest);
        let kind = self.steps[j].kind;
        for earlier in newest.iter().rev() {
            if !never_ordered(earlier.kind, kind) && !self.knows_of(j, earlier) {
                self.learn_if_related(j, earlier.step as usize);
            }
        }
        self.known.places[at].newest = newest;
    }

    /// The same in general.
    fn learn_sorted(&mut self, j: usize, at: &Places) {
        let step = &self.steps[j];
        let mut earlier = std::mem::take(&mut self.known.earlier);
        for at in at.as_slice() {
            let Some(place) = self.known.place(*at) else {
                continue;
            };
            let ordered = place.newest.iter().filter(|newest| !never_ordered(newest.kind, step.kind));
            earlier.extend(ordered.filter(|newest| !self.knows_of(j, newest)).map(|newest| newest.step as usize));
            // Which tickets meet depends on their numbers: the newest need not be the one.
            earlier.extend(match step.kind {
                OpKind::TrySend => place.receives.get(step.value.checked_sub(step.arg)),
                OpKind::TryRecv => place.sends.get(Some(step.value)),
                _ => None,
            });
        }
        earlier.sort_unstable_by(|a, b| b.cmp(a));
        for &i in &earlier {
            if !self.knows(j, i) {
                self.learn_if_related(j, i);
            }
        }
        earlier.clear();
        self.known.earlier = earlier;
    }

    /// Step `j` does not know of step `i`: the table says whether it has to.
    #[inline]
    fn learn_if_related(&mut self, j: usize, i: usize) {
        match relation(&self.steps[i].label(), &self.steps[j].label()) {
            Relation::Independent | Relation::Granting => return,
            Relation::Enabling => {}
            Relation::Dependent => self.races.push((i, j)),
        }
        self.join(j, i);
    }

    fn remember(&mut self, j: usize, at: &Places) {
        let Causality { steps, known, clocks, tasks, own, .. } = self;
        let step = &steps[j];
        known.changes_before.push(known.history.len());
        let task = step.task.index();
        known.history.push(task, Change::OfTask(std::mem::replace(&mut known.newest[task], j as u32)));
        if step.kind == OpKind::TimerFire {
            let task = step.arg as usize;
            if let Some(fired) = known.fired.get_mut(task) {
                known.history.push(task, Change::Fired(std::mem::replace(fired, j as u32)));
            }
        }
        // What has to do with the end of a task comes before it is joined: nobody will ask for that.
        if step.kind == OpKind::Join {
            return;
        }
        for &at in at.as_slice() {
            let (place, history) = known.place_mut(at);
            let change = place.remember(Newest::new(j, step, own[j]), ordered_with_all(step), history);
            history.push(at, change);
            if !step.kind.is_access() {
                let change = place.note_grant(j, step, &clocks[j * *tasks..(j + 1) * *tasks], history);
                change.into_iter().for_each(|change| history.push(at, change));
            }
        }
    }
}
