//! From a configuration to what executions are run with.

use std::time::Duration;

use drawloom_engine::Limits;
use drawloom_engine::config::{Clock, Config, StrategySpec, Teardown};
use drawloom_engine::schedule::{Schedule, TokenError};
use drawloom_engine::strategy::{Random, Replay, RoundRobin, Sequential, Strategy};
use drawloom_fiber::Settings;

use crate::rt::line_of;

/// Steps for which a ready task may be passed over before it is let run regardless.
const STARVATION_BOUND: u64 = 10_000;

/// A configuration, worked out.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) strategy_text: String,
    pub(super) strategy: StrategySpec,
    pub(super) replay: Option<Schedule>,
    pub(super) seed: u64,
    /// Executions to make, unless something ends the exploration before.
    pub(super) executions: u64,
    /// Bytes for what an exhaustive exploration has left to do.
    pub(super) memory_budget: usize,
    /// Whether an execution that is cut has failed: not if that was asked for.
    pub(super) cuts_are_failures: bool,
    pub(super) keep_going: bool,
    pub(super) behaviours: bool,
    pub(super) leaks: bool,
    pub(super) unjoined: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) threads: usize,
    pub(super) settings: Settings,
}

impl Plan {
    pub(super) fn of(config: &Config) -> Result<Plan, TokenError> {
        let name = config.name.clone().unwrap_or_default();
        let replay = match &config.strategy {
            StrategySpec::Replay { token, .. } => Some(Schedule::from_token(token, &name)?),
            _ => None,
        };
        let threads = match config.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let early_fires = match config.clock {
            Clock::Quiescent => 0,
            Clock::Explore => config.early_fires,
        };
        let limits = Limits {
            max_steps: match config.strategy {
                StrategySpec::Exhaustive { max_depth, .. } if max_depth > 0 => max_depth.min(config.max_steps),
                _ => config.max_steps,
            },
            progress_bound: config.progress_bound,
            max_tasks: config.max_tasks,
            early_fires,
            // A replay makes every choice itself, those of the guard included; so does `exhaustive`.
            starvation_bound: match config.strategy {
                StrategySpec::Replay { .. } | StrategySpec::Exhaustive { .. } => u64::MAX,
                _ => STARVATION_BOUND,
            },
            run_on: matches!(config.strategy, StrategySpec::Exhaustive { .. }),
            await_change: matches!(config.strategy, StrategySpec::Exhaustive { .. })
                || replay.as_ref().is_some_and(|schedule| schedule.await_change),
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
            memory_budget: match config.strategy {
                StrategySpec::Exhaustive { memory_budget, .. } => memory_budget,
                _ => usize::MAX,
            },
            cuts_are_failures: !matches!(config.strategy, StrategySpec::Exhaustive { max_depth: 1.., .. }),
            keep_going: config.keep_going,
            behaviours: config.behaviours,
            leaks: config.leaks,
            unjoined: config.unjoined,
            timeout: config.timeout,
            threads,
            settings: Settings {
                limits,
                stack_size: config.stack_size,
                spurious_wakeups: config.spurious_wakeups,
                weak_failures: config.weak_failures,
                leak: config.teardown == Teardown::Leak,
            },
            replay,
            name,
        })
    }

    /// A strategy of its own for each worker.
    pub(super) fn strategy(&self) -> Box<dyn Strategy> {
        match (&self.strategy, &self.replay) {
            (StrategySpec::Sequential, _) => Box::new(Sequential),
            (StrategySpec::RoundRobin, _) => Box::new(RoundRobin),
            (StrategySpec::Sticky { stickiness }, _) => Box::new(Random::sticky(*stickiness)),
            (StrategySpec::Replay { lenient, .. }, Some(schedule)) => {
                Box::new(Replay::new(schedule.clone(), *lenient, line_of))
            }
            // Each execution of an exhaustive exploration gets a strategy of its own.
            (StrategySpec::Random | StrategySpec::Exhaustive { .. } | StrategySpec::Replay { .. }, _) => {
                Box::new(Random::new())
            }
        }
    }

    pub(super) fn is_exhaustive(&self) -> bool {
        matches!(self.strategy, StrategySpec::Exhaustive { .. })
    }

    pub(super) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }
}

/// How reports name the strategy: its arguments, but not those of the test around it.
fn strategy_text(config: &Config) -> String {
    match &config.strategy {
        StrategySpec::Sticky { stickiness } => format!("sticky(stickiness = {stickiness})"),
        other => other.name().to_owned(),
    }
}
