//! The one dependence table: which steps commute, which race, which merely enable each other.
//!
//! Exhaustive exploration, the priority strategies, causal slices and race reports all ask here, so
//! that no two of them can disagree. The table is over *labels*: an operation together with what it
//! came to; how the steps of one primitive relate stands in its room (`resource`). Three rules
//! keep it valid (each one is a property test of the models):
//!
//! 1. *Commutation*: two adjacent independent steps can be swapped without anybody noticing.
//! 2. *Stability*: whether two steps depend on each other must not change because an independent
//!    third one stands between them. Refining by outcome breaks this easily; where in doubt the
//!    table is coarse.
//! 3. *Recomputed outcome*: after a reversal the outcome of the moved step is computed anew.
//!
//! Blocking operations follow the ticket principle: a `Lock` step is the *request*, which never
//! blocks; the wait that may follow is no step. So a request never conflicts with an unlock: it may
//! come before it or after, and either way what follows the request comes after the unlock.

use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind};
use crate::resource::{Traits, reads_only, writes};
use crate::trace::{Step, also};

/// How two steps of different tasks relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// They commute.
    Independent,
    /// They commute; but what follows the request among them happens after both.
    Granting,
    /// The earlier happens before the later, and the order cannot be reversed.
    Enabling,
    /// Both orders exist and may differ: a race to be explored.
    Dependent,
}

/// A step as the table sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label {
    /// Who.
    pub task: TaskId,
    /// What.
    pub kind: OpKind,
    /// On what.
    pub resource: ResourceId,
    /// The operation's second operand.
    pub arg: u64,
    /// What it came to ([`outcome`](crate::outcome)).
    pub outcome: u32,
    /// The ticket number of channel steps, the value of others.
    pub value: u64,
}

impl Label {
    /// The other resource that it acts on, besides its own.
    #[inline]
    pub(crate) fn also(&self) -> ResourceId {
        also(self.kind, self.arg)
    }
}

/// Relates two steps. Total, symmetric and pure.
#[inline]
pub fn relation(a: &Label, b: &Label) -> Relation {
    // What is met most, without the many questions that do not arise.
    if a.kind.is_access() && b.kind.is_access() && a.task != b.task {
        let independent = a.resource != b.resource || a.resource == ResourceId::NONE || (is_read(a) && is_read(b));
        return if independent { Relation::Independent } else { Relation::Dependent };
    }
    relation_in_general(a, b)
}

/// The same of two steps that were made.
#[inline]
pub(crate) fn relation_of_steps(a: &Step, b: &Step) -> Relation {
    let same = a.resource == b.resource && a.resource != ResourceId::NONE;
    if same && a.kind.is_access() && b.kind.is_access() && a.task != b.task {
        return if is_reading(a) && is_reading(b) { Relation::Independent } else { Relation::Dependent };
    }
    relation(&a.label(), &b.label())
}

fn relation_in_general(a: &Label, b: &Label) -> Relation {
    if a.task == b.task {
        return Relation::Enabling;
    }
    if a.kind.is(Traits::AIMS) {
        if let Some(relation) = a.kind.room().aims(a, b) {
            return relation;
        }
    }
    if b.kind.is(Traits::AIMS) {
        if let Some(relation) = b.kind.room().aims(b, a) {
            return relation;
        }
    }
    if a.resource != b.resource || a.resource == ResourceId::NONE {
        return Relation::Independent;
    }
    match (a.kind.family(), b.kind.family()) {
        (None, None) if !a.kind.fires() && !b.kind.fires() => Relation::Independent,
        (Some(a_family), Some(b_family)) if a_family == b_family => a.kind.room().relation(a, b),
        // Whether a lock is poisoned depends on who has given it back; and who takes it is told. A timer ends waits.
        _ => Relation::Dependent,
    }
}

/// Whether two steps are [`Dependent`](Relation::Dependent). What exhaustive exploration asks most, and
/// most of the time of steps that have nothing to do with each other.
#[inline]
pub fn dependent(a: &Label, b: &Label) -> bool {
    let same = a.resource == b.resource && a.resource != ResourceId::NONE;
    (same || a.kind.is(Traits::REACHES) || b.kind.is(Traits::REACHES)) && relation(a, b) == Relation::Dependent
}

/// The same of a step that was made and of one that was not, or came to something else.
#[inline]
pub(crate) fn dependent_on_step(a: &Step, b: &Label) -> bool {
    if a.kind.is_access() && b.kind.is_access() && a.task != b.task {
        let same = a.resource == b.resource && a.resource != ResourceId::NONE;
        return same && !(is_reading(a) && is_read(b));
    }
    dependent(&a.label(), b)
}

/// Whether a step is ordered with every step of another task that has to do with its resource, whatever
/// that is. Does not know of all such steps: only of those that are met most.
#[inline]
pub(crate) fn ordered_with_all(step: &Step) -> bool {
    step.kind.happens() || writes(step.kind, u32::from(step.outcome))
}

/// Whether the order of a step and of what another task is about to do may matter, whatever the latter
/// comes to. An operation that waits for what the step gives back counts too: who is next is open again.
#[inline]
pub fn may_conflict(step: &Step, pending: &Operation) -> bool {
    if step.resource != ResourceId::NONE {
        if step.resource == pending.resource {
            let like = step.kind == pending.kind && step.kind.family() == Some(ResourceKind::History);
            return !(like || step.kind.is(Traits::SHARES) && pending.kind.is(Traits::SHARES));
        }
        if pending.also() == step.resource {
            return true;
        }
    }
    if step.also() != ResourceId::NONE && step.also() == pending.resource {
        return true;
    }
    step.kind.is(Traits::AIMS) && step.kind.room().may_conflict(step, pending)
}

#[inline]
fn is_read(l: &Label) -> bool {
    reads_only(l.kind, l.outcome)
}

#[inline]
fn is_reading(step: &Step) -> bool {
    reads_only(step.kind, u32::from(step.outcome))
}

#[cfg(test)]
mod tests;
