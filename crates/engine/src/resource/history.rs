//! Histories: what clients of an object have called, and what has returned. Events that are written down.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::Trail;
use crate::dependence::{Label, Relation};
use crate::operation::{OpKind, ResourceKind};
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    const ON: ResourceKind = ResourceKind::History;
    match kind {
        OpKind::Call => Facts::on(ON, "call", &[Traits::COMPETES]),
        OpKind::Return => Facts::on(ON, "return", &[Traits::COMPETES]),
        other => not_here(other),
    }
}

/// The rules of histories.
pub(crate) struct Rules;

impl Room for Rules {
    /// All that real time says of a history is which operation returned before which other one was called. So a call and a
    /// return do not commute; two calls do, and two returns: whoever is first, the same pairs overlap.
    fn relation(&self, a: &Label, b: &Label) -> Relation {
        if a.kind == b.kind { Relation::Independent } else { Relation::Dependent }
    }

    /// A call sees the returns before it, a return the calls.
    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        if step.kind == OpKind::Call { trail.ask(hash) } else { trail.release(hash, false) }
    }
}
