//! What a test does around an exploration: stored schedules first, results, traces, the text of a failure.

use std::path::Path;
use std::time::Instant;

use drawloom_engine::config::{Config, StrategySpec};
use drawloom_engine::finding::FindingKind;
use drawloom_engine::sorted::Map;
use drawloom_report::{Record, Shown, TestTarget, printable_lines};

use super::program::Program;
use super::progress::Progress;
use super::regressions::{self, Replayed, Store};
use super::results::Seen;
use super::standing::{self, Passed};
use super::{Exploration, Failure, following, output, passing, results, spread};

/// Whether a test that never had a choice fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choices {
    /// It does: what matters is not under control.
    Needed,
    /// It passes.
    Welcome,
}

/// The crate of a test, as cargo builds it.
#[derive(Clone, Copy, Debug)]
pub struct Crate {
    /// The directory of its manifest, in which failing schedules are kept.
    pub manifest: &'static str,
    /// The package.
    pub package: Option<&'static str>,
    /// Which kind of target it is.
    pub target: Target,
}

/// The kinds of targets that tests are in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The library.
    Lib,
    /// An integration test.
    Test,
    /// A binary or an example.
    Other,
}

impl Crate {
    /// The target by the name that cargo has for it, if that can be told: the test `name` begins with that of its crate, in
    /// which dashes are underscores.
    fn target(&self, name: &str) -> Option<TestTarget> {
        match self.target {
            Target::Lib => Some(TestTarget::Lib),
            Target::Test => {
                let krate = name.split("::").next()?;
                let tests = Path::new(self.manifest).join("tests");
                let is_there = |name: &String| {
                    tests.join(format!("{name}.rs")).is_file() || tests.join(name).join("main.rs").is_file()
                };
                [krate.to_owned(), krate.replace('_', "-")].into_iter().find(is_there).map(TestTarget::Test)
            }
            Target::Other => None,
        }
    }
}

/// What a front end knows of a test.
#[derive(Clone, Debug)]
pub struct Test {
    /// What it is called if its configuration has no name.
    pub name: String,
    /// What the test harness calls it.
    pub path: Option<&'static str>,
    /// The crate that it is in, if that is known.
    pub krate: Option<Crate>,
    /// Whether it must have choices.
    pub choices: Choices,
}

/// What the exploration of a test came to, and what there is to print.
#[derive(Debug)]
pub struct Checked {
    /// What it came to.
    pub exploration: Exploration,
    /// The report, if anything was found or nothing could be explored; else what there is to say.
    pub said: Result<Vec<String>, String>,
}

/// Explores `program` as the test that it is, and says what there is to print.
///
/// # Errors
///
/// The report, if anything is found; or why the environment asks for something that cannot be done.
pub fn check<P: Program>(config: Config, known: &Test, program: &P) -> Result<Vec<String>, String> {
    conduct(config, known, program, |variable| std::env::var(variable).ok())?.said
}

/// As [`check`], with what the exploration came to, and with variables of another `environment`.
///
/// # Errors
///
/// Why the environment asks for something that cannot be done.
pub fn conduct<P: Program>(
    config: Config,
    known: &Test,
    program: &P,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Checked, String> {
    let (began, path) = (Instant::now(), known.path);
    let name_of = |config: &Config| config.name.clone().unwrap_or_else(|| known.name.clone());
    let written = name_of(&config);
    let config = config.with_environment(environment).map_err(|error| {
        results::write_refusal(&written, path, &error.to_string());
        format!("drawloom: {}", printable_lines(&error.to_string()))
    })?;
    let config = following::with_token(config).map_err(|error| {
        results::write_refusal(&written, path, &error);
        format!("drawloom: {}", printable_lines(&error))
    })?;
    let test = name_of(&config);
    let store = known.krate.and_then(|krate| Store::of(&test, krate.manifest, &config));
    let mut remarks = Vec::new();
    let Replayed { found, mut passed, outdated } =
        store.as_ref().map(|store| store.replay(&config, program, &mut remarks)).unwrap_or_default();
    let mut exploration =
        found.unwrap_or_else(|| spread::explore(&config, None, program, Some(&test), &Progress::new()));
    if let Some(krate) = &known.krate {
        exploration
            .failures
            .iter_mut()
            .for_each(|failure| failure.belongs_to(krate.package, krate.target(&known.name)));
    }
    if known.choices == Choices::Welcome {
        exploration.failures.retain(|failure| !matches!(failure.finding.kind, FindingKind::NothingExplored));
    }
    if let Some(store) = &store {
        store.keep(exploration.findings(), &mut remarks);
    }
    exploration.remarks.splice(0..0, remarks);
    let said = followed(&exploration).into_iter().chain(regressions::tell_outdated(&outdated));
    let said: Vec<String> = exploration.remarks().iter().cloned().chain(said).collect();
    let numbers = numbers(&exploration, &config);
    let report = (!exploration.findings().is_empty()).then(|| report(&exploration, &numbers, &said));
    // What cannot be written is no reason to fail.
    let passing = report.is_none() && config.trace && exploration.error().is_none();
    let kept = |record: &Record| output::keep(&[Shown { label: "passing", record }], 1).is_ok();
    let record = passing.then(|| passing::record(&config, program)).flatten().filter(kept);
    if passing {
        passed.extend(replayed(&config, &exploration));
        standing::passed(&test, &exploration, &passed);
    } else if numbers.iter().any(Option::is_some) {
        let kept = exploration.findings().iter().zip(&numbers).filter(|(_, number)| number.is_some());
        standing::failed(&test, kept.map(|(failure, _)| failure));
    }
    let seen = Seen { exploration: &exploration, numbers: &numbers, passed: record.as_ref(), outdated };
    results::write(&test, path, &config, seen, began.elapsed());
    let line = |line: &str| format!("drawloom: {}", printable_lines(line));
    let said = match (exploration.error(), report) {
        (Some(error), _) => Err(line(error)),
        (None, Some(report)) => Err(report),
        (None, None) => Ok(said.iter().chain([&exploration.summary()]).map(|said| line(said)).collect()),
    };
    Ok(Checked { exploration, said })
}

/// What is to be said of a replay that left the path of its schedule.
fn followed(exploration: &Exploration) -> Option<String> {
    let departure = exploration.departure()?;
    let came_to = match exploration.findings().first() {
        None => "passes",
        // It was not followed any further.
        Some(failure) if matches!(failure.finding.kind, FindingKind::Divergence(_)) => return None,
        Some(_) => "fails",
    };
    Some(format!("the schedule no longer fits {departure}; followed as far as it goes: {came_to}"))
}

/// The schedule under which a replay has passed.
fn replayed(config: &Config, exploration: &Exploration) -> Option<Passed> {
    let StrategySpec::Replay { token, .. } = &config.strategy else { return None };
    let how = match exploration.departure() {
        Some(departure) => format!("replayed: no longer fits {departure}; followed as far as it goes"),
        None => "replayed".to_owned(),
    };
    // One that was cut shows nothing.
    exploration.stopped_by().is_none().then(|| Passed { token: token.clone(), how })
}

/// For each finding, which one of its kind it is kept as; none if it is not kept.
fn numbers(exploration: &Exploration, config: &Config) -> Vec<Option<usize>> {
    let replay = matches!(config.strategy, StrategySpec::Replay { .. });
    let keeps = |failure: &Failure| match failure.finding.kind {
        // What the time has cut is as long as there was time, and cannot be replayed.
        FindingKind::OutOfTime => false,
        // That a schedule does not fit says nothing about the program.
        FindingKind::Divergence(_) => !replay,
        _ => true,
    };
    let number = |(of_its_kind, failure): (usize, &Failure)| {
        let number = || if replay { output::number_of(failure.record()) } else { of_its_kind };
        (config.trace && keeps(failure)).then(number)
    };
    let numbers = exploration.numbered_findings().map(number).collect();
    if !replay && config.trace {
        // One kind after the other: the last of each has the highest number.
        let last = exploration.numbered_findings().map(|(number, failure)| (failure.kind(), (number, failure)));
        let last: Map<&str, (usize, &Failure)> = last.collect();
        last.into_iter().for_each(|(_, (number, failure))| output::remove_beyond(failure.record(), number));
    }
    numbers
}

/// Everything that a failing test prints; findings are kept under the numbers that they have, if any.
fn report(exploration: &Exploration, numbers: &[Option<usize>], said: &[String]) -> String {
    let mut text = String::new();
    for (i, (failure, number)) in exploration.findings().iter().zip(numbers).enumerate() {
        if exploration.findings().len() > 1 {
            let number = i + 1;
            let of = exploration.findings().len();
            text.push_str(&format!("\n━━ finding {number} of {of}, in {} executions\n", failure.occurrences()));
        }
        text.push('\n');
        let (kept, problem) = match number.map(|number| output::keep(&output::shown_of(failure), number)) {
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
    said.iter().for_each(|remark| text.push_str(&format!("{}\n", printable_lines(remark))));
    text
}
