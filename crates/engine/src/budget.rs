//! Budgets: how often an execution may meet what nothing in the program brings about.
//!
//! A wait may end without a reason, a timer may fire early, a fault may strike. Each of these is a choice of the schedule, and
//! there is no end to them unless somebody counts. So each has a budget, with a name; they are one list, and a new one is a line in it.

use std::ops::{Index, IndexMut};

macro_rules! budgets {
    ($($(#[doc = $doc:literal])+ $budget:ident is $name:literal,)+) => {
        /// What is counted.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Budget {
            $($(#[doc = $doc])+ $budget,)+
        }

        impl Budget {
            /// All of them.
            pub const ALL: [Budget; [$(Budget::$budget),+].len()] = [$(Budget::$budget),+];

            /// The name that users and reports know it by.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Budget::$budget => $name,)+
                }
            }
        }
    };
}

budgets! {
    /// Timers that fire although somebody can go on.
    EarlyFires is "early_fires",
    /// Waits that end without a reason.
    SpuriousWakeups is "spurious_wakeups",
    /// Weak compare-exchanges that fail without a reason.
    WeakFailures is "weak_failures",
    /// Faults of the environment: something is lost, fails, or crashes.
    Faults is "faults",
}

/// A number for each budget: what is allowed, or what is left of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budgets([u32; Budget::ALL.len()]);

impl Budgets {
    /// Nothing is allowed.
    pub const NONE: Budgets = Budgets([0; Budget::ALL.len()]);

    /// The same with so many of one of them.
    #[must_use]
    pub const fn with(mut self, budget: Budget, many: u32) -> Budgets {
        self.0[budget as usize] = many;
        self
    }

    /// Takes one, if there is one left.
    pub(crate) fn take(&mut self, budget: Budget) -> bool {
        let left = &mut self[budget];
        let takes = *left > 0;
        *left -= u32::from(takes);
        takes
    }
}

impl Index<Budget> for Budgets {
    type Output = u32;

    #[inline]
    fn index(&self, budget: Budget) -> &u32 {
        &self.0[budget as usize]
    }
}

impl IndexMut<Budget> for Budgets {
    #[inline]
    fn index_mut(&mut self, budget: Budget) -> &mut u32 {
        &mut self.0[budget as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Budgets};

    #[test]
    fn a_budget_is_spent_one_by_one_and_the_others_are_left_alone() {
        let mut left = Budgets::NONE.with(Budget::WeakFailures, 2).with(Budget::EarlyFires, 1);
        let taken = [(); 3].map(|()| left.take(Budget::WeakFailures));
        assert_eq!(taken, [true, true, false]);
        assert_eq!(left, Budgets::NONE.with(Budget::EarlyFires, 1));
    }

    #[test]
    fn no_two_budgets_have_one_name() {
        for (at, budget) in Budget::ALL.into_iter().enumerate() {
            assert!(Budget::ALL[..at].iter().all(|other| other.name() != budget.name()), "{budget:?}");
        }
    }
}
