//! Clocks that drift within a bound: which timers can fire next, whatever times events are given.
//!
//! An order of events is possible if there are times for them, in that order, such that each timer that has fired took as long as its clock may
//! make of it, and each that has not is not overdue. These are bounds on differences of times, so all solutions are kept at once, as the *zone*
//! of a timed automaton (Dill, "Timing assumptions and verification of finite-state concurrent systems", 1989): a matrix with an entry for each two of
//! the present, the beginning, and the moments at which the timers were set that are still pending.
//!
//! What is possible once stays so until it happens: a message can take any time, so nothing but a timer makes time pass.

use crate::clock::{Timer, TimerId};
use crate::event::Event;
use crate::host::Host;
use crate::id::NodeId;
use crate::world::World;

/// In nanoseconds; `NEVER` is no bound.
type Bound = i128;
const NEVER: Bound = i128::MAX / 4;

/// The row of the present, and that of the beginning.
const NOW: usize = 0;
const BEGINNING: usize = 1;
const FIRST: usize = 2;

/// A timer that is pending.
struct Pending {
    node: NodeId,
    id: TimerId,
    /// What its node takes for its deadline.
    deadline: u64,
    least: Bound,
    most: Bound,
}

/// All times that the events so far can have had.
pub(crate) struct Zone {
    drift_ppm: u32,
    /// `bounds[a * size + b]`: moment `a` is so much later than `b` at most.
    bounds: Vec<Bound>,
    /// From row `FIRST` on.
    pending: Vec<Pending>,
}

fn sum(a: Bound, b: Bound) -> Bound {
    if a >= NEVER || b >= NEVER { NEVER } else { a + b }
}

impl Zone {
    pub(crate) fn new(drift_ppm: u32) -> Zone {
        Zone { drift_ppm, bounds: vec![0; FIRST * FIRST], pending: Vec::new() }
    }

    fn size(&self) -> usize {
        FIRST + self.pending.len()
    }

    fn at(&self, a: usize, b: usize) -> Bound {
        self.bounds[a * self.size() + b]
    }

    /// Moment `a` is so much later than `b` at most: with all that follows from it.
    fn bound(&mut self, a: usize, b: usize, most: Bound) {
        if most >= self.at(a, b) {
            return;
        }
        let size = self.size();
        for x in 0..size {
            let to_a = sum(self.at(x, a), most);
            for y in 0..size {
                let by_it = sum(to_a, self.at(b, y));
                let known = &mut self.bounds[x * size + y];
                *known = (*known).min(by_it);
            }
        }
    }

    /// The same without a row.
    fn without(&mut self, row: usize) {
        let size = self.size();
        let mut at = 0;
        self.bounds.retain(|_| {
            at += 1;
            let (a, b) = ((at - 1) / size, (at - 1) % size);
            a != row && b != row
        });
        self.pending.remove(row - FIRST);
    }

    /// The present is when the next event happens, whichever it is: any time from now on at which no timer is overdue.
    pub(crate) fn pass(&mut self) {
        let size = self.size();
        for b in 0..size {
            if b != NOW {
                self.bounds[NOW * size + b] = NEVER;
            }
        }
        for at in 0..self.pending.len() {
            let most = self.pending[at].most;
            self.bound(NOW, FIRST + at, most);
        }
    }

    /// A timer is set in the present.
    pub(crate) fn set(&mut self, node: NodeId, id: TimerId, after: u64, deadline: u64) {
        let (size, old) = (self.size() + 1, std::mem::take(&mut self.bounds));
        let of = |row: usize| if row == size - 1 { NOW } else { row };
        self.bounds = (0..size * size).map(|at| old[of(at / size) * (size - 1) + of(at % size)]).collect();
        let (after, drift) = (Bound::from(after), Bound::from(self.drift_ppm));
        let least = after * 1_000_000 / (1_000_000 + drift);
        let most = if drift < 1_000_000 { after * 1_000_000 / (1_000_000 - drift) } else { NEVER };
        self.pending.push(Pending { node, id, deadline, least, most });
    }

    fn row(&self, node: NodeId, id: TimerId) -> Option<usize> {
        let is_it = |pending: &Pending| (pending.node, pending.id) == (node, id);
        Some(FIRST + self.pending.iter().position(is_it)?)
    }

    pub(crate) fn cancel(&mut self, node: NodeId, id: TimerId) {
        if let Some(row) = self.row(node, id) {
            self.without(row);
        }
    }

    /// All timers of a node are gone.
    pub(crate) fn clear(&mut self, node: NodeId) {
        while let Some(at) = self.pending.iter().position(|pending| pending.node == node) {
            self.without(FIRST + at);
        }
    }

    /// The timers of a node may be overdue: it pauses.
    pub(crate) fn pause(&mut self, node: NodeId) {
        self.pending.iter_mut().filter(|pending| pending.node == node).for_each(|pending| pending.most = NEVER);
    }

    /// The timer of a node that can fire next: of several, the one with the earliest deadline.
    pub(crate) fn next_of(&self, node: NodeId) -> Option<TimerId> {
        let rows = self.pending.iter().enumerate().filter(|(_, pending)| pending.node == node);
        let possible = rows.filter(|(at, pending)| self.at(NOW, FIRST + at) >= pending.least);
        possible.min_by_key(|(_, pending)| (pending.deadline, pending.id)).map(|(_, pending)| pending.id)
    }

    /// It fires in the present.
    pub(crate) fn fire(&mut self, node: NodeId, id: TimerId) {
        if let Some(row) = self.row(node, id) {
            let least = self.pending[row - FIRST].least;
            self.bound(row, NOW, -least);
            self.without(row);
        }
    }

    /// The earliest that the present can be.
    fn earliest(&self) -> Bound {
        -self.at(BEGINNING, NOW)
    }

    /// What a clock shows at least.
    pub(crate) fn shown(&self) -> u64 {
        let slow = Bound::from(1_000_000_u32.saturating_sub(self.drift_ppm));
        u64::try_from(self.earliest() * slow / 1_000_000).unwrap_or(0)
    }

    /// Somebody reads that from a clock: a clock that shows so little cannot be later than that.
    pub(crate) fn read(&mut self) -> u64 {
        let earliest = self.earliest();
        self.bound(NOW, BEGINNING, earliest);
        self.shown()
    }
}

impl<M> World<M> {
    /// Where clocks drift within a bound: something has happened, and now the next thing can. Timers that can be that are posted.
    #[inline]
    pub(crate) fn let_time_pass(&mut self, host: &mut dyn Host) {
        if self.zone.is_some() {
            self.post_ticks(host);
        }
    }

    fn post_ticks(&mut self, host: &mut dyn Host) {
        let Some(zone) = &mut self.zone else { return };
        let zone = zone.get_mut();
        zone.pass();
        for (at, state) in self.nodes.iter_mut().enumerate() {
            let node = NodeId::from_index(at);
            if state.is_up && !state.is_paused && !state.timers.is_posted && zone.next_of(node).is_some() {
                state.timers.is_posted = true;
                host.post(node, node, Event::Tick(node), None);
            }
        }
    }

    /// The timer of a node that fires, if the one that was posted has not been cancelled.
    pub(crate) fn fire_within_drift(&mut self, node: NodeId) -> Option<Timer> {
        let zone = self.zone.as_mut()?.get_mut();
        let timers = &mut self.nodes[node.index()].timers;
        timers.is_posted = false;
        let id = zone.next_of(node)?;
        zone.fire(node, id);
        timers.fire_this(id)
    }
}
