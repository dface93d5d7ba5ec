//! What goes wrong without a reason: a wait that ends, a weak exchange that fails. Whether it does is a choice of the task that
//! it happens to, and takes one of a budget.
//!
//! Whether there is any of the budget left depends on steps of others, which commute with those of the task. So in exhaustive
//! exploration, where steps are moved, nothing else may depend on it: the task makes its choice even if nothing is left,
//! and the choice has one outcome then. So many things go wrong in a class of executions, in whichever order its steps
//! are made; where that is too many, the class is none of those that are explored, and all others are. Where executions are drawn,
//! steps that decide nothing are not worth making.

use super::Engine;
use crate::budget::Budget;
use crate::id::TaskId;

impl Engine {
    /// Whether `task` is to choose now if what `budget` counts happens to it: then its next step is that choice, of two outcomes.
    /// If it comes to 1, it happens as far as something is [left](Self::spend).
    pub fn may_go_wrong(&mut self, task: TaskId, budget: Budget) -> bool {
        if self.tearing_down {
            return false;
        }
        if self.exhaustive && self.limits.budgets[budget] > 0 {
            self.mishaps.push((task, budget));
            return true;
        }
        self.left(budget) > 0
    }

    /// Of so many outcomes of the choice that `task` has announced, how many there are by now.
    pub(crate) fn outcomes_left(&self, task: TaskId, outcomes: u64) -> u64 {
        let mishap = self.mishaps.iter().find(|(of, _)| *of == task);
        match mishap {
            Some((_, budget)) if self.left(*budget) == 0 => 1,
            _ => outcomes,
        }
    }

    /// The choice that `task` has announced is made.
    pub(super) fn forget_mishap(&mut self, task: TaskId) {
        if let Some(at) = self.mishaps.iter().position(|(of, _)| *of == task) {
            self.mishaps.swap_remove(at);
        }
    }
}
