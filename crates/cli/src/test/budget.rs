//! What is left of the time, spent where it is most likely to find something.
//!
//! Tests take turns. The next turn goes to the test with the highest rate of new behaviours for the time it has
//! had: by Good and Turing's estimate, the share of executions whose behaviour was seen once is the probability
//! that the next one shows something new. So a test that has had little, or still shows much, comes first, and
//! nobody is left out for good. Each turn draws with a seed of its own, or goes on with an exhaustive search
//! where the last one stopped.

use std::time::{Duration, Instant};

use drawloom_engine::config::{Config, ENV_ITERATIONS, ENV_SEED, ENV_STRATEGY, ENV_TIMEOUT, StrategySpec};
use drawloom_report::{ResultOutcome, TestResult};

use super::report::{Status, TestReport};
use super::{Run, Show};
use crate::error::Error;
use crate::interrupt;
use crate::run::child::End;
use crate::run::{Event, Selection, Settings};

/// A turn that is shorter is mostly spent on starting a process.
const SHORTEST_TURN: Duration = Duration::from_millis(500);
/// A search that is shorter leaves nothing to go on with.
const SHORTEST_SEARCH: Duration = Duration::from_millis(1200);
const LONGEST_TURN: Duration = Duration::from_secs(30);
/// Nobody gets less than a twentieth of what another gets.
const LEAST_PROMISE: f64 = 0.05;
/// What a test that has had no time is taken to have had, in seconds.
const NO_TIME: f64 = 0.05;
/// Turns that each test should get, if all got the same.
const TURNS_EACH: u32 = 4;
/// More executions than anybody has time for.
pub(super) const NO_END: u64 = 1_000_000_000_000;

/// Whether another turn of a test could find something.
pub(super) fn can_go_on(report: &TestReport) -> bool {
    let Some(result) = &report.exploration else { return false };
    let open = report.status == Status::Passed && result.outcome == ResultOutcome::Passed && !result.exhausted;
    open && report.config().is_some_and(|config| match config.strategy {
        // What has a bound on preemptions is not gone on with: it would start over.
        StrategySpec::Exhaustive { resume, preemptions, .. } => resume && preemptions.is_none(),
        ref other => other.is_randomised(),
    })
}

/// The probability that the next execution of a test shows something new.
fn promise(report: &TestReport) -> f64 {
    let Some(result) = &report.exploration else { return 0.0 };
    match report.is_exhaustive() {
        true => 1.0,
        false => (result.seen_once + 1) as f64 / (result.executions + 2) as f64,
    }
}

/// Whose turn it is: of those that are open, the one that promises most for the time it has had.
fn whose_turn(open: &[usize], promise: impl Fn(usize) -> f64, spent: &[Duration]) -> Option<usize> {
    let worth = |i: &usize| promise(*i).max(LEAST_PROMISE) / (spent[*i].as_secs_f64() + NO_TIME);
    open.iter().copied().max_by(|a, b| worth(a).total_cmp(&worth(b)).then(b.cmp(a)))
}

/// Gives tests turns until the deadline.
pub(super) fn spend(run: &mut Run<'_>, deadline: Instant, show: &mut dyn Show) -> Result<(), Error> {
    let mut spent: Vec<Duration> = run.reports.all.iter().map(milliseconds_of).collect();
    let mut open: Vec<usize> = (0..run.reports.all.len()).filter(|i| can_go_on(&run.reports.all[*i])).collect();
    let began = Instant::now();
    while !interrupt::requested() {
        let all = &run.reports.all;
        let Some(next) = whose_turn(&open, |i| promise(&all[i]), &spent) else { break };
        let left = deadline.saturating_duration_since(Instant::now());
        let shortest = if all[next].is_exhaustive() { SHORTEST_SEARCH } else { SHORTEST_TURN };
        if left < shortest {
            open.retain(|i| *i != next);
            continue;
        }
        let whole = deadline.saturating_duration_since(began);
        let turn = (whole / (TURNS_EACH * open.len() as u32)).clamp(shortest, LONGEST_TURN).min(left);
        show.turn(&all[next], left);
        let began_turn = Instant::now();
        let goes_on = take_turn(run, next, turn)?;
        spent[next] += began_turn.elapsed();
        if !goes_on {
            open.retain(|i| *i != next);
            let report = &mut run.reports.all[next];
            report.told = true;
            show.ended(report);
        }
    }
    Ok(())
}

fn milliseconds_of(report: &TestReport) -> Duration {
    Duration::from_millis(report.exploration.as_ref().map_or(0, |result| result.milliseconds))
}

/// Runs one test for so long. Whether it could go on after that.
fn take_turn(run: &mut Run<'_>, index: usize, turn: Duration) -> Result<bool, Error> {
    let report = &run.reports.all[index];
    let (target, path) = (report.target_index, report.path.clone());
    let (Some(before), Some(config)) = (report.exploration.clone(), report.config()) else { return Ok(false) };
    let config = for_a_turn(config, &before, report.turns, turn);
    let mut environment = run.environment.clone();
    // They would win over the configuration.
    let special = [ENV_SEED, ENV_ITERATIONS, ENV_TIMEOUT, ENV_STRATEGY];
    environment.retain(|(variable, _)| !special.contains(variable));
    environment.push((ENV_STRATEGY, config.to_string()));
    let settings = Settings {
        jobs: None,
        include_ignored: run.arguments.include_ignored,
        environment,
        without: vec![ENV_SEED, ENV_ITERATIONS, ENV_TIMEOUT],
        deadline: Some(Instant::now() + turn + super::grace(turn)),
    };
    let mut verdict = None;
    let ended = run.runner.run(Selection::One { target, path: &path }, &settings, |event| match event {
        Event::Ended { target: whose, path: of, verdict: ended, output } if whose == target && of == path => {
            verdict = Some((super::status_of(ended), output));
        }
        Event::Ended { .. } | Event::Output { .. } => {}
    })?;
    let (runner, reports) = (&run.runner, &mut run.reports);
    let mut new = false;
    run.results.read(|result| {
        new = true;
        reports.explored(runner, result);
    });
    let made_to_end = !matches!(ended.end, End::Exited(_));
    let verdict = match verdict {
        // Nextest says of a test that it was made to end that it has failed.
        Some((Status::Failed, _)) if made_to_end && !new => None,
        verdict => verdict,
    };
    let (status, output) = match (verdict, ended.end) {
        (Some(verdict), _) => verdict,
        // What is known from before stays.
        (None, End::Interrupted) => return Ok(false),
        (None, End::Exited(_) | End::Late) => {
            let why = run.runner.targets.get(target).map(|target| ended.why_unfinished(target));
            (Status::Unfinished, why)
        }
    };
    let Some(report) = reports.ended(target, &path, status, output) else { return Ok(false) };
    let timed_out = report.exploration.as_ref().is_some_and(|result| result.timed_out);
    if let Some(result) = report.exploration.as_mut().filter(|_| new) {
        add(result, &before, &config);
    }
    Ok(can_go_on(report) && timed_out)
}

/// The configuration of another turn.
fn for_a_turn(config: Config, before: &TestResult, turns: u32, turn: Duration) -> Config {
    let mut config = config.timeout(turn);
    match &mut config.strategy {
        StrategySpec::Exhaustive { max_schedules, .. } => *max_schedules = NO_END,
        _ => {
            let first =
                before.seed.as_ref().and_then(|seed| u64::from_str_radix(seed.trim_start_matches("0x"), 16).ok());
            // Any sequence without a repetition will do: strategies hash the seed.
            let step = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(u64::from(turns));
            let seed = first.unwrap_or_else(|| config.effective_seed()).wrapping_add(step);
            config = config.seed(seed).iterations(NO_END);
        }
    }
    config
}

/// Adds what was known before to the result of another turn.
fn add(result: &mut TestResult, before: &TestResult, config: &Config) {
    // A search that is gone on with counts its earlier executions itself.
    if matches!(config.strategy, StrategySpec::Exhaustive { .. }) {
        result.milliseconds += before.milliseconds;
        result.configuration.clone_from(&before.configuration);
        return;
    }
    let failed = result.outcome == ResultOutcome::Failed;
    result.executions += before.executions;
    result.seen_once += before.seen_once;
    result.steps += before.steps;
    result.milliseconds += before.milliseconds;
    // Which behaviours two turns have in common is not known: what one of them has shown is certain.
    result.behaviours = result.behaviours.max(before.behaviours);
    if !failed {
        // Tests are called by the configuration and the seed that they were written with.
        result.configuration.clone_from(&before.configuration);
        result.seed.clone_from(&before.seed);
        result.planned = result.executions;
        result.timed_out = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(configuration: &str) -> TestResult {
        TestResult { configuration: configuration.into(), seed: Some("0x5eed".into()), ..TestResult::default() }
    }

    #[test]
    fn time_is_shared_by_promise_and_nobody_is_left_out() {
        let promises = [1.0, 0.25, 0.0];
        let mut spent = [Duration::ZERO; 3];
        for _ in 0..260 {
            let next = whose_turn(&[0, 1, 2], |i| promises[i], &spent).expect("all are open");
            spent[next] += Duration::from_secs(1);
        }
        assert_eq!(spent.map(|spent| spent.as_secs()), [200, 50, 10]);
        assert_eq!(whose_turn(&[1, 2], |i| promises[i], &[Duration::ZERO; 3]), Some(1), "the most promising first");
        assert_eq!(whose_turn(&[], |i| promises[i], &spent), None);
    }

    #[test]
    fn every_turn_draws_with_another_seed_and_without_end() {
        let before = result("random(iterations = 50)");
        let config: Config = before.configuration.parse().unwrap();
        let turn = |number| for_a_turn(config.clone(), &before, number, Duration::from_secs(2));
        assert_ne!(turn(1).seed, turn(2).seed);
        assert_eq!(turn(1).iterations, NO_END);
        assert_eq!(turn(1).timeout, Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_search_keeps_everything_but_its_bound() {
        let before = result("exhaustive(max_depth = 9)");
        let config = for_a_turn(before.configuration.parse().unwrap(), &before, 1, Duration::from_secs(2));
        let expected = format!("exhaustive(max_schedules = {NO_END}, max_depth = 9), timeout = 2s");
        assert_eq!(config.to_string(), expected);
    }

    #[test]
    fn samples_add_up_and_keep_the_name_of_the_first_turn() {
        let before = TestResult { executions: 50, behaviours: 40, ..result("random(iterations = 50)") };
        let config = for_a_turn(before.configuration.parse().unwrap(), &before, 1, Duration::from_secs(2));
        let mut after = TestResult { executions: 900, behaviours: 300, ..result(&config.to_string()) };
        add(&mut after, &before, &config);
        assert_eq!((after.executions, after.behaviours), (950, 300));
        assert_eq!(after.configuration, "random(iterations = 50)");
    }
}
