//! Accesses to several things at once, as `a.extend(b)` makes them: it reads one list and writes another, and nobody comes between.
//!
//! The principal resource is that of the step; the others stand in its operand, with what is done to each. Two accesses conflict
//! where both touch the same thing and one of them writes it: other steps of several, and ordinary accesses to memory. What is
//! remembered of such a step is remembered at each of its resources.

use super::memory::{reads_only, writes};
use super::room::{Facts, Room, Traits, not_here};
use crate::causality::Places;
use crate::dependence::{Label, Relation};
use crate::engine::Engine;
use crate::id::{ResourceId, Site};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Cell;
    const BOTH: T = T::AIMS.with(T::REACHES).with(T::COMPETES).with(T::SAME_ANYWHERE);
    match kind {
        OpKind::ReadSeveral => Facts::on(ON, "read several", &[BOTH, T::LOOKS, T::SEES, T::SHARES]),
        OpKind::WriteSeveral => Facts::on(ON, "write several", &[BOTH]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether its operand names further resources that it touches.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn is_of_several(self) -> bool {
        matches!(self, OpKind::ReadSeveral | OpKind::WriteSeveral)
    }
}

/// The operand has so many bits for the number of a resource; no more resources than that can be named.
const BITS: u32 = 24;
const NOBODY: u64 = (1 << BITS) - 1;

/// What a step on several resources touches, each with whether it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Several([(ResourceId, bool); Several::MOST]);

impl Several {
    /// A step touches no more of them.
    pub const MOST: usize = 3;

    /// These, which are different from each other; `None` if there are too many of them.
    pub fn new(touched: &[(ResourceId, bool)]) -> Option<Several> {
        let mut all = [(ResourceId::NONE, false); Several::MOST];
        all.get_mut(..touched.len())?.copy_from_slice(touched);
        touched.iter().all(|(id, _)| u64::from(id.0) < NOBODY).then_some(Several(all))
    }

    /// The operation that touches these, announced at `site`.
    pub fn operation(self, site: Site) -> Operation {
        let writes = self.touched().any(|(_, writes)| writes);
        let kind = if writes { OpKind::WriteSeveral } else { OpKind::ReadSeveral };
        let [(first, writes_first), rest @ ..] = self.0;
        let named = |id: ResourceId| if id == ResourceId::NONE { NOBODY } else { u64::from(id.0) };
        let pack = |arg: u64, (id, writes): (ResourceId, bool)| (arg << BITS | named(id)) << 1 | u64::from(writes);
        let arg = rest.into_iter().fold(u64::from(writes_first), pack);
        Operation::new(kind, first, site).with_arg(arg)
    }

    /// What a step with this resource and this operand touches.
    pub fn of(first: ResourceId, mut arg: u64) -> Several {
        let mut all = [(first, false); Several::MOST];
        for other in all[1..].iter_mut().rev() {
            let id = arg >> 1 & NOBODY;
            *other = (if id == NOBODY { ResourceId::NONE } else { ResourceId(id as u32) }, arg & 1 == 1);
            arg >>= BITS + 1;
        }
        all[0].1 = arg & 1 == 1;
        Several(all)
    }

    /// Each of them, with whether it is written.
    pub fn touched(self) -> impl Iterator<Item = (ResourceId, bool)> {
        self.0.into_iter().filter(|(id, _)| *id != ResourceId::NONE)
    }

    fn conflicts(self, id: ResourceId, written: bool) -> bool {
        self.touched().any(|(own, writes)| own == id && (writes || written))
    }
}

/// Whether a step, whatever it is, changes what is in `resource`.
pub(crate) fn changes(step: &Step, resource: ResourceId) -> bool {
    match step.kind.is_of_several() {
        true => Several::of(step.resource, step.arg).touched().any(|(id, written)| written && id == resource),
        false => step.resource == resource && writes(step.kind, u32::from(step.outcome)),
    }
}

// The principal one needs a bit, each other one the bits of its number and one more.
const _: () = assert!((Several::MOST as u32 - 1) * (BITS + 1) < u64::BITS);

/// The rules of several resources.
pub(crate) struct Rules;

impl Room for Rules {
    fn aims(&self, a: &Label, b: &Label) -> Option<Relation> {
        let several = Several::of(a.resource, a.arg);
        let conflict = if b.kind.is_of_several() {
            Several::of(b.resource, b.arg).touched().any(|(id, writes)| several.conflicts(id, writes))
        } else if reads_only(b.kind, b.outcome) || writes(b.kind, b.outcome) {
            several.conflicts(b.resource, writes(b.kind, b.outcome))
        } else {
            return None;
        };
        Some(if conflict { Relation::Dependent } else { Relation::Independent })
    }

    fn may_conflict(&self, step: &Step, pending: &Operation) -> bool {
        let several = Several::of(step.resource, step.arg);
        let touched = |id: ResourceId, written: bool| several.conflicts(id, written);
        match pending.kind.is_of_several() {
            true => Several::of(pending.resource, pending.arg).touched().any(|(id, writes)| touched(id, writes)),
            false => touched(pending.resource, writes(pending.kind, outcome::OK)),
        }
    }

    fn footprint(&self, step: &Step, _: bool, at: &mut Places) {
        Several::of(step.resource, step.arg).touched().for_each(|(id, _)| at.push_resource(id));
    }

    fn fold_aim(&self, engine: &mut Engine, mut hash: u64, step: &Step) -> u64 {
        for (id, writes) in Several::of(step.resource, step.arg).touched() {
            let as_access = if writes { OpKind::CellWrite } else { OpKind::CellRead };
            engine.resources[id.index()].trail.access(&mut hash, as_access, outcome::OK);
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::Several;
    use crate::id::{ResourceId, Site};

    #[test]
    fn an_operand_says_what_is_touched_and_how() {
        let touched = [(ResourceId(7), true), (ResourceId(0), false), (ResourceId((1 << 24) - 2), true)];
        for count in 2..=3 {
            for writes in 0..8u32 {
                let touched: Vec<_> =
                    touched[..count].iter().enumerate().map(|(at, (id, _))| (*id, writes >> at & 1 == 1)).collect();
                let operation = Several::new(&touched).expect("so many").operation(Site::UNKNOWN);
                let again: Vec<_> = Several::of(operation.resource, operation.arg).touched().collect();
                assert_eq!(again, touched);
            }
        }
    }

    #[test]
    fn what_cannot_be_named_is_refused() {
        let id = |n: u32| (ResourceId(n), false);
        assert_eq!(Several::new(&[id(1), id(2), id(3), id(4)]), None);
        assert_eq!(Several::new(&[id(1), id(1 << 24)]), None);
    }
}
