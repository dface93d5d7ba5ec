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
            max_steps: config.max_steps,
            progress_bound: config.progress_bound,
            max_tasks: config.max_tasks,
            early_fires,
            // A replay makes every choice itself, those of the guard included.
            starvation_bound: if replay.is_some() { u64::MAX } else { STARVATION_BOUND },
        };
        Ok(Plan {
            strategy_text: strategy_text(config),
            strategy: config.strategy.clone(),
            seed: config.effective_seed(),
            executions: if config.strategy.is_randomised() { config.iterations } else { 1 },
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
            (StrategySpec::Random | StrategySpec::Replay { .. }, _) => Box::new(Random::new()),
        }
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
