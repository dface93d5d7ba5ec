//! What a test came to, for the command line and other tools: a line of a file that the environment names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use drawloom_engine::config::Config;
use drawloom_report::{ENV_RESULTS, FoundResult, OutdatedSchedule, RESULT_VERSION, Record, ResultOutcome, TestResult};

use super::exploration::{Exploration, Failure};
use super::output;

/// What a test came to.
pub(super) struct Seen<'a> {
    pub(super) exploration: &'a Exploration,
    /// For each finding, which one of its kind it is kept as, if it is.
    pub(super) numbers: &'a [Option<usize>],
    /// The record that is kept of a replay in which nothing was found.
    pub(super) passed: Option<&'a Record>,
    /// Stored schedules that no longer fit.
    pub(super) outdated: Vec<OutdatedSchedule>,
}

/// Appends the result of the test `test`, which the harness calls `path`, if anybody wants to know.
pub(super) fn write(test: &str, path: Option<&str>, config: &Config, seen: Seen<'_>, took: Duration) {
    let Seen { exploration, numbers, passed, outdated } = seen;
    let outcome = match (exploration.error(), exploration.findings()) {
        (Some(_), _) => ResultOutcome::Refused,
        (None, []) => ResultOutcome::Passed,
        (None, [..]) => ResultOutcome::Failed,
    };
    append(|| TestResult {
        outcome,
        configuration: config.to_string(),
        seed: config.strategy.is_randomised().then(|| format!("{:#x}", config.effective_seed())),
        executions: exploration.executions(),
        planned: exploration.planned,
        steps: exploration.steps(),
        behaviours: exploration.behaviours(),
        seen_once: exploration.seen_once,
        exhausted: exploration.exhausted(),
        cut_spin_rounds: exploration.cut_spin_rounds(),
        weaker_accesses: exploration.weaker_accesses(),
        timed_out: exploration.timed_out(),
        estimate: exploration.estimated_behaviours(),
        summary: exploration.summary(),
        remarks: exploration.remarks().to_vec(),
        error: exploration.error().map(str::to_owned),
        findings: exploration.findings().iter().zip(numbers).map(|(failure, n)| found(failure, *n)).collect(),
        departure: exploration.departure().cloned(),
        outdated,
        passed: passed.and_then(|record| there(output::files_of(record, 1).0)),
        milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        ..named(test, path)
    });
}

/// Appends that the test could not be begun.
pub(super) fn write_refusal(test: &str, path: Option<&str>, reason: &str) {
    let (outcome, error) = (ResultOutcome::Refused, Some(reason.to_owned()));
    append(|| TestResult { outcome, error, summary: reason.to_owned(), ..named(test, path) });
}

fn named(test: &str, path: Option<&str>) -> TestResult {
    TestResult {
        version: RESULT_VERSION,
        test: test.to_owned(),
        path: path.map(str::to_owned).or_else(thread_of_the_harness),
        binary: std::env::current_exe().unwrap_or_default().display().to_string(),
        ..TestResult::default()
    }
}

/// The name of an ordinary test that explores something: the harness names its threads after tests.
fn thread_of_the_harness() -> Option<String> {
    std::thread::current().name().filter(|name| *name != "main").map(str::to_owned)
}

/// A file that was written, wherever one is.
fn there(file: PathBuf) -> Option<String> {
    let file = std::path::absolute(file).ok().filter(|file| file.is_file())?;
    Some(file.display().to_string())
}

/// A finding, which is kept as this one of its kind, if it is.
fn found(failure: &Failure, number: Option<usize>) -> FoundResult {
    let (json, html) = number.map(|number| output::files_of(failure.record(), number)).unzip();
    FoundResult {
        occurrences: failure.occurrences(),
        preemptions: failure.preemptions(),
        trace: json.and_then(there),
        page: html.and_then(there),
        ..FoundResult::of(failure.record())
    }
}

fn append(result: impl FnOnce() -> TestResult) {
    let Some(file) = std::env::var_os(ENV_RESULTS).filter(|file| !file.is_empty()) else { return };
    if let Err(error) = result().append(Path::new(&file)) {
        eprintln!("drawloom: the result could not be written to {}: {error}", Path::new(&file).display());
    }
}
