//! Memory: atomics, plain cells, and objects of which nothing but reading and writing is known. What is read and written is the
//! front end's; the engine orders the accesses. Locks have such accesses too: whether they are poisoned.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::Trail;
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::There;
use crate::id::TaskId;
use crate::look::Look;
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Atomic;
    const LOOKS: T = T::LOOKS.with(T::SEES).with(T::SHARES).with(T::COMPETES);
    match kind {
        OpKind::Load => Facts::on(ON, "load", &[LOOKS, T::SAME_ANYWHERE, T::LEARNS]),
        OpKind::Store => Facts::on(ON, "store", &[T::COMPETES, T::SAME_ANYWHERE, T::TELLS]),
        OpKind::Rmw => {
            Facts::on(ON, "read-modify-write", &[T::COMPETES, T::SEES, T::SAME_ANYWHERE, T::LEARNS, T::TELLS])
        }
        OpKind::Cas => {
            Facts::on(ON, "compare-exchange", &[T::COMPETES, T::SEES, T::TELLS_OUTCOME, T::LEARNS, T::TELLS_IF_OK])
        }
        OpKind::CellRead => Facts::on(ON, "read cell", &[LOOKS]),
        OpKind::CellWrite => Facts::on(ON, "write cell", &[T::COMPETES]),
        OpKind::Await => {
            Facts::on(ON, "spin_until", &[LOOKS, T::SAME_ANYWHERE, T::LEARNS, T::NEEDS_ENABLING, T::WAITS_FOR_OTHERS])
        }
        OpKind::Fence => Facts::of("fence", &[]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it is an access to memory: the engine does nothing for it, and it never waits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn is_access(self) -> bool {
        use OpKind::{Cas, CellRead, CellWrite, Load, Rmw, Store};
        matches!(self, Load | Store | Rmw | Cas | CellRead | CellWrite)
    }

    /// Whether it depends on a comparison whether it writes.
    pub(crate) const fn compares(self) -> bool {
        matches!(self, OpKind::Cas)
    }

    /// Whether it waits for a value of an atomic.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn awaits(self) -> bool {
        matches!(self, OpKind::Await)
    }

    /// Whether it is an access to plain memory: what is there nobody has told us.
    pub(crate) fn is_of_cell(self) -> bool {
        matches!(self, OpKind::CellRead | OpKind::CellWrite)
    }
}

/// Whether an access of this kind changes something.
#[inline]
pub(crate) fn writes(kind: OpKind, came_to: u32) -> bool {
    use OpKind::{Cas, CellWrite, Rmw, Store};
    match kind {
        Store | Rmw | CellWrite => true,
        Cas => came_to != outcome::REFUSED,
        _ => false,
    }
}

/// Whether an access of this kind changes nothing.
#[inline]
pub(crate) fn reads_only(kind: OpKind, came_to: u32) -> bool {
    match kind {
        OpKind::Load | OpKind::CellRead | OpKind::ReadParts | OpKind::ReadSeveral | OpKind::Await => true,
        OpKind::Cas => came_to == outcome::REFUSED,
        _ => false,
    }
}

/// The rules of memory.
pub(crate) struct Rules;

impl Room for Rules {
    fn announce(&self, engine: &mut Engine, task: TaskId) {
        engine.begin_await(task);
    }

    fn is_enabled(&self, engine: &Engine, task: TaskId) -> bool {
        Look::of(engine.tasks[task.index()].pending.arg).holds()
    }

    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        match operation.kind {
            OpKind::Await => engine.commit_await(task),
            _ => Committed::Done(outcome::OK),
        }
    }

    fn other_side(&self, kind: OpKind) -> &'static [OpKind] {
        if kind == OpKind::Await { &[OpKind::Store, OpKind::Rmw, OpKind::Cas] } else { &[] }
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        let reads = |l: &Label| reads_only(l.kind, l.outcome);
        if reads(a) && reads(b) { Relation::Independent } else { Relation::Dependent }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if label.kind == OpKind::Cas {
            let expected = if label.outcome == outcome::OK { label.value } else { label.arg };
            // What the steps there have left in it, if they wrote; else what was there before.
            let written = there.beyond(label.resource).filter_map(left).last();
            if let Some(value) = written.or_else(|| value_before(there, &label)) {
                label.outcome = if value == expected { outcome::OK } else { outcome::REFUSED };
            }
        }
        Some(label)
    }

    /// Of what is no memory: what is asked or told of a lock's poison.
    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::Load | OpKind::CellRead | OpKind::Await => trail.commuting(hash),
            OpKind::Fence => hash,
            _ => trail.everything(hash),
        }
    }

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        if matches!(request.kind, OpKind::Load | OpKind::Await | OpKind::Rmw | OpKind::Cas) {
            flow.read_atomic(request.resource, mine);
        }
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        match step.kind {
            // Nothing of what was there before can be read any more.
            OpKind::Store => flow.replace_atomic(step.resource, mine),
            OpKind::Rmw => flow.write_atomic(step.resource, mine),
            OpKind::Cas if step.is_ok() => flow.write_atomic(step.resource, mine),
            _ => {}
        }
    }
}

/// The value of an atomic where the steps leave the order of the execution: what the next step on it found there, or what
/// the last one left.
fn value_before(there: &There<'_>, moved: &Label) -> Option<u64> {
    let found = |s: &Step| match s.kind {
        OpKind::Load | OpKind::Rmw | OpKind::Cas => Some(s.value),
        OpKind::Await if s.is_ok() => Some(s.value),
        OpKind::Store => Some(s.arg),
        _ => None,
    };
    let on_it = |s: &&Step| s.resource == moved.resource;
    let (before, after) = there.parting();
    after.iter().filter(on_it).find_map(found).or_else(|| before.iter().rev().filter(on_it).find_map(left))
}

/// The value that a step has left in its atomic.
fn left(step: &Step) -> Option<u64> {
    match step.kind {
        OpKind::Load | OpKind::Store => Some(step.value),
        OpKind::Await if step.is_ok() => Some(step.value),
        OpKind::Rmw => Some(step.arg),
        OpKind::Cas => Some(if step.is_ok() { step.arg } else { step.value }),
        _ => None,
    }
}

impl Step {
    /// What a write found in its atomic.
    pub(crate) fn found(&self) -> u64 {
        if self.kind == OpKind::Store { self.arg } else { self.value }
    }
}
