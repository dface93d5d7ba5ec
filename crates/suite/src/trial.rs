//! Trials: how many executions it takes until a program fails.

use drawloom::{Config, Exploration};

use crate::programs::Body;

/// What all trials have in common: the rules of the suite know no wake-ups and no failed exchanges without a
/// reason; and a trial is one exploration on one OS thread, so that trials can run side by side. It is over
/// when the bug is found: nothing is minimised.
const RULES: &str = "spurious_wakeups = 0, weak_failures = 0, trace = false, threads = 1, shrink = false";

/// Explores one version of a program with the strategy that is written as `strategy`, for example
/// `random(iterations = 100)`.
///
/// # Panics
///
/// If that is no configuration.
pub fn explore(strategy: &str, body: fn()) -> Exploration {
    drawloom::explore(under_rules(strategy), body)
}

/// The number of the first execution that fails, from 1, warm-up included; none among `cut`.
pub fn schedules_to_first_bug(program: &Body, strategy: &str, trial: u64, cut: u64) -> Option<u64> {
    first_bug(program, configuration(program, strategy, trial, cut))
}

/// What trial number `trial` is run with, of at most `cut` executions.
pub fn configuration(program: &Body, strategy: &str, trial: u64, cut: u64) -> Config {
    under_rules(strategy).iterations(cut).seed(seed_of(program.name, strategy, trial))
}

/// As [`schedules_to_first_bug`], with a [`configuration`].
pub fn first_bug(program: &Body, configuration: Config) -> Option<u64> {
    let found = drawloom::explore(configuration, program.buggy);
    // All executions until then, those included that `auto` makes in an attempt to explore everything.
    (!found.findings().is_empty()).then(|| found.executions())
}

fn under_rules(strategy: &str) -> Config {
    match format!("{strategy}, {RULES}").parse() {
        Ok(config) => config,
        Err(error) => panic!("`{strategy}` is no strategy: {error}"),
    }
}

/// The seed of a trial: the same on every machine, and different for each program and strategy (FNV-1a).
fn seed_of(program: &str, strategy: &str, trial: u64) -> u64 {
    let bytes = program.bytes().chain([0]).chain(strategy.bytes()).chain([0]).chain(trial.to_le_bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
