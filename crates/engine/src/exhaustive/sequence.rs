//! The sequence that a reversal leads to: all that did not come after the first step of a race, then the
//! second.
//!
//! It is not written down until it is certain that it is needed: most of the time it turns out that an
//! execution which begins with it has been, or will be, made anyway. To find that out, the few steps
//! that could be in the way of a sleeper are looked up by its task and by its resource.

use super::Planned;
use super::asleep::Sleeper;
use super::execution::Execution;
use crate::causality::Origin;
use crate::dependence::Label;
use crate::id::TaskId;
use crate::resource::Traits;

/// A step of a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) planned: Planned,
    pub(super) label: Label,
    /// Where the execution made it.
    pub(super) position: usize,
}

impl Event {
    /// The step that the execution made at `position`.
    pub(super) fn at(execution: &Execution<'_>, position: usize) -> Event {
        Event { planned: execution.planned_at(position), label: execution.steps[position].label(), position }
    }
}

/// What a reversal is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reversed {
    /// Where the first step of the race was made.
    pub(super) first: usize,
    /// The same, to be asked what happened after it.
    pub(super) origin: Origin,
    /// The steps between the first one and this position stay, if they did not come after it.
    pub(super) end: usize,
    /// The second one, as it is in its new place.
    pub(super) moved: Event,
    /// Whether that is what it was.
    pub(super) as_made: bool,
}

/// Positions of steps that have been taken out of a sequence, each task's in the order of the execution.
#[derive(Default)]
pub(super) struct Taken {
    positions: Vec<usize>,
    /// By position.
    is_taken: Vec<bool>,
}

/// None.
pub(super) static NOTHING: Taken = Taken { positions: Vec::new(), is_taken: Vec::new() };

impl Taken {
    pub(super) fn clear(&mut self) {
        self.positions.drain(..).for_each(|position| self.is_taken[position] = false);
    }

    pub(super) fn push(&mut self, position: usize) {
        if self.is_taken.len() <= position {
            self.is_taken.resize(position + 1, false);
        }
        self.is_taken[position] = true;
        self.positions.push(position);
    }

    #[inline]
    pub(super) fn contains(&self, position: usize) -> bool {
        self.is_taken.get(position).is_some_and(|is_taken| *is_taken)
    }

    /// All of them, in the order in which they were taken out.
    pub(super) fn in_order(&self) -> &[usize] {
        &self.positions
    }
}

/// The steps between the first one of a race and `end` that did not come after it, without those that have been
/// taken out.
#[derive(Clone, Copy)]
pub(super) struct Staying<'a, 'e> {
    pub(super) execution: &'a Execution<'e>,
    /// The first step of the race.
    pub(super) first: usize,
    /// The same, to be asked what happened after it.
    pub(super) origin: Origin,
    pub(super) taken: &'a Taken,
    /// There are none before this position.
    pub(super) from: usize,
    pub(super) end: usize,
}

impl Staying<'_, '_> {
    fn positions(&self) -> impl Iterator<Item = usize> {
        (self.from..self.end).filter(|i| self.has(*i))
    }

    /// Whether the step at `position` is one of them; it is before `end`.
    #[inline]
    fn has(&self, position: usize) -> bool {
        !self.execution.causality.is_after(position, self.origin) && !self.taken.contains(position)
    }

    /// Where the execution made the first one of `task`.
    #[inline]
    pub(super) fn first_of(&self, task: TaskId) -> Option<usize> {
        let next = self.execution.find_of(task, self.from, |i| !self.taken.contains(i))?;
        // What follows a step that does not stay does not stay either.
        (next < self.end && self.has(next)).then_some(next)
    }

    /// Whether one that was made before it wakes the sleeper, whose step is the first one of its task, made at `own`.
    #[inline]
    pub(super) fn wakes_before(&self, sleeper: &Sleeper, own: usize) -> bool {
        // Most of the time it is the first one of all, or it could have been.
        let could_be_first = || {
            let as_made = sleeper.label.is_some_and(|label| label == self.execution.steps[own].label());
            as_made && self.execution.causality.last_known_after(self.first, own).is_none()
        };
        self.from < own && !could_be_first() && self.wakes(sleeper, own)
    }

    /// Whether one that was made before `end` wakes the sleeper.
    #[inline]
    pub(super) fn wakes(&self, sleeper: &Sleeper, end: usize) -> bool {
        self.from < end && self.who_wakes(sleeper, end).is_some()
    }

    /// One that wakes the second step of the race, made at `position`, where it was the same if `as_made`; it comes last.
    #[inline]
    pub(super) fn who_wakes_moved(&self, moved: &Sleeper, position: usize, as_made: bool) -> Option<usize> {
        let Staying { execution, first, end, .. } = *self;
        if as_made {
            // Most of the time it is the last one that it knows of.
            let last = execution.causality.last_known_after(first, position)?;
            if last < end && moved.is_woken_by_step(&execution.steps[last]) && self.has(last) {
                return Some(last);
            }
        }
        self.who_wakes(moved, end)
    }

    /// The first one before `end` that wakes the sleeper.
    #[inline(never)]
    pub(super) fn who_wakes(&self, sleeper: &Sleeper, end: usize) -> Option<usize> {
        let wakes = |i: usize| sleeper.is_woken_by_step(&self.execution.steps[i]) && self.has(i);
        match &sleeper.label {
            Some(label) if !self.execution.reaches_further && !label.kind.is(Traits::REACHES) => {
                self.execution.find_on(label.resource, self.from, end, wakes)
            }
            _ => (self.from..end).find(|i| wakes(*i)),
        }
    }

    /// The same, without what is before the first of them.
    pub(super) fn starting_at_first(self) -> Self {
        Staying { from: self.positions().next().unwrap_or(self.end), ..self }
    }
}

/// What is left of such a sequence: steps that stay, then the second one of the race.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'a, 'e> {
    staying: Staying<'a, 'e>,
    moved: &'a Event,
    as_made: bool,
}

impl<'a, 'e> Sequence<'a, 'e> {
    /// What is left when the steps at the positions `taken` have been taken out; nothing is before `from`, but for
    /// the second step of the race.
    #[inline]
    pub(super) fn new(execution: &'a Execution<'e>, reversed: &'a Reversed, taken: &'a Taken, from: usize) -> Self {
        let Reversed { first, origin, end, ref moved, as_made } = *reversed;
        Sequence { staying: Staying { execution, first, origin, taken, from, end }, moved, as_made }
    }

    /// The whole of it, in order.
    pub(super) fn write_to(&self, events: &mut Vec<Event>) {
        let Sequence { staying, moved, .. } = self;
        events.clear();
        events.extend(staying.positions().map(|i| Event::at(staying.execution, i)));
        events.extend(self.has_moved().then_some(**moved));
    }

    /// Where what is left of it begins, but for the second step of the race; `None` if nothing is left at all.
    pub(super) fn begins_at(&self) -> Option<usize> {
        let first = self.staying.positions().next();
        first.or_else(|| self.has_moved().then_some(self.staying.end))
    }

    #[inline]
    fn has_moved(&self) -> bool {
        !self.staying.taken.contains(self.moved.position)
    }

    /// The next step of `task` after what has been taken out, whether it is left or not.
    #[inline]
    pub(super) fn next_of(&self, task: TaskId) -> Option<usize> {
        let Staying { execution, first, taken, .. } = self.staying;
        execution.find_of(task, first, |i| !taken.contains(i))
    }

    /// Where the execution made the first step of `task`; `next` is its [next](Self::next_of) one.
    #[inline]
    pub(super) fn own(&self, task: TaskId, next: Option<usize>) -> Option<usize> {
        let Sequence { staying, moved, .. } = self;
        let stays = |next: &usize| *next < staying.end && !staying.execution.causality.is_after(*next, staying.origin);
        next.filter(stays).or_else(|| (moved.label.task == task && self.has_moved()).then_some(moved.position))
    }

    /// A step that is in the way of the moved one.
    #[inline]
    pub(super) fn obstacle(&self) -> Option<usize> {
        let Event { planned, label, position } = *self.moved;
        self.staying.who_wakes_moved(&Sleeper { planned, label: Some(label) }, position, self.as_made)
    }

    /// Whether one that was made before it is in the way of the first step of a task, made at `own`.
    #[inline]
    pub(super) fn wakes_own(&self, own: usize) -> bool {
        let Staying { execution, first, from, .. } = self.staying;
        // Most of the time it is the first one of all, or it could have been.
        from < own && execution.causality.last_known_after(first, own).is_some() && {
            let Event { planned, label, .. } = Event::at(execution, own);
            self.staying.wakes(&Sleeper { planned, label: Some(label) }, own)
        }
    }

    /// Whether nothing in it wakes the sleeper, who makes none of its steps.
    #[inline]
    pub(super) fn leaves_asleep(&self, sleeper: &Sleeper) -> bool {
        let woken = self.has_moved() && sleeper.is_woken_by(Some(&self.moved.label));
        !woken && !self.staying.wakes(sleeper, self.staying.end)
    }
}
