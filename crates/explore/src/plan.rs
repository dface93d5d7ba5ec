//! From a configuration to what executions are run with.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drawloom_engine::config::{Clock, Config, Shrink, StrategySpec, Teardown, Until};
use drawloom_engine::schedule::{LineOf, Schedule};
use drawloom_engine::strategy::{
    Corpus, DelayBounded, Guide, Lenient, Pct, Pos, RaceDirected, Random, Replay, RoundRobin, Sequential, Strategy,
    Surw, Urw,
};
use drawloom_engine::{Budget, Budgets, Limits, Settings};

use super::memory::{self, Lent};
use super::program::Program;
use super::rounds::SINGLE;

/// Steps for which a ready task may be passed over before it is let run regardless.
const STARVATION_BOUND: u64 = 10_000;

/// Executions that are guided where the strategy is `auto`: those that are made one after the other.
pub(super) const GUIDED: u64 = SINGLE;

/// The execution that is made twice where executions are sampled. Not the first one: where a bug is found before, it
/// would be one of few. An exploration that ends before compares its last one.
const COMPARED: u64 = SINGLE - 1;

/// A task may go without a step for at least this long, and the first execution may take as long: a short `timeout` is a
/// budget, and says nothing of how fast the machine is.
const LEAST_PATIENCE: Duration = Duration::from_secs(3);

/// Makes a strategy of the user's own for each worker.
pub(super) type MakeStrategy = Arc<dyn Fn() -> Box<dyn Strategy> + Send + Sync>;

/// What a task reads of the clock otherwise than by a step, nothing can be in the way of: a search would miss some of it.
const NOT_EXHAUSTED: &str = "`exhaustive` cannot explore early timers in this language: leave out `clock = explore`, or \
             sample with another strategy";

/// How many preemptions a class needs is worked out for timers that fire when nobody can go on.
const NOT_COUNTED: &str = "`exhaustive` cannot bound preemptions when timers fire early: leave out `preemptions` or `clock \
             = explore`";

/// Whether timers may fire although there is time.
fn fires_early(config: &Config) -> bool {
    config.clock == Clock::Explore && config.early_fires > 0
}

/// A configuration, worked out.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) strategy_text: String,
    pub(super) strategy: StrategySpec,
    /// Instead of `strategy`.
    pub(super) custom: Option<MakeStrategy>,
    pub(super) replay: Option<Schedule>,
    /// Of the first executions of `auto`.
    pub(super) guide: Option<Guide>,
    pub(super) seed: u64,
    /// Executions to make, unless something ends the exploration before.
    pub(super) executions: u64,
    /// The execution that is made twice, to compare.
    pub(super) compared: u64,
    /// Whether to stop as soon as behaviours repeat themselves.
    pub(super) until_saturated: bool,
    /// Whether all that there is can be explored, if it is not much.
    pub(super) can_be_exhausted: bool,
    /// Bytes for what an exhaustive exploration has left to do.
    pub(super) memory_budget: usize,
    /// Rounds of a spin loop that an exhaustive exploration makes before it cuts.
    pub(super) spin_rounds: u32,
    /// Preemptions that a behaviour may need, if an exhaustive exploration has that bound.
    pub(super) preemptions: Option<u32>,
    /// Whether an execution that is cut has failed: not if that was asked for.
    pub(super) cuts_are_failures: bool,
    pub(super) keep_going: bool,
    /// Whether it is all right if no execution has a choice.
    pub(super) allow_no_choice: bool,
    pub(super) leaks: bool,
    pub(super) unjoined: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) threads: usize,
    pub(super) shrink: Shrink,
    /// Schedules that each fix is tried with.
    pub(super) fixes: u64,
    pub(super) settings: Settings,
    /// The front end's.
    pub(super) line_of: LineOf,
}

impl Plan {
    /// An error is for the user.
    pub(super) fn of<P: Program>(config: &Config) -> Result<Plan, String> {
        let name = config.name.clone().unwrap_or_default();
        let replay = match &config.strategy {
            StrategySpec::Replay { token, .. } => {
                Some(Schedule::from_token(token, &name).map_err(|error| error.to_string())?)
            }
            StrategySpec::Exhaustive { .. } if fires_early(config) && !P::EARLY_TIMERS_ARE_STEPS => {
                return Err(NOT_EXHAUSTED.to_owned());
            }
            StrategySpec::Exhaustive { preemptions: Some(_), .. } if fires_early(config) => {
                return Err(NOT_COUNTED.to_owned());
            }
            _ => None,
        };
        let threads = match config.threads {
            _ if !P::SPREADS => 1,
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let early_fires = if fires_early(config) { config.early_fires } else { 0 };
        let limits = Limits {
            max_steps: match config.strategy {
                StrategySpec::Exhaustive { max_depth, .. } if max_depth > 0 => max_depth.min(config.max_steps),
                _ => config.max_steps,
            },
            progress_bound: config.progress_bound,
            max_tasks: config.max_tasks,
            budgets: Budgets::NONE
                .with(Budget::EarlyFires, early_fires)
                .with(Budget::SpuriousWakeups, config.spurious_wakeups)
                .with(Budget::WeakFailures, config.weak_failures),
            // A replay makes every choice itself, those of the guard included; so does `exhaustive`.
            starvation_bound: match config.strategy {
                StrategySpec::Replay { .. } | StrategySpec::Exhaustive { .. } => u64::MAX,
                _ => STARVATION_BOUND,
            },
            run_on: matches!(config.strategy, StrategySpec::Exhaustive { .. }),
            spin_rounds: match (&config.strategy, &replay) {
                (StrategySpec::Exhaustive { .. }, _) => Some(config.spin_rounds),
                (_, Some(schedule)) => schedule.spin_rounds,
                _ => None,
            },
            all_are_wanted: matches!(config.strategy, StrategySpec::Exhaustive { .. }),
            behaviour: !matches!(config.strategy, StrategySpec::Exhaustive { .. }),
            notes: false,
            guard: None,
        };
        Ok(Plan {
            strategy_text: strategy_text(config),
            strategy: config.strategy.clone(),
            seed: config.effective_seed(),
            executions: match config.strategy {
                StrategySpec::Exhaustive { max_schedules, .. } => max_schedules,
                _ if config.strategy.is_randomised() => config.iterations,
                _ => 1,
            },
            compared: match config.strategy {
                StrategySpec::Exhaustive { .. } => 0,
                _ => COMPARED,
            },
            until_saturated: config.until == Until::Saturated && config.strategy.is_randomised(),
            can_be_exhausted: early_fires == 0 || P::EARLY_TIMERS_ARE_STEPS,
            custom: None,
            // With `keep_going` exploration goes on after an execution that ended half way.
            guide: (config.strategy == StrategySpec::Auto && !config.keep_going && early_fires == 0)
                .then(memory::guide),
            memory_budget: match config.strategy {
                StrategySpec::Exhaustive { memory_budget, .. } => memory_budget,
                _ => usize::MAX,
            },
            preemptions: match config.strategy {
                StrategySpec::Exhaustive { preemptions, .. } => preemptions,
                _ => None,
            },
            spin_rounds: config.spin_rounds,
            cuts_are_failures: !matches!(config.strategy, StrategySpec::Exhaustive { max_depth: 1.., .. }),
            keep_going: config.keep_going,
            allow_no_choice: config.allow_no_choice,
            leaks: config.leaks,
            unjoined: config.unjoined,
            timeout: config.timeout,
            threads,
            shrink: config.shrink,
            fixes: config.fixes,
            settings: Settings {
                limits,
                stack_size: config.stack_size,
                leak: config.teardown == Teardown::Leak,
                patience: config.timeout.map_or(Settings::PATIENCE, |timeout| timeout.max(LEAST_PATIENCE)),
                deadline: None,
            },
            replay,
            name,
            line_of: P::line_of,
        })
    }

    /// The same with the choices of a strategy of the user's own.
    pub(super) fn with(mut self, make: MakeStrategy, config: &Config) -> Plan {
        self.strategy = StrategySpec::Random;
        self.guide = None;
        self.strategy_text = "a strategy of your own".to_owned();
        self.executions = config.iterations;
        // It is asked for the same choices again: so whether it can make them is known at once.
        self.compared = 0;
        self.custom = Some(make);
        self
    }

    /// The same for an attempt to explore everything, which is given up where an execution is longer than
    /// `longest`.
    pub(super) fn to_exhaust(&self, longest: u64) -> Plan {
        let mut plan = self.clone();
        plan.guide = None;
        plan.strategy = StrategySpec::Exhaustive {
            max_schedules: self.executions,
            max_depth: longest,
            resume: false,
            memory_budget: self.memory_budget,
            preemptions: None,
        };
        plan.cuts_are_failures = false;
        let limits = &mut plan.settings.limits;
        limits.max_steps = limits.max_steps.min(longest);
        limits.starvation_bound = u64::MAX;
        limits.run_on = true;
        limits.spin_rounds = Some(self.spin_rounds);
        plan
    }

    /// The time runs from now on. Returns when it is over.
    pub(super) fn start_clock(&mut self) -> Option<Instant> {
        self.settings.deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.settings.deadline
    }

    /// What execution `iteration` is run with. The first one is cut later: nothing is known without it.
    #[inline]
    pub(super) fn settings_of(&self, iteration: u64) -> Cow<'_, Settings> {
        let short = self.timeout.filter(|timeout| iteration == 0 && *timeout < LEAST_PATIENCE);
        match (self.settings.deadline, short) {
            (Some(deadline), Some(timeout)) => {
                let deadline = deadline.checked_add(LEAST_PATIENCE - timeout);
                Cow::Owned(Settings { deadline, ..self.settings.clone() })
            }
            _ => Cow::Borrowed(&self.settings),
        }
    }

    /// A strategy of its own for each worker.
    pub(super) fn strategy(&self) -> Box<dyn Strategy> {
        if let Some(make) = &self.custom {
            return make();
        }
        match (&self.strategy, &self.replay) {
            (StrategySpec::Sequential, _) => Box::new(Sequential),
            (StrategySpec::RoundRobin, _) => Box::new(RoundRobin),
            (StrategySpec::Sticky { stickiness }, _) => Box::new(Random::sticky(*stickiness)),
            (StrategySpec::Auto, _) => Box::new(Lent::auto(self.guide.clone())),
            (StrategySpec::Pos, _) => Box::new(Pos::new()),
            (StrategySpec::Surw, _) => Box::new(Surw::new()),
            (StrategySpec::Urw, _) => Box::new(Urw::new()),
            (StrategySpec::RaceDirected { constraints }, _) => Box::new(RaceDirected::new(*constraints)),
            (StrategySpec::Pct { depth }, _) => Box::new(Pct::new(*depth)),
            (StrategySpec::Idpct { shallowest, deepest }, _) => Box::new(Pct::iterative(*shallowest, *deepest)),
            (StrategySpec::FairPct { fair_depth }, _) => Box::new(Pct::fair(*fair_depth)),
            (StrategySpec::Corpus, _) => Box::new(Corpus::new()),
            (StrategySpec::DelayBounded { delays }, _) => Box::new(DelayBounded::new(*delays)),
            (StrategySpec::Replay { lenient: true, .. }, Some(schedule)) => Box::new(Lenient::of(schedule)),
            (StrategySpec::Replay { .. }, Some(schedule)) => Box::new(Replay::new(schedule.clone(), self.line_of)),
            // `random`. Each execution of an exhaustive exploration gets a strategy of its own.
            _ => Box::new(Random::new()),
        }
    }

    /// Whether executions that show something new are kept.
    pub(super) fn keeps(&self) -> bool {
        self.strategy == StrategySpec::Corpus
    }

    pub(super) fn is_exhaustive(&self) -> bool {
        matches!(self.strategy, StrategySpec::Exhaustive { .. })
    }

    /// Whether to explore everything where that takes little.
    pub(super) fn may_exhaust(&self) -> bool {
        matches!(self.strategy, StrategySpec::Auto) && self.can_be_exhausted
    }

    /// What a schedule is replayed with that was made under this plan, or, with `spin_rounds`, by an
    /// exhaustive exploration: a replay makes every choice itself, those of the guard included.
    pub(super) fn replay_settings(&self, spin_rounds: Option<u32>) -> Settings {
        let limits = Limits { starvation_bound: u64::MAX, run_on: false, spin_rounds, ..self.settings.limits.clone() };
        // What replays a finding has budgets of its own.
        Settings { limits, deadline: None, ..self.settings.clone() }
    }

    pub(super) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }
}

/// How reports name the strategy: its arguments, but not those of the test around it.
fn strategy_text(config: &Config) -> String {
    match &config.strategy {
        StrategySpec::Sticky { stickiness } => format!("sticky(stickiness = {stickiness})"),
        StrategySpec::Pct { depth } => format!("pct(depth = {depth})"),
        other => other.name().to_owned(),
    }
}
