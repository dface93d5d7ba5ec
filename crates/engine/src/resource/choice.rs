//! Choices of a value: one of so many outcomes, for the strategy to pick.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::mix;
use crate::engine::{Committed, Engine};
use crate::id::TaskId;
use crate::operation::{OpKind, Operation};
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    match kind {
        OpKind::Choose => Facts::of("choose", &[Traits::CHOOSES, Traits::UNATTENDED]),
        other => not_here(other),
    }
}

impl Operation {
    /// How many outcomes it can have, as far as that is a choice.
    #[inline]
    pub(crate) fn outcomes(&self) -> u64 {
        if self.kind == OpKind::Choose { self.arg } else { 1 }
    }
}

impl Step {
    /// How many outcomes it could have had, as far as that was a choice.
    #[inline]
    pub(crate) fn outcomes(&self) -> u64 {
        if self.kind == OpKind::Choose { self.arg } else { 1 }
    }

    /// Which of them it had.
    #[inline]
    pub(crate) fn chosen(&self) -> u64 {
        if self.kind == OpKind::Choose { self.value } else { 0 }
    }
}

/// The rules of choices.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, choice: &Operation, strategy: &mut dyn Strategy) -> Committed {
        engine.commit_choose(task, choice.arg, strategy)
    }

    fn fold_aim(&self, _: &mut Engine, hash: u64, step: &Step) -> u64 {
        mix(hash, step.value)
    }
}
