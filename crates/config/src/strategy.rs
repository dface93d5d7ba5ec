//! Which strategy makes the choices, as a value: no state, only what a person wrote.

/// A strategy with its own arguments. What it shares with the others (`iterations`, `seed`, the
/// limits) stands in [`Config`](super::Config).
///
/// ```
/// use drawloom_config::{Config, StrategySpec};
///
/// let config: Config = "sticky(stickiness = 5)".parse()?;
/// assert_eq!(config.strategy, StrategySpec::Sticky { stickiness: 5 });
/// assert!(config.strategy.is_randomised());
/// # Ok::<(), drawloom_config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StrategySpec {
    /// Several of the others in turn, and every behaviour once where there are few.
    #[default]
    Auto,
    /// The current task runs until it cannot: the schedule nearest to no concurrency at all.
    Sequential,
    /// Every step goes to the next task in turn.
    RoundRobin,
    /// Every step goes to a task drawn uniformly from those that can continue.
    Random,
    /// Random, but fond of the current task: long runs with few switches.
    Sticky {
        /// The current task continues with probability 1 - 2^-stickiness; at most
        /// [`MAX_STICKINESS`](super::MAX_STICKINESS).
        stickiness: u32,
    },
    /// Partial order sampling: random priorities of operations, drawn again where they race.
    Pos,
    /// Selectively uniform random walk: all orders of accesses to one resource equally likely.
    Surw,
    /// Uniform random walk: all interleavings equally likely, if tasks always make as many steps.
    Urw,
    /// Partial order sampling that lets pairs of places race which meet at one resource.
    RaceDirected {
        /// Pairs in one execution, at most.
        constraints: u32,
    },
    /// Probabilistic concurrency testing: random priorities of tasks, with few changes.
    Pct {
        /// The number of ordering constraints that the bugs to look for need; one more than changes.
        depth: u32,
    },
    /// PCT for a range of depths, in turn.
    Idpct {
        /// The least depth.
        shallowest: u32,
        /// The greatest depth.
        deepest: u32,
    },
    /// PCT that becomes a random walk where an execution gets longer than those before.
    FairPct {
        /// As the depth of PCT.
        fair_depth: u32,
    },
    /// Tasks in the order of their creation, with a few of them delayed at random.
    DelayBounded {
        /// Delays in one execution, at most.
        delays: u32,
    },
    /// Partial order sampling that changes the draws of executions which have shown something new, and keeps
    /// them for the next run.
    Corpus,
    /// Every behaviour once, until all are explored or the budget is spent.
    Exhaustive {
        /// Executions after which it gives up; [`DEFAULT_MAX_SCHEDULES`](super::DEFAULT_MAX_SCHEDULES)
        /// unless given.
        max_schedules: u64,
        /// Steps after which an execution is cut, so that the exploration is partial; 0 for no limit
        /// but `max_steps`.
        max_depth: u64,
        /// Whether a test whose exploration was cut short, by a budget or a kill, continues from there
        /// when it is run again; it does unless told otherwise.
        resume: bool,
        /// Bytes that the tree of what is left to explore may take. Where it needs more, the exploration
        /// continues in a frugal mode that is as complete, but has to cut executions that it makes in vain;
        /// [`DEFAULT_MEMORY_BUDGET_BYTES`](super::DEFAULT_MEMORY_BUDGET_BYTES) unless given.
        memory_budget: usize,
        /// Preemptions that a behaviour may need. What needs none is explored first, then what needs one, and
        /// so on up to this many, until something is found: so what is found needs few. `None`, the default,
        /// explores everything, in any order.
        preemptions: Option<u32>,
    },
    /// One recorded schedule again.
    Replay {
        /// The schedule, as a report printed it.
        token: String,
        /// Whether to continue as well as possible where the program no longer fits the schedule,
        /// instead of stopping with a divergence.
        lenient: bool,
    },
}

impl StrategySpec {
    /// The name in the grammar.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Sequential => "sequential",
            Self::RoundRobin => "round_robin",
            Self::Random => "random",
            Self::Sticky { .. } => "sticky",
            Self::Pos => "pos",
            Self::Surw => "surw",
            Self::Urw => "urw",
            Self::RaceDirected { .. } => "race_directed",
            Self::Pct { .. } => "pct",
            Self::Idpct { .. } => "idpct",
            Self::FairPct { .. } => "fair_pct",
            Self::DelayBounded { .. } => "delay_bounded",
            Self::Corpus => "corpus",
            Self::Exhaustive { .. } => "exhaustive",
            Self::Replay { .. } => "replay",
        }
    }

    /// Whether it draws from the seed, so that `iterations` and `seed` mean something to it.
    pub fn is_randomised(&self) -> bool {
        match self {
            Self::Random | Self::Sticky { .. } | Self::Pos | Self::Surw | Self::Urw => true,
            Self::RaceDirected { .. } | Self::Pct { .. } | Self::Idpct { .. } | Self::FairPct { .. } => true,
            Self::DelayBounded { .. } | Self::Corpus | Self::Auto => true,
            Self::Sequential | Self::RoundRobin | Self::Exhaustive { .. } | Self::Replay { .. } => false,
        }
    }
}
