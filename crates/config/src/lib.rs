//! How to explore: the strategy and every limit, as one value with one written form.
//!
//! This crate is internal to Drawloom. Depend on `drawloom` instead: this interface may change in every release.
//!
//! A configuration is written the same way wherever it is written: as the arguments of
//! `#[drawloom::test(…)]`, in an environment variable, on a command line.
//!
//! ```
//! use drawloom_config::{Config, StrategySpec};
//!
//! let config: Config = "random(iterations = 500, seed = 42), max_steps = 5_000".parse()?;
//! assert_eq!(config.strategy, StrategySpec::Random);
//! assert_eq!(config.iterations, 500);
//! assert_eq!(config.max_steps, 5_000);
//! # Ok::<(), drawloom_config::ConfigError>(())
//! ```
//!
//! At most one strategy, with or without parentheses, and any arguments around it or inside of its
//! parentheses, in any order, separated by commas. The empty text is all defaults. There is one
//! parser for it, here, so that a text can be moved from a report to a test and back.
//!
//! The rooms: `lexer` and `grammar` know the shape, `table` knows the names, `apply` brings both
//! together, `display` goes the way back. A new strategy or argument is one row of `table`.
#![forbid(unsafe_code)]

mod apply;
mod argument;
mod builder;
mod choices;
mod display;
mod environment;
mod error;
mod grammar;
mod lexer;
mod limits;
mod quantity;
mod strategy;
mod suggest;
mod table;
#[cfg(test)]
mod tests;

use std::str::FromStr;
use std::time::Duration;

pub use choices::{Clock, Memory, Shrink, Teardown, Until};
pub use display::reference;
pub use environment::{
    ENV_FIXES, ENV_ITERATIONS, ENV_REGRESSIONS, ENV_REPLAY, ENV_SEED, ENV_SHRINK, ENV_STRATEGY, ENV_THREADS,
    ENV_TIMEOUT,
};
pub use error::ConfigError;
pub use limits::{
    DEFAULT_CONSTRAINTS, DEFAULT_DEEPEST, DEFAULT_DELAYS, DEFAULT_DEPTH, DEFAULT_EARLY_FIRES, DEFAULT_FIXES,
    DEFAULT_ITERATIONS, DEFAULT_MAX_SCHEDULES, DEFAULT_MAX_STEPS, DEFAULT_MAX_TASKS, DEFAULT_MEMORY_BUDGET_BYTES,
    DEFAULT_PROGRESS_BOUND_YIELDS, DEFAULT_SEED, DEFAULT_SHALLOWEST, DEFAULT_SPIN_ROUNDS, DEFAULT_SPURIOUS_WAKEUPS,
    DEFAULT_STACK_SIZE_BYTES, DEFAULT_STICKINESS, DEFAULT_WEAK_FAILURES, MAX_STICKINESS, MIN_STACK_SIZE_BYTES,
};
pub use strategy::StrategySpec;

/// How to explore one test.
///
/// Made by parsing, or by the builder methods, which have the names of the fields and raise what is
/// below its least value. Either way `to_string` gives the canonical text, which parses back to an
/// equal value.
///
/// ```
/// use drawloom_config::{Config, StrategySpec};
///
/// let config = Config::new()
///     .strategy(StrategySpec::Sticky { stickiness: 5 })
///     .seed(42)
///     .max_steps(5_000);
/// assert_eq!(config.to_string(), "sticky(stickiness = 5, seed = 42), max_steps = 5000");
/// assert_eq!(config.to_string().parse(), Ok(config));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// What makes the choices; [`StrategySpec::Auto`] unless given.
    pub strategy: StrategySpec,
    /// Executions to try, if the strategy is randomised; the others know themselves when they are
    /// done. At least 1; [`DEFAULT_ITERATIONS`] unless given.
    pub iterations: u64,
    /// What ends an exploration that samples and finds nothing; [`Until::Iterations`] unless given.
    pub until: Until,
    /// Where a randomised strategy begins to draw; `None` is [`DEFAULT_SEED`], and kept apart from
    /// it so that a report can say whether a person chose the seed. See
    /// [`effective_seed`](Self::effective_seed).
    pub seed: Option<u64>,
    /// Steps of one execution before it is cut off with a finding. At least 1;
    /// [`DEFAULT_MAX_STEPS`] unless given.
    pub max_steps: u64,
    /// Yields without progress, in one execution, that make a livelock. At least 1;
    /// [`DEFAULT_PROGRESS_BOUND_YIELDS`] unless given.
    pub progress_bound: u64,
    /// How often a task may repeat a round of a spin loop (look, yield, look again) before exhaustive exploration holds it
    /// until nobody else can continue. Where that has happened, the result says that spin loops were cut. At least 1;
    /// [`DEFAULT_SPIN_ROUNDS`] unless given.
    pub spin_rounds: u32,
    /// Wall-clock time for the whole exploration. More than nothing; no limit unless given. It is also how long a task may
    /// go without a step: at least 3 s, and 10 s where no time is given.
    pub timeout: Option<Duration>,
    /// OS threads that explore at the same time; 0, the default, is one per core.
    pub threads: usize,
    /// Stack of each task in bytes. At least [`MIN_STACK_SIZE_BYTES`];
    /// [`DEFAULT_STACK_SIZE_BYTES`] unless given.
    pub stack_size: usize,
    /// Tasks of one execution before it is cut off with a finding. At least 1;
    /// [`DEFAULT_MAX_TASKS`] unless given.
    pub max_tasks: u32,
    /// Whether to continue after a finding and to collect all distinct ones; not unless asked, since
    /// the first one is what a test run waits for.
    pub keep_going: bool,
    /// Whether a test passes in which no execution ever had a choice, such as one with a single task; not unless
    /// asked, since most often what matters is then not under control.
    pub allow_no_choice: bool,
    /// How many times, in one execution, a wait on a condition variable or a park may end spuriously, as
    /// std allows it to; [`DEFAULT_SPURIOUS_WAKEUPS`] unless given.
    pub spurious_wakeups: u32,
    /// How many times, in one execution, `compare_exchange_weak` may fail spuriously, as std allows
    /// it to; [`DEFAULT_WEAK_FAILURES`] unless given.
    pub weak_failures: u32,
    /// When virtual time moves on; [`Clock::Quiescent`] unless given.
    pub clock: Clock,
    /// How many timers, in one execution, may fire early under [`Clock::Explore`];
    /// [`DEFAULT_EARLY_FIRES`] unless given.
    pub early_fires: u32,
    /// Which values loads can read; [`Memory::SequentiallyConsistent`] unless given.
    pub memory: Memory,
    /// Whether an `Arc` that outlives the execution is a finding; it is unless told otherwise.
    pub leaks: bool,
    /// Whether a task that nobody joins is a finding; it is not unless asked.
    pub unjoined: bool,
    /// What becomes of unfinished tasks; [`Teardown::Unwind`] unless given.
    pub teardown: Teardown,
    /// Whether the schedule of a finding is minimised; [`Shrink::Within`] unless given.
    pub shrink: Shrink,
    /// Schedules that each fix of a finding is tried with; 0 for none. [`DEFAULT_FIXES`] unless given.
    pub fixes: u64,
    /// Whether failing schedules are saved in a file that users commit, and replayed first; they are
    /// unless told otherwise.
    pub regressions: bool,
    /// Whether each finding is written to a trace file; it is unless told otherwise.
    pub trace: bool,
    /// What reports call the test. The attribute sets it to the test's path.
    pub name: Option<String>,
}

impl Config {
    /// All defaults.
    pub fn new() -> Self {
        Self {
            strategy: StrategySpec::default(),
            iterations: DEFAULT_ITERATIONS,
            until: Until::default(),
            seed: None,
            max_steps: DEFAULT_MAX_STEPS,
            progress_bound: DEFAULT_PROGRESS_BOUND_YIELDS,
            spin_rounds: DEFAULT_SPIN_ROUNDS,
            timeout: None,
            threads: 0,
            stack_size: DEFAULT_STACK_SIZE_BYTES,
            max_tasks: DEFAULT_MAX_TASKS,
            keep_going: false,
            allow_no_choice: false,
            spurious_wakeups: DEFAULT_SPURIOUS_WAKEUPS,
            weak_failures: DEFAULT_WEAK_FAILURES,
            clock: Clock::default(),
            early_fires: DEFAULT_EARLY_FIRES,
            memory: Memory::default(),
            leaks: true,
            unjoined: false,
            teardown: Teardown::default(),
            shrink: Shrink::default(),
            fixes: DEFAULT_FIXES,
            regressions: true,
            trace: true,
            name: None,
        }
    }

    /// The seed that is drawn from: the one given, or [`DEFAULT_SEED`].
    pub fn effective_seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(source: &str) -> Result<Self, ConfigError> {
        let mut config = Self::new();
        apply::apply(&mut config, source)?;
        Ok(config)
    }
}
