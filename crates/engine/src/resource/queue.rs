//! Queues of libraries: what is put in is taken out in order, and there may be room for so much only.
//!
//! Waits is the library's business, as is what is in the queue: a front end carries these operations out, and tells
//! the engine what came of them. Most are *simple*: one message is put in where there is room, or taken out where there is one,
//! and nobody else is concerned. Messages have numbers, so that it is known which of these commute. All else (somebody begins to
//! wait, gets what he waited for, gives up; the queue is closed) depends on everything, and leaves a [`Tally`] behind, from
//! which on can be counted what a simple operation would come to in another place.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::Trail;
use crate::causality::{Change, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::exhaustive::There;
use crate::operation::{OpKind, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::resource::State;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Object;
    const USES: T = T::COMPETES.with(T::LEARNS).with(T::TELLS);
    const COUNTS: T = T::TELLS_OUTCOME.with(T::MEETS_BY_TICKET);
    match kind {
        OpKind::Put => Facts::on(ON, "put", &[USES, COUNTS]),
        OpKind::Take => Facts::on(ON, "take", &[USES, COUNTS, T::SEES]),
        OpKind::Leave => Facts::on(ON, "leave", &[USES, T::SAME_ANYWHERE]),
        OpKind::Peek => {
            Facts::on(ON, "peek", &[T::LOOKS, T::SEES, T::SHARES, T::COMPETES, T::SAME_ANYWHERE, T::LEARNS])
        }
        OpKind::Rearrange => Facts::on(ON, "rearrange", &[USES, T::SEES, T::SAME_ANYWHERE]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it is an operation on a queue.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn is_of_queue(self) -> bool {
        matches!(self, OpKind::Put | OpKind::Take | OpKind::Leave | OpKind::Peek | OpKind::Rearrange)
    }

    /// Whether a front end carries it out by itself, and tells the engine what came of it: it never waits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn is_told(self) -> bool {
        self.is_access() || self.is_of_queue() || self.is_of_process()
    }
}

/// What is known of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tally {
    /// How much was ever put in.
    pub sent: u64,
    /// How much was ever taken out.
    pub received: u64,
    /// Room that is somebody's, who has not put anything there.
    pub reserved: u64,
    /// Whether it is open, and nobody waits for room.
    pub is_plain: bool,
}

impl Tally {
    /// Of a queue that nobody has used.
    pub const NEW: Tally = Tally { sent: 0, received: 0, reserved: 0, is_plain: true };
    /// Bits of a number; what has more is not kept account of.
    const BITS: u32 = 21;

    /// Whether there can be simple operations.
    fn is_plain(&self) -> bool {
        self.is_plain && (self.sent | self.received | self.reserved) >> Tally::BITS == 0
    }

    /// What a use of a queue comes to that leaves it so: its outcome, and its second operand.
    #[inline]
    pub fn tell(self, kind: OpKind, after: Tally, capacity: u64) -> (u32, u64) {
        let expected = match kind {
            OpKind::Put => Tally { sent: self.sent + 1, ..self },
            OpKind::Take => Tally { received: self.received + 1, ..self },
            OpKind::Leave | OpKind::Peek => return (outcome::OK, 0),
            _ => return (outcome::OK, after.packed()),
        };
        match after == expected {
            true => self.simple(kind, capacity).unwrap_or((outcome::REFUSED, after.packed())),
            false => (outcome::REFUSED, after.packed()),
        }
    }

    /// The outcome and the operand of a simple operation here, if there can be one.
    #[inline]
    fn simple(self, kind: OpKind, capacity: u64) -> Option<(u32, u64)> {
        if !self.is_plain() {
            return None;
        }
        let taken = self.sent + self.reserved;
        match kind {
            // The message that has to be taken out first, counted from 1, or 0; then its own number.
            OpKind::Put => (taken < self.received.saturating_add(capacity))
                .then_some((outcome::OK, taken.saturating_add(1).saturating_sub(capacity) << 32 | self.sent)),
            _ => (self.received < self.sent).then_some((outcome::OK, self.received)),
        }
    }

    fn packed(self) -> u64 {
        if !self.is_plain() {
            return 0;
        }
        self.sent | self.received << Tally::BITS | self.reserved << (2 * Tally::BITS) | 1 << 63
    }

    fn unpacked(arg: u64) -> Tally {
        let number = |at: u32| arg >> (at * Tally::BITS) & ((1 << Tally::BITS) - 1);
        Tally { sent: number(0), received: number(1), reserved: number(2), is_plain: arg >> 63 == 1 }
    }

    /// What there is after these steps.
    fn after(there: &There<'_>) -> Tally {
        let mut tally = Tally::NEW;
        for step in there.here() {
            match step.kind {
                OpKind::Put if step.is_ok() => tally.sent += 1,
                OpKind::Take if step.is_ok() => tally.received += 1,
                OpKind::Leave | OpKind::Peek => {}
                _ => tally = Tally::unpacked(step.arg),
            }
        }
        tally
    }
}

/// The number of the message that is put in or taken out.
fn number(arg: u64) -> u64 {
    arg & u64::from(u32::MAX)
}

/// The message that had to be taken out before this one could be put in.
fn needed(arg: u64) -> Option<u64> {
    (arg >> 32).checked_sub(1)
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn fold(trail: &mut Trail, hash: u64, step: &Step) -> u64 {
    match step.kind {
        OpKind::Put if step.is_ok() => trail.send(hash),
        OpKind::Take if step.is_ok() => trail.receive(hash),
        OpKind::Leave => trail.leave(hash),
        OpKind::Peek => trail.refuse_receive(hash),
        _ => trail.everything(hash),
    }
}

/// The rules of queues.
pub(crate) struct Rules;

impl Room for Rules {
    fn relation(&self, a: &Label, b: &Label) -> Relation {
        use OpKind::{Leave, Peek, Put, Take};
        let simple = |l: &Label| l.outcome == outcome::OK;
        let meet = |put: &Label, take: &Label| {
            let met = number(put.arg) == take.arg || needed(put.arg) == Some(take.arg);
            !(simple(put) && simple(take)) || met
        };
        // Who leaves and who puts something in would commute as well. But whether there is something to take decides whether
        // taking and leaving do: so what is put in must not stand between these two unnoticed (`dependence`, rule 2).
        let dependent = match (a.kind, b.kind) {
            (Peek, Peek) => false,
            (Leave, Take) => !simple(b),
            (Take, Leave) => !simple(a),
            (Put, Take) => meet(a, b),
            (Take, Put) => meet(b, a),
            _ => true,
        };
        if dependent { Relation::Dependent } else { Relation::Independent }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        let State::Count(capacity) = there.initial(label.resource) else { return Some(label) };
        match Tally::after(there).simple(label.kind, capacity) {
            Some(simple) => (label.outcome, label.arg) = simple,
            // What it would leave behind is nobody's business there.
            None if label.outcome == outcome::OK => (label.outcome, label.arg) = (outcome::REFUSED, 0),
            None => {}
        }
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        fold(trail, hash, step)
    }

    fn note_grant(&self, place: &mut Place, j: usize, step: &Step, _: &[Words], _: &mut History) -> Option<Change> {
        match step.kind {
            OpKind::Put if step.is_ok() => Some(place.send(j, number(step.arg))),
            OpKind::Take if step.is_ok() => Some(place.receive(j, step.arg)),
            _ => None,
        }
    }

    fn met_by_ticket(&self, place: &Place, step: &Step) -> Option<usize> {
        match step.kind {
            OpKind::Put if step.is_ok() => place.receives.get(needed(step.arg)),
            OpKind::Take if step.is_ok() => place.sends.get(Some(step.arg)),
            _ => None,
        }
    }

    // Simple steps learn of what depends on everything, of their message and of their room, not of each other; what depends on
    // everything learns of all. Those that leave learn of each other.

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        flow.read_atomic(request.resource, mine);
        match request.kind {
            OpKind::Put if request.is_ok() => flow.take_room(request.resource, needed(request.arg), mine),
            OpKind::Take if request.is_ok() => flow.take_message(request.resource, request.arg, mine),
            OpKind::Leave => flow.learn_of_shared(request.resource, mine),
            _ => {
                flow.learn_of_shared(request.resource, mine);
                flow.learn_of_releases(request.resource, mine);
            }
        }
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        match step.kind {
            OpKind::Put if step.is_ok() => flow.put_message(step.resource, number(step.arg), mine),
            OpKind::Take if step.is_ok() => flow.put_room(step.resource, step.arg, mine),
            OpKind::Leave => return flow.release_shared(step.resource, mine),
            OpKind::Peek => return,
            _ => return flow.write_atomic(step.resource, mine),
        }
        flow.release(step.resource, mine);
    }
}
