//! The clock of a node, and its timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How time passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// A timer may fire at any time, in the order of the deadlines of its node; nodes drift apart as they like. So a timeout may come
    /// before the reply, however long it is.
    #[default]
    Elastic,
    /// All nodes have one clock, and it moves on to the earliest timer when nothing else can happen.
    Virtual,
    /// As elastic, but clocks drift apart by so much at most: a timer takes between its time divided by 1 + drift and its time divided by
    /// 1 − drift. A message may still take any time. So a lease that is held for a second while its grantor waits for two is safe, and one for
    /// which both wait equally long is not.
    ///
    /// Timers at different nodes have to do with each other then, so all events are [ordered](crate::Cluster::ordered).
    Bounded {
        /// In parts per million: 10,000 is one per cent.
        drift_ppm: u32,
    },
}

impl Clock {
    /// How far clocks drift, if there is a bound.
    pub(crate) fn drift(self) -> Option<u32> {
        match self {
            Clock::Bounded { drift_ppm } => Some(drift_ppm),
            Clock::Elastic | Clock::Virtual => None,
        }
    }

    pub(crate) fn is_bounded(self) -> bool {
        self.drift().is_some()
    }
}

/// A timer that was set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TimerId(pub(crate) u32);

/// A timer that fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer {
    /// Which.
    pub id: TimerId,
    /// The tag that it was set with.
    pub tag: u64,
}

/// What is set on the clock of a node, earliest first.
#[derive(Default)]
pub(crate) struct Timers {
    /// What the node takes the time to be, in nanoseconds since the run began.
    pub(crate) now: u64,
    set: BinaryHeap<Reverse<(u64, u32, u64)>>,
    cancelled: Vec<u32>,
    next: u32,
    /// Ticks that were posted, up to now.
    pub(crate) posted: u32,
    /// Where clocks drift within a bound: its next tick was posted, and has not happened.
    pub(crate) is_posted: bool,
}

impl Timers {
    pub(crate) fn set(&mut self, deadline: u64, tag: u64) -> TimerId {
        let id = self.next;
        self.next += 1;
        self.set.push(Reverse((deadline, id, tag)));
        TimerId(id)
    }

    pub(crate) fn cancel(&mut self, id: TimerId) -> bool {
        let is_set = self.set.iter().any(|Reverse((_, set, _))| *set == id.0) && !self.cancelled.contains(&id.0);
        if is_set {
            self.cancelled.push(id.0);
        }
        is_set
    }

    /// All that are set, with their deadlines.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, TimerId)> + '_ {
        self.set.iter().map(|Reverse((deadline, id, _))| (*deadline, TimerId(*id)))
    }

    /// The deadline of the earliest.
    pub(crate) fn earliest(&mut self) -> Option<u64> {
        loop {
            let Reverse((deadline, id, _)) = *self.set.peek()?;
            let Some(at) = self.cancelled.iter().position(|cancelled| *cancelled == id) else { return Some(deadline) };
            self.cancelled.swap_remove(at);
            self.set.pop();
        }
    }

    /// This one fires, whether it is the earliest or not.
    pub(crate) fn fire_this(&mut self, id: TimerId) -> Option<Timer> {
        let at = self.set.iter().find(|Reverse((_, set, _))| *set == id.0).copied()?;
        self.set.retain(|set| *set != at);
        let Reverse((deadline, id, tag)) = at;
        self.now = self.now.max(deadline);
        Some(Timer { id: TimerId(id), tag })
    }

    /// The earliest fires: the clock moves on to its deadline.
    pub(crate) fn fire(&mut self) -> Option<Timer> {
        self.earliest()?;
        let Reverse((deadline, id, tag)) = self.set.pop()?;
        self.now = self.now.max(deadline);
        Some(Timer { id: TimerId(id), tag })
    }

    /// The node is gone, and its timers with it.
    pub(crate) fn clear(&mut self) {
        self.set.clear();
        self.cancelled.clear();
    }
}
