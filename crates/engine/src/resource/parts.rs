//! Parts: steps that read and write several things at once, as a piece of a coroutine does, which nobody interrupts.
//!
//! Things that are touched together are parts of one resource, on which such steps are; their operand says which of them a step
//! reads and which it writes. Two steps commute unless one writes what the other touches. Each part is a resource, too,
//! without operations of its own: what is remembered of the steps is remembered there, part by part.

use super::room::{Facts, Room, Traits, not_here};
use crate::dependence::{Label, Relation};
use crate::engine::Engine;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, ResourceKind};
use crate::resource::State;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    // Accesses to plain memory count as those to atomics, so nobody else is of this family.
    const ON: ResourceKind = ResourceKind::Cell;
    match kind {
        OpKind::ReadParts => {
            Facts::on(ON, "read parts", &[T::LOOKS, T::SEES, T::SHARES, T::COMPETES, T::SAME_ANYWHERE])
        }
        OpKind::WriteParts => Facts::on(ON, "write parts", &[T::COMPETES, T::SAME_ANYWHERE]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether its operand says which parts of a resource it touches.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn is_of_parts(self) -> bool {
        matches!(self, OpKind::ReadParts | OpKind::WriteParts)
    }
}

/// The parts that a step touches: a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Parts {
    /// Those that it reads.
    pub reads: u32,
    /// Those that it writes.
    pub writes: u32,
}

impl Parts {
    /// A resource has no more of them.
    pub const MOST: u32 = u32::BITS;

    /// The kind of a step that touches these.
    pub fn kind(self) -> OpKind {
        if self.writes == 0 { OpKind::ReadParts } else { OpKind::WriteParts }
    }

    /// The operand of such a step.
    pub fn operand(self) -> u64 {
        u64::from(self.writes) << 32 | u64::from(self.reads)
    }

    /// The parts that an operand stands for.
    pub fn of(operand: u64) -> Parts {
        Parts { reads: operand as u32, writes: (operand >> 32) as u32 }
    }

    /// Whether the order of steps that touch these and `others` can make a difference.
    pub fn conflict(self, others: Parts) -> bool {
        self.writes & (others.reads | others.writes) != 0 || others.writes & self.reads != 0
    }

    /// The parts themselves, if `whole` is what they are parts of; each with whether it is written.
    pub(crate) fn each(self, whole: ResourceId) -> impl Iterator<Item = (ResourceId, bool)> {
        let all = (0..Parts::MOST).filter(move |part| (self.reads | self.writes) >> part & 1 == 1);
        all.map(move |part| (ResourceId(whole.0 + 1 + part), self.writes >> part & 1 == 1))
    }
}

impl Engine {
    /// A resource that has so many parts.
    pub fn create_parts(&mut self, task: TaskId, parts: u32, created_at: Site) -> ResourceId {
        assert!(parts <= Parts::MOST, "a resource has at most {} parts", Parts::MOST);
        let whole = self.create_resource(task, ResourceKind::Cell, State::Plain, created_at);
        for _ in 0..parts {
            self.create_resource(task, ResourceKind::Cell, State::Plain, created_at);
        }
        whole
    }
}

/// The rules of parts.
pub(crate) struct Rules;

impl Room for Rules {
    fn relation(&self, a: &Label, b: &Label) -> Relation {
        if Parts::of(a.arg).conflict(Parts::of(b.arg)) { Relation::Dependent } else { Relation::Independent }
    }

    fn fold_aim(&self, engine: &mut Engine, hash: u64, step: &Step) -> u64 {
        Parts::of(step.arg).each(step.resource).fold(hash, |hash, (part, writes)| {
            let trail = &mut engine.resources[part.index()].trail;
            if writes { trail.ordered(hash) } else { trail.commuting(hash) }
        })
    }
}
