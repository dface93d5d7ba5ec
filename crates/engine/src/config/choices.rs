//! The settings that are one of a few names.

/// When virtual time moves on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Only when no task can go on without it: timeouts then fire as late as they can.
    #[default]
    Quiescent,
    /// Whenever the strategy says so: a timer may fire before work that a person would expect to
    /// come first. The budget is `early_fires`.
    Explore,
}

impl Clock {
    /// In the order of declaration, so that `self as usize` is an index.
    pub(super) const ALL: [Self; 2] = [Self::Quiescent, Self::Explore];
    pub(super) const NAMES: [&'static str; 2] = ["quiescent", "explore"];
}

/// What becomes of the tasks that are still alive when an execution ends early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Teardown {
    /// Their stacks are unwound, so that destructors run and nothing is leaked.
    #[default]
    Unwind,
    /// Their stacks are given up. For code whose destructors block or panic when unwound.
    Leak,
}

impl Teardown {
    /// In the order of declaration, so that `self as usize` is an index.
    pub(super) const ALL: [Self; 2] = [Self::Unwind, Self::Leak];
    pub(super) const NAMES: [&'static str; 2] = ["unwind", "leak"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_its_own_index() {
        for (index, clock) in Clock::ALL.into_iter().enumerate() {
            assert_eq!(clock as usize, index);
        }
        for (index, teardown) in Teardown::ALL.into_iter().enumerate() {
            assert_eq!(teardown as usize, index);
        }
    }
}
