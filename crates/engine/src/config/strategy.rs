//! Which strategy makes the choices, as a value: no state, only what a person wrote.

/// A strategy with its own arguments. What it shares with the others (`iterations`, `seed`, the
/// limits) stands in [`Config`](super::Config).
///
/// ```
/// use drawloom_engine::config::{Config, StrategySpec};
///
/// let config: Config = "sticky(stickiness = 5)".parse()?;
/// assert_eq!(config.strategy, StrategySpec::Sticky { stickiness: 5 });
/// assert!(config.strategy.is_randomised());
/// # Ok::<(), drawloom_engine::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum StrategySpec {
    /// The current task runs until it cannot: the schedule nearest to no concurrency at all.
    Sequential,
    /// Every step goes to the next task in turn.
    RoundRobin,
    /// Every step goes to a task drawn uniformly from those that can go on.
    #[default]
    Random,
    /// Random, but fond of the current task: long runs with few switches.
    Sticky {
        /// The current task goes on with probability 1 - 2^-stickiness; at most
        /// [`MAX_STICKINESS`](super::MAX_STICKINESS).
        stickiness: u32,
    },
    /// Every behaviour once, until all are explored or the budget is spent.
    Exhaustive {
        /// Executions after which it gives up; [`DEFAULT_MAX_SCHEDULES`](super::DEFAULT_MAX_SCHEDULES)
        /// unless given.
        max_schedules: u64,
        /// Steps after which an execution is cut, so that the exploration is partial; 0 for no limit
        /// but `max_steps`.
        max_depth: u64,
        /// Whether a test whose exploration was cut short, by a budget or a kill, goes on from there
        /// when it is run again; it does unless told otherwise.
        resume: bool,
        /// Bytes that the tree of what is left to explore may take. Where it needs more, the exploration
        /// goes on in a frugal mode that is as complete, but has to cut executions that it makes in vain;
        /// [`DEFAULT_MEMORY_BUDGET_BYTES`](super::DEFAULT_MEMORY_BUDGET_BYTES) unless given.
        memory_budget: usize,
    },
    /// One recorded schedule again.
    Replay {
        /// The schedule, as a report printed it.
        token: String,
        /// Whether to go on as well as possible where the program no longer fits the schedule,
        /// instead of stopping with a divergence.
        lenient: bool,
    },
}

impl StrategySpec {
    /// The name in the grammar.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::RoundRobin => "round_robin",
            Self::Random => "random",
            Self::Sticky { .. } => "sticky",
            Self::Exhaustive { .. } => "exhaustive",
            Self::Replay { .. } => "replay",
        }
    }

    /// Whether it draws from the seed, so that `iterations` and `seed` mean something to it.
    pub fn is_randomised(&self) -> bool {
        match self {
            Self::Random | Self::Sticky { .. } => true,
            Self::Sequential | Self::RoundRobin | Self::Exhaustive { .. } | Self::Replay { .. } => false,
        }
    }
}
