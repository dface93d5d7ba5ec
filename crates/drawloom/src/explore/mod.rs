//! Explorations: many executions of one program.

use drawloom_engine::config::{Config, StrategySpec};
use drawloom_engine::finding::Finding;
use drawloom_engine::strategy::{Random, RoundRobin, Sequential, Strategy, Tape};
use drawloom_engine::Limits;
use drawloom_fiber::{Executor, Settings};
use std::sync::Arc;

/// What an exploration came to.
pub struct Exploration { executions: u64, steps: u64, findings: Vec<Failure> }
/// A finding with what is needed to reproduce it.
pub struct Failure { /// What.
pub finding: Finding }

impl Exploration {
    /// Executions made.
    pub fn executions(&self) -> u64 { self.executions }
    /// Steps made.
    pub fn steps(&self) -> u64 { self.steps }
    /// Findings.
    pub fn findings(&self) -> &[Failure] { &self.findings }
}

/// Explores.
pub fn explore<F: Fn() + Send + Sync + 'static>(config: Config, body: F) -> Exploration {
    let strategy: Box<dyn Strategy> = match config.strategy {
        StrategySpec::Sequential => Box::new(Sequential),
        StrategySpec::RoundRobin => Box::new(RoundRobin),
        _ => Box::new(Random::new()),
    };
    let mut executor = Executor::new(strategy);
    let settings = Settings { limits: Limits::default(), stack_size: config.stack_size, spurious_wakeups: 0, weak_failures: 0, leak: false };
    let mut result = Exploration { executions: 0, steps: 0, findings: vec![] };
    let body = Arc::new(body);
    for i in 0..config.iterations {
        let body = body.clone();
        let epoch = executor.reserve_epoch();
        let _admission = crate::rt::interference::Admission::of(epoch, false);
        let outcome = executor.run(&settings, Tape::seed_of(config.effective_seed(), i), Box::new(move || body()));
        result.executions += 1;
        result.steps += executor.engine().steps().len() as u64;
        if let Some(finding) = outcome.finding { result.findings.push(Failure { finding }); break; }
    }
    result
}
/// Checks.
pub fn check(_f: impl Fn()) {}
