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
//! Timers: one that fires because nobody could go on comes after everything. One that may fire early comes after
//! the wait that it ends and after all reads of the clock, and each of these reads could have come after it. That is
//! so where the exploration is exhaustive (`engine::early`). Where it is not, an early one only comes after the wait;
//! but which of the two kinds it is depends on the budget of early firings, which no step shows: then clocks are
//! right, but not the same for all equivalent runs.

mod history;
mod known;
mod place;

pub(crate) use self::history::{Change, History};
pub(crate) use self::place::{Grant, Place, Places};

use self::known::{Known, Row, Seen};
use self::place::{copy, join, places};
use crate::id::{ResourceId, TaskId};
use crate::operation::OpKind;
use crate::resource::Traits;
use crate::trace::Step;

/// For each step, how many steps of every task happened before it or are it.
#[derive(Clone, Debug, Default)]
pub struct Causality {
    /// Words of a clock: one for each task, and some more to make whole [`Words`].
    width: usize,
    /// The clock of step j is the j-th row of `width` words. What is beyond the last step is left from before.
    clocks: Vec<Words>,
    /// By step; the same holds here.
    past: Vec<Past>,
    races: Vec<(usize, usize)>,
    /// The steps that all this is of.
    steps: Vec<Step>,
    /// Whether the clock has any part in them.
    timed: bool,
    known: Known,
}

/// What a step comes after, in short.
#[derive(Clone, Copy, Debug)]
struct Past {
    task: u32,
    /// Its number among its own task's, from 1.
    own: u32,
    /// One more than the last step that it knows of at first hand, 0 if there is none.
    last_known: u32,
    /// The step of its task before it.
    previous: u32,
    /// How many changes of fired timers and of places there had been.
    changes: u32,
}

/// A step that many others are asked of, whether they happened after it.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    task: u32,
    number: u32,
}

/// No step.
const NONE: u32 = u32::MAX;

/// So many words of clocks are joined at once.
const WORDS: usize = 4;

/// A part of a clock.
pub(crate) type Words = [u32; WORDS];

impl Causality {
    /// Computes the clocks of `steps`.
    pub fn of(steps: &[Step]) -> Self {
        let mut causality = Self::default();
        causality.become_of(steps, 0);
        causality
    }

    /// The steps that it knows.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How many steps at the beginning are those that it knows already.
    pub fn common(&self, steps: &[Step]) -> usize {
        self.steps.iter().zip(steps).take_while(|(old, new)| old == new).count()
    }

    /// Computes the clocks of `steps` in place of those that it has, but for the first `kept`, which are
    /// [common](Self::common) to both.
    pub fn become_of(&mut self, steps: &[Step], mut kept: usize) {
        let is_timed = |s: &Step| s.kind.is(Traits::TIMED);
        let (old, new) = steps.split_at(kept);
        let tasks = new.iter().map(|s| s.task.index() + 1).max().unwrap_or(0);
        let timed = new.iter().any(is_timed) || self.timed && old.iter().any(is_timed);
        // To begin anew costs the same however much there is to forget.
        if kept == 0 || tasks > self.width || timed != self.timed {
            (self.width, self.timed, kept) = (tasks.next_multiple_of(WORDS).max(self.width), timed, 0);
            self.known.reset(self.width);
        } else {
            self.known.take_back(&self.past[kept..self.steps.len()]);
        }
        self.steps.truncate(kept);
        self.steps.extend_from_slice(&steps[kept..]);
        if self.past.len() < steps.len() {
            self.past.resize(steps.len(), Past { task: 0, own: 0, last_known: 0, previous: NONE, changes: 0 });
        }
        let words = steps.len() * self.width / WORDS;
        if self.clocks.len() < words {
            self.clocks.resize(words, [0; WORDS]);
        }
        self.races.truncate(self.races.partition_point(|(_, second)| *second < kept));
        self.known.forget_awaits(kept);
        for j in kept..steps.len() {
            self.step(j);
        }
    }

    /// Whether step `i` happened before step `j`, or is it.
    #[inline]
    pub fn before(&self, i: usize, j: usize) -> bool {
        i <= j && self.is_after(j, self.origin(i))
    }

    /// Step `i`, for [`is_after`](Self::is_after).
    #[inline]
    pub fn origin(&self, i: usize) -> Origin {
        let Past { task, own: number, .. } = self.past[i];
        Origin { task, number }
    }

    /// Whether step `j` happened after `origin`, or is it.
    #[inline]
    pub fn is_after(&self, j: usize, origin: Origin) -> bool {
        self.clocks.as_flattened()[j * self.width + origin.task as usize] >= origin.number
    }

    /// The last step after `i` that step `j` knows of at first hand: made by its own task, enabling it or depended on.
    /// If there is none, no step after `i` is any of that.
    #[inline]
    pub fn last_known_after(&self, i: usize, j: usize) -> Option<usize> {
        let last = self.past[j].last_known as usize;
        (last > i + 1).then_some(last.wrapping_sub(1))
    }

    /// The last step before `end` that comes after `i` but did not happen after it; looks at all of them.
    pub fn last_independent_of(&self, i: usize, end: usize) -> Option<usize> {
        let origin = self.origin(i);
        (i + 1..end).rev().find(|j| !self.is_after(*j, origin))
    }

    /// For how much there is room.
    pub(crate) fn room(&self) -> usize {
        self.clocks.capacity() * WORDS
    }

    /// Pairs of dependent steps of different tasks that nothing else orders.
    pub fn races(&self) -> &[(usize, usize)] {
        &self.races
    }

    /// The writes before which the await that is step `j` could have come, the last one first; `None` after them if there
    /// may be more.
    pub(crate) fn await_could_precede(&self, j: usize) -> impl Iterator<Item = Option<usize>> + '_ {
        self.known.before_which(j)
    }

    /// How much of `task` step `j` knows of.
    pub fn clock(&self, j: usize, task: TaskId) -> u32 {
        self.row(j).get(task.index()).copied().unwrap_or(0)
    }

    /// The number of step `j` among its own task's, from 1.
    pub fn own(&self, j: usize) -> u32 {
        self.past[j].own
    }

    #[inline]
    fn row(&self, j: usize) -> &[u32] {
        &self.clocks.as_flattened()[j * self.width..(j + 1) * self.width]
    }
}

/// The weaving itself, a step at a time.
impl Causality {
    fn step(&mut self, j: usize) {
        let Causality { width, clocks, past, races, steps, timed, known } = self;
        let (width, step) = (*width / WORDS, &steps[j]);
        let task = step.task.index();
        let (previous, changes) = known.newest_of_task(j, task);
        let (before, beyond) = clocks.split_at_mut(j * width);
        let clock = &mut beyond[..width];
        // What its task knew; of the first step, what it was made to begin by.
        let from = if previous == NONE { step.after.wrapping_sub(1) } else { previous };
        match from {
            NONE => clock.fill([0; WORDS]),
            from => copy(clock, &before[from as usize * width..][..width]),
        }
        let number = &mut clock.as_flattened_mut()[task];
        *number += 1;
        let (own, mut last_known) = (*number, from.wrapping_add(1));
        past[j] = Past { task: step.task.0, own, last_known, previous, changes };
        let is_granted = previous != NONE && steps[previous as usize].kind.is(Traits::REQUESTS);
        let learns = step.after > 0 && from == previous || is_granted || *timed;
        // What is met most: it ends, or comes to one place.
        if !learns && step.kind.ends_task() && !known.is_end_watched(task) {
            return;
        }
        if !learns && step.kind.is_access() && step.resource != ResourceId::NONE {
            let seen = Seen { width, before, past, steps };
            let mut row = Row { j, own, clock, last_known: &mut last_known, seen, races };
            known.meet_access(&mut row, Place::of_resource(step.resource));
            past[j].last_known = last_known;
            return;
        }
        self.learn(j, from);
    }

    /// What step `j` knows beyond what it has from step `from`, or has not if that is none.
    #[inline(never)]
    fn learn(&mut self, j: usize, from: u32) {
        let Causality { width, clocks, past, races, steps, timed, known } = self;
        let (width, step, Past { own, mut last_known, previous, .. }) = (*width / WORDS, &steps[j], past[j]);
        let (before, beyond) = clocks.split_at_mut(j * width);
        let seen = Seen { width, before, past, steps };
        let mut row = Row { j, own, clock: &mut beyond[..width], last_known: &mut last_known, seen, races };
        if step.kind.fires() && step.outcome != 0 {
            row.race_with_all_reads_of_clock(previous.wrapping_add(1) as usize);
        }
        if step.after > 0 && from == previous {
            row.learn(step.after as usize - 1);
        }
        if *timed {
            known.learn_of_timers(&mut row);
        }
        if previous != NONE && steps[previous as usize].kind.is(Traits::REQUESTS) {
            learn_grant(&mut row, known, previous as usize);
        }
        match step.kind {
            kind if kind.is_access() && step.resource != ResourceId::NONE => {
                known.meet_access(&mut row, Place::of_resource(step.resource));
            }
            kind if kind.awaits() => {
                known.meet_await(&mut row, Place::of_resource(step.resource));
            }
            kind if kind.serves() => row.learn_all(known),
            kind if kind.is_of_parts() => known.meet_parts(&mut row),
            kind if kind.is_of_several() => known.meet_several(&mut row),
            // A task that has ended is asked for its last step; so its end need not be remembered.
            kind if kind.joins() => row.learn_end_of(step.arg, known),
            _ => {
                let places = places(step, *timed);
                if step.kind.asks_for_end() {
                    row.learn_end_of(step.arg, known);
                } else if step.kind.kills() {
                    row.learn_newest_of(step.arg, known);
                } else if let Some(task) = step.dooms() {
                    row.learn_newest_that_could_be_cut_off(task, known);
                }
                match places.as_slice() {
                    [] => {}
                    [only] if !step.kind.is(Traits::MEETS_BY_TICKET) => known.meet(&mut row, *only),
                    all => known.meet_at_all(&mut row, all),
                }
            }
        }
        past[j].last_known = last_known;
    }
}

/// Step `j` follows request `p` of its task: what let `p` go on, waited for or not.
#[inline]
fn learn_grant(row: &mut Row<'_>, known: &Known, p: usize) {
    if let Some(place) = known.place(Place::of_resource(row.seen.steps[p].resource)) {
        learn_grant_at(row, place, p);
    }
}

fn learn_grant_at(row: &mut Row<'_>, place: &Place, p: usize) {
    let (steps, request) = (row.seen.steps, &row.seen.steps[p]);
    let waited = steps[row.j].after.checked_sub(1).map(|by| steps[by as usize].kind);
    if waited.is_some_and(OpKind::fires) {
        return;
    }
    let Grant { by, all_shared } = request.kind.room().granted_by(place, p, request, waited);
    if all_shared && !place.shared.is_empty() {
        join(row.clock, &place.shared);
        *row.last_known = row.j as u32;
    }
    if let Some(i) = by {
        row.learn(i);
    }
}
