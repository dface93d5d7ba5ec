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

    /// Which of them it had: one number for all that was chosen in it.
    #[inline]
    pub(crate) fn chosen(&self) -> u64 {
        match self.kind {
            OpKind::Choose => self.value,
            OpKind::Happen | OpKind::Strike => Within(self.value).chosen(),
            _ => 0,
        }
    }

    /// All that was chosen in it.
    #[inline]
    pub(crate) fn choices(&self) -> Choices {
        match self.kind {
            OpKind::Choose => Choices::One(self.arg, self.value),
            OpKind::Happen | OpKind::Strike => Choices::Within(Within(self.value)),
            _ => Choices::One(1, 0),
        }
    }

    /// What else it could have come to, as far as that was a choice, as numbers that [`chosen`](Self::chosen) would give. Of several
    /// choices, those after the one that comes to something else are open.
    pub(crate) fn alternatives(&self) -> impl Iterator<Item = u64> + use<> {
        let (one, within) = match self.choices() {
            Choices::One(outcomes, chosen) => ((outcomes, chosen), Within(0)),
            Choices::Within(within) => ((0, 0), within),
        };
        (0..one.0).filter(move |outcome| *outcome != one.1).chain(within.alternatives())
    }
}

/// All that was chosen in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choices {
    /// One choice: of how many outcomes, and which.
    One(u64, u64),
    /// What was chosen in the midst of an event.
    Within(Within),
}

impl Choices {
    /// Each: of how many outcomes, and which.
    pub(crate) fn each(self) -> impl Iterator<Item = (u64, u64)> {
        let one = match self {
            Choices::One(outcomes, chosen) if outcomes > 1 => Some((outcomes, chosen)),
            _ => None,
        };
        let within = match self {
            Choices::Within(within) => within,
            Choices::One(..) => Within(0),
        };
        one.into_iter().chain(within.each())
    }

    /// The same, with the first outcome of each.
    pub(crate) fn first_of_each(self) -> Choices {
        match self {
            Choices::One(outcomes, _) => Choices::One(outcomes, 0),
            Choices::Within(Within(word)) => Choices::Within(Within(word >> 32 << 32)),
        }
    }
}

/// What was chosen in the midst of an event, in one word: which outcomes in the lower half, a byte for each, and in the upper half of how
/// many, less one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Within(pub(crate) u64);

impl Within {
    /// So many choices can be made in an event.
    pub(crate) const MOST: u32 = 4;
    /// Of so many outcomes each.
    pub(crate) const MOST_OUTCOMES: u64 = 256;

    fn chosen(self) -> u64 {
        self.0 & 0xFFFF_FFFF
    }

    pub(crate) fn count(self) -> u32 {
        Within::MOST - ((self.0 >> 32) as u32).leading_zeros() / 8
    }

    fn each(self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.count()).map(move |at| ((self.0 >> (32 + 8 * at) & 0xFF) + 1, self.0 >> (8 * at) & 0xFF))
    }

    fn alternatives(self) -> impl Iterator<Item = u64> {
        self.each().zip(0_u32..).flat_map(move |((outcomes, chosen), at)| {
            let before = self.chosen() & ((1 << (8 * at)) - 1);
            (0..outcomes).filter(move |other| *other != chosen).map(move |other| before | other << (8 * at))
        })
    }

    /// The same with one more.
    pub(crate) fn with(self, outcomes: u64, chosen: u64) -> Within {
        let at = 8 * self.count();
        Within(self.0 | (outcomes - 1) << (32 + at) | chosen << at)
    }

    /// What is planned for the choice number `at`, if all of them are to come to `chosen`.
    pub(crate) fn planned(chosen: u64, at: u32) -> u64 {
        chosen >> (8 * at) & 0xFF
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
