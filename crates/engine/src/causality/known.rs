//! What is known of earlier steps while the clock of a step is computed.

use super::history::{Change, History};
use super::place::{Newest, Place, join};
use super::{NONE, Past, Words};
use crate::dependence::{Relation, ordered_with_all, relation_of_steps};
use crate::id::{ResourceId, TaskId};
use crate::look::Look;
use crate::operation::{OpKind, outcome};
use crate::resource::{Parts, Several, Traits, never_ordered, writes};
use crate::trace::Step;

/// The newest steps, by task and by place; kept for its memory, and to go back to what was known before.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The newest step of each task.
    newest: Vec<u32>,
    /// The newest firing of a timer of each task.
    fired: Vec<u32>,
    places: Vec<Place>,
    /// What is in a place that has not this number is of an execution before.
    number: u64,
    /// The candidates of the step at hand.
    earlier: Vec<usize>,
    /// The writes before which awaits could have come, the last one first; `None` if there may be more.
    awaits: Vec<(Option<usize>, usize)>,
    history: History,
}

/// Steps whose clocks are known.
pub(super) struct Seen<'a> {
    /// How many [`Words`] a clock has.
    pub(super) width: usize,
    pub(super) before: &'a [Words],
    pub(super) past: &'a [Past],
    pub(super) steps: &'a [Step],
}

/// A step whose clock is being computed.
pub(super) struct Row<'a> {
    pub(super) j: usize,
    /// Its number among its own task's.
    pub(super) own: u32,
    pub(super) clock: &'a mut [Words],
    /// One more than the last step that it knows of at first hand.
    pub(super) last_known: &'a mut u32,
    pub(super) seen: Seen<'a>,
    pub(super) races: &'a mut Vec<(usize, usize)>,
}

impl<'a> Row<'a> {
    fn step(&self) -> &'a Step {
        &self.seen.steps[self.j]
    }

    /// It knows all that step `i` knows.
    #[inline]
    pub(super) fn learn(&mut self, i: usize) {
        if !self.knows(i) {
            self.join(i);
        }
    }

    #[inline]
    fn join(&mut self, i: usize) {
        let Seen { width, before, .. } = self.seen;
        join(self.clock, &before[i * width..(i + 1) * width]);
        *self.last_known = (*self.last_known).max(i as u32 + 1);
    }

    /// Whether it knows of step `i`, as far as has been found out.
    #[inline]
    fn knows(&self, i: usize) -> bool {
        let Past { task, own, .. } = self.seen.past[i];
        own <= self.clock.as_flattened()[task as usize]
    }

    /// The same of a step that is remembered.
    #[inline]
    fn knows_of(&self, earlier: &Newest) -> bool {
        earlier.own <= self.clock.as_flattened()[earlier.task as usize]
    }

    /// It does not know of step `i`: the table says whether it has to.
    #[inline]
    fn learn_if_related(&mut self, i: usize) {
        match relation_of_steps(&self.seen.steps[i], self.step()) {
            Relation::Independent | Relation::Granting => return,
            Relation::Enabling => {}
            Relation::Dependent => self.races.push((i, self.j)),
        }
        self.join(i);
    }

    /// The last of the timers that fired together with the one that step `fire` is: where nobody could go on, those of
    /// one instant fire before anybody does.
    fn last_fired_with(&self, fire: usize) -> usize {
        let (steps, first) = (self.seen.steps, &self.seen.steps[fire]);
        if first.was_choice || first.outcome != 0 {
            return fire;
        }
        let together = |s: &&Step| s.kind.fires() && s.value == first.value && !s.was_choice;
        fire + steps[fire + 1..self.j].iter().take_while(together).count()
    }

    /// It races with every step that reads the clock from `from` on, also where others are between them: it may be that only
    /// before those it could have come at all.
    pub(super) fn race_with_all_reads_of_clock(&mut self, from: usize) {
        for i in (from..self.j).filter(|i| self.seen.steps[*i].kind.reads_clock()) {
            self.races.push((i, self.j));
            self.learn(i);
        }
    }

    /// It depends on whatever task number `task` does, but for its waits.
    pub(super) fn learn_newest_of(&mut self, task: u64, known: &Known) {
        let mut newest = known.newest.get(task as usize).map_or(NONE, |newest| *newest);
        while newest != NONE && !self.knows(newest as usize) {
            if !self.seen.steps[newest as usize].kind.is(Traits::NEEDS_ENABLING) {
                return self.learn_if_related(newest as usize);
            }
            newest = self.seen.past[newest as usize].previous;
        }
    }

    /// It is made when nobody else can go on: after everything.
    pub(super) fn learn_all(&mut self, known: &Known) {
        for newest in known.newest.iter().filter(|newest| **newest != NONE) {
            self.learn(*newest as usize);
        }
    }

    /// It is a signal that is fatal to the process that `task` is, and depends on what that does.
    pub(super) fn learn_newest_that_could_be_cut_off(&mut self, task: TaskId, known: &Known) {
        let mut newest = known.newest.get(task.index()).map_or(NONE, |newest| *newest);
        while newest != NONE && !self.knows(newest as usize) {
            let earlier = &self.seen.steps[newest as usize];
            if earlier.kind.is_of_actor() && relation_of_steps(earlier, self.step()) == Relation::Dependent {
                return self.learn_if_related(newest as usize);
            }
            newest = self.seen.past[newest as usize].previous;
        }
    }

    /// It asks whether task number `task` has ended.
    pub(super) fn learn_end_of(&mut self, task: u64, known: &Known) {
        let newest = known.newest.get(task as usize).map_or(NONE, |newest| *newest);
        if newest != NONE && self.seen.steps[newest as usize].kind.ends_task() && !self.knows(newest as usize) {
            self.learn_if_related(newest as usize);
        }
    }
}

impl Known {
    pub(super) fn reset(&mut self, tasks: usize) {
        self.number += 1;
        self.history.clear();
        for of_tasks in [&mut self.newest, &mut self.fired] {
            of_tasks.clear();
            of_tasks.resize(tasks, NONE);
        }
    }

    /// Knows only of the steps before those with this `past` again.
    pub(super) fn take_back(&mut self, past: &[Past]) {
        let Some(first) = past.first() else { return };
        while let Some((of, change)) = self.history.pop_beyond(first.changes as usize) {
            match change {
                Change::Fired(newest) => self.fired[of] = newest,
                _ => self.history.take_back(&mut self.places[of], change),
            }
        }
        for of_step in past.iter().rev() {
            self.newest[of_step.task as usize] = of_step.previous;
        }
    }

    /// The newest step of `task` is step `j`; which it was, and how many changes there have been.
    #[inline]
    pub(super) fn newest_of_task(&mut self, j: usize, task: usize) -> (u32, u32) {
        (std::mem::replace(&mut self.newest[task], j as u32), self.history.len() as u32)
    }

    /// Where the await at step `j` could have come before others that were written to what it awaits, the last one first;
    /// `None` if there may be more.
    pub(super) fn before_which(&self, j: usize) -> impl Iterator<Item = Option<usize>> + '_ {
        let first = self.awaits.partition_point(|(_, of)| *of < j);
        self.awaits[first..].iter().take_while(move |(_, of)| *of == j).map(|(write, _)| *write)
    }

    /// Knows only of awaits before step number `end` again.
    pub(super) fn forget_awaits(&mut self, end: usize) {
        self.awaits.truncate(self.awaits.partition_point(|(_, of)| *of < end));
    }

    pub(super) fn place(&self, at: usize) -> Option<&Place> {
        self.places.get(at).filter(|place| place.number == self.number)
    }

    #[inline]
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

    /// A step after the firing of its task's timer knows of it, and of the others that fired with it: at one
    /// instant all of them do before anybody goes on. A timer knows of the wait that it ends; and
    /// where it fires because nobody could go on, all that was done had to be done before.
    pub(super) fn learn_of_timers(&mut self, row: &mut Row<'_>) {
        let step = row.step();
        let fire = self.fired[step.task.index()];
        if fire != NONE {
            row.learn(row.last_fired_with(fire as usize));
        }
        if !step.kind.fires() || step.is_refused() {
            return;
        }
        // One that may come at any moment, and not only when nobody can go on.
        let races = step.was_choice || u32::from(step.outcome) == outcome::TIMED_OUT;
        for (task, newest) in self.newest.iter().enumerate() {
            if (!races || step.arg == task as u64) && *newest != NONE {
                row.learn(*newest as usize);
            }
        }
        let task = step.arg as usize;
        if let Some(fired) = self.fired.get_mut(task) {
            self.history.push(task, Change::Fired(std::mem::replace(fired, row.j as u32)));
        }
    }

    /// The step, an access, comes to the place of its resource: as [`meet`](Self::meet), without the questions that
    /// do not arise.
    #[inline]
    pub(super) fn meet_access(&mut self, row: &mut Row<'_>, at: usize) {
        let (j, step) = (row.j, row.step());
        let newest = Newest::new(j, step, row.own);
        let reads = newest.reads();
        let (place, history) = self.place_mut(at);
        for earlier in place.newest.iter().rev() {
            if reads && earlier.reads() || row.knows_of(earlier) {
                continue;
            }
            let i = earlier.step as usize;
            if earlier.kind.is_access() {
                row.races.push((i, j));
                row.join(i);
            } else {
                row.learn_if_related(i);
            }
        }
        let change = place.remember(newest, ordered_with_all(step), history);
        history.push(at, change);
    }

    /// Whether anybody has aimed at `task`, and may have asked for its end.
    #[inline]
    pub(super) fn is_end_watched(&self, task: usize) -> bool {
        self.place(Place::of_task(task)).is_some_and(|place| !place.newest.is_empty())
    }

    /// The step comes to its one place, at which what is remembered is in order: what the table says of
    /// that, newest first; then it is remembered itself.
    #[inline]
    pub(super) fn meet(&mut self, row: &mut Row<'_>, at: usize) {
        let step = row.step();
        let (place, history) = self.place_mut(at);
        for earlier in place.newest.iter().rev() {
            if !never_ordered(earlier.kind, step.kind) && !row.knows_of(earlier) {
                row.learn_if_related(earlier.step as usize);
            }
        }
        remember(row, at, place, history);
    }

    /// The step awaits what is at its place. It comes after all that was written there; but could have come before only
    /// where that was there which it waits for: the last time, and from there the reversal leads to earlier ones.
    #[cold]
    #[inline(never)]
    pub(super) fn meet_await(&mut self, row: &mut Row<'_>, at: usize) {
        let (j, step) = (row.j, row.step());
        let look = Look::of(step.arg);
        let before = row.seen.steps[..j].iter().enumerate().rev();
        let writes = before.filter(|(_, s)| s.resource == step.resource && writes(s.kind, u32::from(s.outcome)));
        let first = self.awaits.len();
        for ((write, _), k) in writes.zip(1..).take_while(|((write, _), _)| !row.knows(*write)) {
            match look.held(k) {
                Some(held) => self.awaits.extend(held.then_some((Some(write), j))),
                None => {
                    self.awaits.push((None, j));
                    break;
                }
            }
        }
        row.races.extend(self.awaits.get(first).and_then(|(write, _)| Some(((*write)?, j))));
        let (place, history) = self.place_mut(at);
        for earlier in place.newest.iter().rev().filter(|earlier| !earlier.reads()) {
            if !row.knows_of(earlier) {
                row.join(earlier.step as usize);
            }
        }
        remember(row, at, place, history);
    }

    /// The step reads and writes parts of its resource: it is an access to each of them.
    #[cold]
    #[inline(never)]
    pub(super) fn meet_parts(&mut self, row: &mut Row<'_>) {
        let step = row.step();
        self.meet_each(row, [OpKind::ReadParts, OpKind::WriteParts], || Parts::of(step.arg).each(step.resource));
    }

    /// The step is an access to several resources.
    #[cold]
    #[inline(never)]
    pub(super) fn meet_several(&mut self, row: &mut Row<'_>) {
        let step = row.step();
        let several = Several::of(step.resource, step.arg);
        self.meet_each(row, [OpKind::ReadSeveral, OpKind::WriteSeveral], || several.touched());
    }

    /// The step is an access to each of these, which are written or not; it is remembered there as the one of two kinds that
    /// reads, or as the one that writes.
    fn meet_each<I: Iterator<Item = (ResourceId, bool)>>(
        &mut self,
        row: &mut Row<'_>,
        [reading, writing]: [OpKind; 2],
        touched: impl Fn() -> I,
    ) {
        let (j, step) = (row.j, row.step());
        let parts = || touched().map(|(id, writes)| (Place::of_resource(id), writes));
        let mut earlier = std::mem::take(&mut self.earlier);
        for (place, writes) in parts().filter_map(|(at, writes)| Some((self.place(at)?, writes))) {
            let met = place.newest.iter().filter(|newest| (writes || !newest.reads()) && !row.knows_of(newest));
            earlier.extend(met.map(|newest| newest.step as usize));
        }
        newest_first(&mut earlier);
        for &i in &earlier {
            if !row.knows(i) {
                row.races.push((i, j));
                row.join(i);
            }
        }
        earlier.clear();
        self.earlier = earlier;
        for (at, writes) in parts() {
            let (place, history) = self.place_mut(at);
            let kind = if writes { writing } else { reading };
            let newest = Newest::new(j, &Step { kind, ..*step }, row.own);
            let change = place.remember(newest, writes, history);
            history.push(at, change);
        }
    }

    /// The same at several places.
    pub(super) fn meet_at_all(&mut self, row: &mut Row<'_>, at: &[usize]) {
        let step = row.step();
        let mut earlier = std::mem::take(&mut self.earlier);
        for at in at {
            let Some(place) = self.place(*at) else {
                continue;
            };
            let ordered = place.newest.iter().filter(|newest| !never_ordered(newest.kind, step.kind));
            earlier.extend(ordered.filter(|newest| !row.knows_of(newest)).map(|newest| newest.step as usize));
            // Which tickets meet depends on their numbers: the newest need not be the one.
            if step.kind.is(Traits::MEETS_BY_TICKET) {
                earlier.extend(step.kind.room().met_by_ticket(place, step));
            }
        }
        newest_first(&mut earlier);
        for &i in &earlier {
            if !row.knows(i) {
                row.learn_if_related(i);
            }
        }
        earlier.clear();
        self.earlier = earlier;
        for &at in at {
            let (place, history) = self.place_mut(at);
            remember(row, at, place, history);
        }
    }
}

#[inline]
fn remember(row: &Row<'_>, at: usize, place: &mut Place, history: &mut History) {
    let step = row.step();
    // Who asks for the end of a task looks at its last step.
    if step.kind.ends_task() && at != Place::TIME {
        return;
    }
    let newest = Newest::new(row.j, step, row.own);
    let change = place.remember(newest, ordered_with_all(step), history);
    history.push(at, change);
    if !step.kind.is_access() {
        let change = step.kind.room().note_grant(place, row.j, step, row.clock, history);
        change.into_iter().for_each(|change| history.push(at, change));
    }
}

/// A function of its own: it is compiled anew wherever it is called with an order of its own.
fn newest_first(steps: &mut [usize]) {
    steps.sort_unstable_by(|a, b| b.cmp(a));
}
