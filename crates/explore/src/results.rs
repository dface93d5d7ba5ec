//! What a test came to, for the command line and other tools: a line of a file that the environment names.

use std::path::{Path, PathBuf};
use std::time::Duration;

use drawloom_engine::config::Config;
use drawloom_report::{ENV_RESULTS, FoundResult, RESULT_VERSION, Record, ResultOutcome, TestResult};

use super::exploration::{Exploration, Failure};
use super::output;

/// Appends the result of the test `test`, which the harness calls `path`, if anybody wants to know. Of a replay in
/// which nothing was found, `passed` is the record that is kept.
pub(super) fn write(
    test: &str,
    path: Option<&str>,
    config: &Config,
    exploration: &Exploration,
    passed: Option<&Record>,
    took: Duration,
) {
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
        timed_out: exploration.timed_out(),
        estimate: exploration.estimated_behaviours(),
        summary: exploration.summary(),
        remarks: exploration.remarks().to_vec(),
        error: exploration.error().map(str::to_owned),
        findings: exploration.numbered_findings().map(|(n, failure)| found(failure, n, config.trace)).collect(),
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

fn found(failure: &Failure, of_its_kind: usize, trace: bool) -> FoundResult {
    let (json, html) = output::files_of(failure.record(), of_its_kind);
    let there = |file| Some(file).filter(|_| trace).and_then(there);
    FoundResult {
        occurrences: failure.occurrences(),
        preemptions: failure.preemptions(),
        trace: there(json),
        page: there(html),
        ..FoundResult::of(failure.record())
    }
}

fn append(result: impl FnOnce() -> TestResult) {
    let Some(file) = std::env::var_os(ENV_RESULTS).filter(|file| !file.is_empty()) else { return };
    if let Err(error) = result().append(Path::new(&file)) {
        eprintln!("drawloom: the result could not be written to {}: {error}", Path::new(&file).display());
    }
}
