//! What an explanation may cost, in steps and bytes: in proportion to the verdict, never by a clock.

use crate::history::{History, OpId};
use crate::linearizable::Checker;
use crate::model::Model;
use crate::verdict::{Budget, Verdict};

/// Steps that every explanation may take.
const LEAST: u64 = 200_000;
/// And for each operation of the history, and for each step of the verdict.
const FOR_EACH_OPERATION: u64 = 50;
const FOR_EACH_STEP: u64 = 2;
/// Bytes of what a search may remember. Searches for an explanation are short.
const BYTES: u64 = 64 << 20;

/// Checks parts of a history, and counts what that costs. A look at an operation is a step, too: the near-linear algorithms
/// take no others.
pub(super) struct Allowance<'m, M: Model> {
    model: &'m M,
    checker: Checker<M>,
    steps: u64,
    spent: u64,
    bytes: u64,
}

impl<'m, M: Model> Allowance<'m, M> {
    /// What explaining a history may cost whose verdict took so many steps.
    pub(super) fn new(model: &'m M, operations: usize, verdict: u64, budget: Budget) -> Allowance<'m, M> {
        let steps = LEAST
            .saturating_add(FOR_EACH_OPERATION.saturating_mul(operations as u64))
            .saturating_add(FOR_EACH_STEP.saturating_mul(verdict));
        let (steps, bytes) = (steps.min(budget.steps), BYTES.min(budget.bytes));
        Allowance { model, checker: Checker::new(), steps, spent: 0, bytes }
    }

    /// Whether a history can be explained; `None` if that takes more than `most` steps, or nothing is left.
    pub(super) fn explains(&mut self, history: &History<M::Op, M::Ret>, most: u64) -> Option<bool> {
        let budget = self.budget(history, most)?;
        let verdict = self.checker.check(self.model, history, budget);
        self.spent = self.spent.saturating_add(self.checker.steps());
        match verdict {
            Verdict::Ok(()) => Some(true),
            Verdict::Illegal(_) => Some(false),
            Verdict::Unknown(_) => None,
        }
    }

    /// An order that explains a history; `None` if there is none, if finding it takes more than `most` steps, or nothing is
    /// left.
    pub(super) fn order(&mut self, history: &History<M::Op, M::Ret>, most: u64) -> Option<Vec<OpId>> {
        let budget = self.budget(history, most)?;
        let found = self.checker.search(self.model, history, budget).is_ok();
        self.spent = self.spent.saturating_add(self.checker.steps());
        found.then(|| self.checker.order().to_vec())
    }

    /// What one check of a history may cost, after the look at each of its operations; `None` if nothing is left.
    fn budget(&mut self, history: &History<M::Op, M::Ret>, most: u64) -> Option<Budget> {
        let looks = history.len() as u64;
        let left = self.steps.saturating_sub(self.spent);
        if left <= looks {
            self.spent = self.steps;
            return None;
        }
        self.spent = self.spent.saturating_add(looks);
        Some(Budget { steps: most.min(left - looks), bytes: self.bytes })
    }

    /// Whether nothing is left.
    pub(super) fn is_out(&self) -> bool {
        self.spent >= self.steps
    }

    /// How many steps have been taken.
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }
}
