//! The settings that are one of a few names.

/// When virtual time moves on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// Only when no task can continue without it: timeouts then fire as late as they can.
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

/// Which values a load can read.
///
/// This is where weak memory will go: a model in which a load has several stores to read from makes that
/// choice an outcome of the load's step, as `choose` is one, and orders fewer accesses in the table of
/// dependence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Memory {
    /// That of the last store: all memory is sequentially consistent, whatever the orderings say.
    #[default]
    SequentiallyConsistent,
}

impl Memory {
    /// In the order of declaration, so that `self as usize` is an index.
    pub(super) const ALL: [Self; 1] = [Self::SequentiallyConsistent];
    pub(super) const NAMES: [&'static str; 1] = ["sc"];
}

/// What becomes of the tasks that are still alive when an execution ends early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

/// What ends an exploration that samples and finds nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Until {
    /// The number of executions alone.
    #[default]
    Iterations,
    /// That executions show hardly any new behaviour, or else the number of executions.
    Saturated,
}

impl Until {
    /// In the order of declaration, so that `self as usize` is an index.
    pub(super) const ALL: [Self; 2] = [Self::Iterations, Self::Saturated];
    pub(super) const NAMES: [&'static str; 2] = ["iterations", "saturated"];
}

/// How much is made of a finding's schedule before it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shrink {
    /// Nothing: it is shown as it was found.
    Off,
    /// It is minimised within a small budget. A replay is not minimised.
    #[default]
    Within,
    /// It is minimised until nothing is left to try, that of a replay included.
    Full,
}

impl Shrink {
    /// In the order of declaration, so that `self as usize` is an index.
    pub(super) const ALL: [Self; 3] = [Self::Off, Self::Within, Self::Full];
    pub(super) const NAMES: [&'static str; 3] = ["false", "true", "full"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_its_own_index() {
        for (index, clock) in Clock::ALL.into_iter().enumerate() {
            assert_eq!(clock as usize, index);
        }
        for (index, until) in Until::ALL.into_iter().enumerate() {
            assert_eq!(until as usize, index);
        }
        for (index, teardown) in Teardown::ALL.into_iter().enumerate() {
            assert_eq!(teardown as usize, index);
        }
        for (index, memory) in Memory::ALL.into_iter().enumerate() {
            assert_eq!(memory as usize, index);
        }
        for (index, shrink) in Shrink::ALL.into_iter().enumerate() {
            assert_eq!(shrink as usize, index);
        }
    }
}
