//! What `#[drawloom::test]` and [`check`](super::check) do around an exploration.

use std::fmt::Debug;
use std::panic::Location;
use std::sync::Arc;
use std::time::Instant;

use drawloom_engine::config::Config;
use drawloom_engine::finding::FindingKind;
use drawloom_report::{Record, Shown};

use super::regressions::Store;
use super::{Exploration, output, passing, results, spread};

/// What the body of a test may return.
pub trait Outcome {
    /// Panics if the value says that the test has failed.
    fn judge(self);
}

impl Outcome for () {
    fn judge(self) {}
}

impl<T: Outcome, E: Debug> Outcome for Result<T, E> {
    #[track_caller]
    fn judge(self) {
        match self {
            Ok(value) => value.judge(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}

/// Runs the test `name` of the crate in `manifest`, configured by `config`; called by the expansion of
/// `#[drawloom::test]`.
#[track_caller]
pub fn run_test<T: Outcome>(
    name: &'static str,
    manifest: Option<&'static str>,
    config: &'static str,
    body: impl Fn() -> T + Send + Sync + 'static,
) {
    run(name, manifest, config, Choices::Needed, body);
}

/// As [`run_test`], for tests that were not written to be explored: one without a choice passes.
#[track_caller]
pub fn run_foreign_test<T: Outcome>(
    name: &'static str,
    manifest: Option<&'static str>,
    config: &'static str,
    body: impl Fn() -> T + Send + Sync + 'static,
) {
    run(name, manifest, config, Choices::Welcome, body);
}

/// Whether a test that never had a choice fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Choices {
    Needed,
    Welcome,
}

#[track_caller]
fn run<T: Outcome>(
    name: &'static str,
    manifest: Option<&'static str>,
    config: &'static str,
    choices: Choices,
    body: impl Fn() -> T + Send + Sync + 'static,
) {
    let mut config: Config = config.parse().unwrap_or_else(|error| panic!("drawloom: {error}"));
    if config.name.is_none() {
        config = config.name(name);
    }
    // The harness leaves the crate out.
    let path = name.split_once("::").map_or(name, |(_, path)| path);
    check(config, Some(Attributed { path, manifest, choices }), move || body().judge());
}

/// What the attribute knows of its test.
#[derive(Clone, Copy)]
pub(super) struct Attributed {
    /// What the test harness calls it.
    path: &'static str,
    /// The directory of its crate's manifest.
    manifest: Option<&'static str>,
    choices: Choices,
}

#[track_caller]
pub(super) fn check(config: Config, known: Option<Attributed>, body: impl Fn() + Send + Sync + 'static) {
    let (began, path) = (Instant::now(), known.map(|known| known.path));
    // Where a test has no name, its place will do.
    let place = Location::caller();
    let name_of = |config: &Config| config.name.clone().unwrap_or_else(|| format!("{}:{}", place.file(), place.line()));
    let written = name_of(&config);
    let config = match config.with_environment(|variable| std::env::var(variable).ok()) {
        Ok(config) => config,
        Err(error) => {
            results::write_refusal(&written, path, &error.to_string());
            panic!("drawloom: {error}");
        }
    };
    let test = name_of(&config);
    let store = known.and_then(|known| known.manifest).and_then(|manifest| Store::of(&test, manifest, &config));
    let (body, mut remarks) = (Arc::new(body), Vec::new());
    let stored = store.as_ref().and_then(|store| store.replay(&config, &body, &mut remarks));
    let mut exploration = stored.unwrap_or_else(|| spread::explore(&config, None, &body, Some(&test)));
    if known.is_some_and(|known| known.choices == Choices::Welcome) {
        exploration.failures.retain(|failure| !matches!(failure.finding.kind, FindingKind::NothingExplored));
    }
    if let Some(store) = &store {
        store.keep(exploration.findings(), &mut remarks);
    }
    exploration.remarks.splice(0..0, remarks);
    let report = (!exploration.findings().is_empty()).then(|| report(&exploration, config.trace));
    // What cannot be written is no reason to fail.
    let passing = report.is_none() && config.trace && exploration.error().is_none();
    let kept = |record: &Record| output::keep(&[Shown { label: "passing", record }], 1).is_ok();
    let passed = passing.then(|| passing::record(&config, &body)).flatten().filter(kept);
    results::write(&test, path, &config, &exploration, passed.as_ref(), began.elapsed());
    if let Some(error) = exploration.error() {
        panic!("drawloom: {error}");
    }
    if let Some(report) = report {
        panic!("{report}");
    }
    exploration.remarks().iter().for_each(|remark| println!("drawloom: {remark}"));
    println!("drawloom: {}", exploration.summary());
}

/// Everything that a failing test prints.
fn report(exploration: &Exploration, trace: bool) -> String {
    let mut text = String::new();
    for (i, (of_its_kind, failure)) in exploration.numbered_findings().enumerate() {
        if exploration.findings().len() > 1 {
            let number = i + 1;
            let of = exploration.findings().len();
            text.push_str(&format!("\n━━ finding {number} of {of}, in {} executions\n", failure.occurrences()));
        }
        text.push('\n');
        let file = trace.then(|| output::keep(&output::shown_of(failure), of_its_kind));
        let (kept, problem) = match file {
            Some(Ok(kept)) => (Some(kept), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        text.push_str(&output::render(failure.record(), kept.as_ref()));
        if let Some(problem) = problem {
            text.push_str(&format!("\n(the trace could not be written: {problem})\n"));
        }
    }
    text.push_str(&format!("\n{}\n", exploration.summary()));
    exploration.remarks().iter().for_each(|remark| text.push_str(&format!("{remark}\n")));
    text
}
