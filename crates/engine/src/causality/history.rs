//! What steps have changed in what is known of earlier ones, so that it can be taken back: the next
//! execution often begins like the one before.

use super::place::{Newest, Place};
use super::{NONE, Words};

/// All changes, oldest first, with the task or the place that each of them is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    changes: Vec<(u32, Change)>,
    /// What the changes took away, one after the other.
    forgotten: Vec<Newest>,
    clocks: Vec<Words>,
}

/// A change, as what was there before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// The newest firing of a timer of a task.
    Fired(u32),
    /// A step is remembered in a place …
    Added,
    /// … instead of the one that was there at this place in the list …
    Replaced(u32),
    /// … instead of so many.
    Cleared(u32),
    /// The last exclusive release; so many words were known of shared ones.
    Exclusive(u32, u32),
    /// So many words were known of shared releases.
    Shared(u32),
    /// Permits were released.
    Released,
    /// The step of a ticket, of those sent.
    Sent(u32, u32),
    /// The same of those received.
    Received(u32, u32),
}

impl History {
    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn clear(&mut self) {
        self.changes.clear();
        self.forgotten.clear();
        self.clocks.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, of: usize, change: Change) {
        self.changes.push((of as u32, change));
    }

    /// The newest change, if there are more than `length`.
    pub(super) fn pop_beyond(&mut self, length: usize) -> Option<(usize, Change)> {
        if self.changes.len() <= length {
            return None;
        }
        self.changes.pop().map(|(of, change)| (of as usize, change))
    }

    /// A step, the one at `at`, has been forgotten.
    pub(super) fn forget(&mut self, at: usize, newest: Newest) -> Change {
        self.forgotten.push(newest);
        Change::Replaced(at as u32)
    }

    /// Steps are about to be forgotten.
    pub(super) fn forget_all(&mut self, newest: &[Newest]) -> Change {
        self.forgotten.extend_from_slice(newest);
        Change::Cleared(newest.len() as u32)
    }

    /// A clock is about to be changed; its length.
    pub(super) fn keep_clock(&mut self, clock: &[Words]) -> u32 {
        self.clocks.extend_from_slice(clock);
        clock.len() as u32
    }

    /// Takes back a change of `place`.
    #[inline]
    pub(super) fn take_back(&mut self, place: &mut Place, change: Change) {
        match change {
            Change::Fired(_) => {}
            Change::Added => drop(place.newest.pop()),
            Change::Replaced(at) => {
                place.newest.pop();
                self.forgotten.pop().into_iter().for_each(|old| place.newest.insert(at as usize, old));
            }
            Change::Cleared(count) => {
                place.newest.clear();
                place.newest.extend(self.forgotten.drain(self.forgotten.len() - count as usize..));
            }
            Change::Exclusive(old, words) => {
                place.exclusive = step(old);
                self.restore(&mut place.shared, words);
            }
            Change::Shared(words) => self.restore(&mut place.shared, words),
            Change::Released => drop(place.released.pop()),
            Change::Sent(ticket, old) => place.sends.set(ticket, step(old)),
            Change::Received(ticket, old) => place.receives.set(ticket, step(old)),
        }
    }

    fn restore(&mut self, clock: &mut Vec<Words>, words: u32) {
        clock.clear();
        clock.extend(self.clocks.drain(self.clocks.len() - words as usize..));
    }
}

/// A step in few bytes.
pub(super) fn packed(step: Option<usize>) -> u32 {
    step.map_or(NONE, |step| step as u32)
}

fn step(packed: u32) -> Option<usize> {
    (packed != NONE).then_some(packed as usize)
}
