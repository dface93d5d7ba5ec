//! What a test does around an exploration: stored schedules first, results, traces, the text of a failure.

use std::time::Instant;

use drawloom_engine::config::Config;
use drawloom_engine::finding::FindingKind;
use drawloom_report::{Record, Shown, printable_lines};

use super::program::Program;
use super::regressions::Store;
use super::{Exploration, output, passing, results, spread};

/// Whether a test that never had a choice fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choices {
    /// It does: what matters is not under control.
    Needed,
    /// It passes.
    Welcome,
}

/// What a front end knows of a test.
#[derive(Clone, Debug)]
pub struct Test {
    /// What it is called if its configuration has no name.
    pub name: String,
    /// What the test harness calls it.
    pub path: Option<&'static str>,
    /// The directory beside which failing schedules are kept.
    pub manifest: Option<&'static str>,
    /// Whether it must have choices.
    pub choices: Choices,
}

/// Explores `program` as the test that it is, and says what there is to print.
///
/// # Errors
///
/// The report, if anything is found; or why the environment asks for something that cannot be done.
pub fn check<P: Program>(config: Config, known: &Test, program: &P) -> Result<Vec<String>, String> {
    let (began, path) = (Instant::now(), known.path);
    let name_of = |config: &Config| config.name.clone().unwrap_or_else(|| known.name.clone());
    let written = name_of(&config);
    let config = config.with_environment(|variable| std::env::var(variable).ok()).map_err(|error| {
        results::write_refusal(&written, path, &error.to_string());
        format!("drawloom: {}", printable_lines(&error.to_string()))
    })?;
    let test = name_of(&config);
    let store = known.manifest.and_then(|manifest| Store::of(&test, manifest, &config));
    let mut remarks = Vec::new();
    let stored = store.as_ref().and_then(|store| store.replay(&config, program, &mut remarks));
    let mut exploration = stored.unwrap_or_else(|| spread::explore(&config, None, program, Some(&test)));
    if known.choices == Choices::Welcome {
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
    let passed = passing.then(|| passing::record(&config, program)).flatten().filter(kept);
    results::write(&test, path, &config, &exploration, passed.as_ref(), began.elapsed());
    if let Some(error) = exploration.error() {
        return Err(format!("drawloom: {}", printable_lines(error)));
    }
    if let Some(report) = report {
        return Err(report);
    }
    let said = exploration.remarks().iter().cloned().chain([exploration.summary()]);
    Ok(said.map(|line| format!("drawloom: {}", printable_lines(&line))).collect())
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
        // What the time has cut is as long as there was time, and cannot be replayed.
        let keeps = trace && !matches!(failure.finding.kind, FindingKind::OutOfTime);
        let file = keeps.then(|| output::keep(&output::shown_of(failure), of_its_kind));
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
    text.push_str(&format!("\n{}\n", printable_lines(&exploration.summary())));
    exploration.remarks().iter().for_each(|remark| text.push_str(&format!("{}\n", printable_lines(remark))));
    text
}
