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
use crate::dependence::{Label, reaches_further};
use crate::id::TaskId;

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

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.iter().copied()
    }
}

/// What is left of such a sequence, when the steps at the positions `taken` have been taken out of it.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'a, 'e> {
    pub(super) execution: &'a Execution<'e>,
    pub(super) reversed: &'a Reversed,
    pub(super) taken: &'a Taken,
    /// Before this position nothing is left of it, but for the second step of the race.
    pub(super) from: usize,
}

impl Sequence<'_, '_> {
    /// The whole of it, in order.
    pub(super) fn write_to(&self, events: &mut Vec<Event>) {
        let Reversed { end, moved, .. } = *self.reversed;
        events.clear();
        events.extend((self.from..end).filter(|i| self.has(*i)).map(|i| Event::at(self.execution, i)));
        events.extend(self.has_moved().then_some(moved));
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.has_moved() && !(self.from..self.reversed.end).any(|i| self.has(i))
    }

    /// Where what is left of it begins.
    pub(super) fn begins_at(&self) -> usize {
        (self.from..self.reversed.end).find(|i| self.has(*i)).unwrap_or(self.reversed.end)
    }

    /// Whether the step at `position`, beyond the first one of the race, is one of those that stay.
    #[inline]
    fn stays(&self, position: usize) -> bool {
        let Reversed { origin, end, .. } = *self.reversed;
        position < end && !self.execution.causality.is_after(position, origin)
    }

    /// Whether it is, and has not been taken out.
    #[inline]
    fn has(&self, position: usize) -> bool {
        self.stays(position) && !self.taken.contains(position)
    }

    fn has_moved(&self) -> bool {
        !self.taken.contains(self.reversed.moved.position)
    }

    /// Where the execution made the first step of `task`.
    #[inline]
    pub(super) fn first_of(&self, task: TaskId) -> Option<usize> {
        let Reversed { first, moved, .. } = self.reversed;
        let next = self.execution.steps_of(task, first + 1).find(|i| !self.taken.contains(*i));
        // What follows a step that does not stay does not stay either.
        next.filter(|i| self.stays(*i))
            .or_else(|| (moved.label.task == task && self.has_moved()).then_some(moved.position))
    }

    /// Whether it can begin with the step of `sleeper`, of whose task the first step was made at `own`.
    #[inline]
    pub(super) fn can_begin_with(&self, sleeper: &Sleeper, own: Option<usize>) -> bool {
        let Reversed { end, moved, .. } = self.reversed;
        let before = match own {
            // The moved step comes last.
            Some(own) if own == moved.position => {
                if moved.planned.choice != sleeper.planned.choice {
                    return false;
                }
                *end
            }
            Some(own) => {
                if self.execution.choice_at(own) != sleeper.planned.choice {
                    return false;
                }
                own
            }
            None if self.has_moved() && sleeper.is_woken_by(Some(&moved.label)) => return false,
            None => *end,
        };
        !self.wakes(sleeper, before)
    }

    /// Whether a step that stays, and was made before `end`, wakes the sleeper.
    #[inline]
    fn wakes(&self, sleeper: &Sleeper, end: usize) -> bool {
        let wakes = |i: usize| self.has(i) && sleeper.is_woken_by_step(&self.execution.steps[i]);
        match &sleeper.label {
            Some(label) if !self.execution.reaches_further && !reaches_further(label.kind) => {
                self.execution.steps_on(label.resource, self.from).take_while(|i| *i < end).any(wakes)
            }
            _ => (self.from..end).any(wakes),
        }
    }
}
