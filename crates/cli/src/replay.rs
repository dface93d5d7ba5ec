//! `drawloom replay` and `drawloom shrink`: one test is run with the schedule of a finding.

use std::path::PathBuf;

use drawloom_engine::config::{
    Config, ENV_ITERATIONS, ENV_REPLAY, ENV_SEED, ENV_SHRINK, ENV_STRATEGY, ENV_TIMEOUT, StrategySpec,
};
use drawloom_engine::schedule::Schedule;
use drawloom_report::{
    Departure, ENV_RESULTS, Minimised, Record, ResultOutcome, TestResult, fits_a_line, printable, printable_lines,
    replay_line,
};
use serde::Serialize;

use crate::answer::{self, Answer};
use crate::args::{Place, ProjectArguments, ReplayArguments};
use crate::error::Error;
use crate::explain;
use crate::interrupt::AtWork;
use crate::project::{Listed, Project};
use crate::run::child::End;
use crate::run::{Runner, Selection, Settings};
use crate::store::{self, Store, Stored, looks_like_a_file};
use crate::test::human::{self, coloured};
use crate::test::tail::Tail;

/// The kind of a finding that says no more than that the schedule does not fit.
const DIVERGENCE: &str = "divergence";

/// What is wanted of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    Replay,
    Shrink,
}

/// In one word, what following a schedule came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// The test fails.
    Fails,
    /// The whole schedule fits, and the test passes.
    Passes,
    /// The program has changed: the schedule was followed as far as it goes, and the test passes.
    NoLongerFits,
    /// The program has changed, and only the schedule itself was wanted.
    Diverged,
}

/// What a schedule came to.
#[derive(Debug, Serialize)]
pub(crate) struct Replayed {
    r#type: Wanted,
    status: Status,
    /// Whether the test failed under it, or did not follow it where it had to.
    failed: bool,
    /// What minimising it came to.
    minimised: Option<Minimised>,
    exploration: TestResult,
    #[serde(skip)]
    report: String,
}

/// Runs the test of a finding with its schedule.
pub(crate) fn replay(arguments: &ReplayArguments, wanted: Wanted) -> Result<Replayed, Error> {
    let _at_work = AtWork::begin();
    let project = Project::find(&arguments.project);
    let store = match &project {
        Ok(project) => Ok(Store::of(project)),
        // A project of Python needs no cargo.
        Err(_) => Store::for_finding(&arguments.finding, &Place::default()),
    };
    let known = store.as_ref().ok().and_then(|store| store.find(&arguments.finding).ok());
    if let Some(line) = known.and_then(|stored| replayed_elsewhere(&stored.record)) {
        return Err(Error::NotCargos(line));
    }
    let (project, store) = (project?, store?);
    let meant = Meant::by(&arguments.finding, &store)?;
    let given = &arguments.project;
    let whole = (given.package.is_empty() && !given.workspace && !given.tokio)
        .then(|| ProjectArguments { workspace: true, ..given.clone() });
    let found = find_test(&meant, project, &store, whole.is_none())?;
    // It may be of another package of the workspace than the one that we are in.
    let elsewhere = || whole.map(|whole| find_test(&meant, Project::find(&whole)?, &store, true)).transpose();
    let found = match found {
        None => elsewhere()?.flatten(),
        found => found,
    };
    let (runner, target, path) = found.ok_or(Error::Foreign)?;
    let mut results = Tail::new(store.results_of_this_run())?;
    let settings = settings(arguments, wanted, meant.given(), &store, &results);
    let ended = runner.run(Selection::One { target, path: &path }, &settings, |_| {})?;
    let mut result = None;
    results.read(|new| result = Some(new).filter(|new| new.path.as_ref() == Some(&path)).or(result.take()));
    store.keep(&results.file)?;
    let result = match (result, ended.end) {
        (Some(result), _) => result,
        (None, End::Interrupted | End::Late) => return Err(Error::Interrupted),
        (None, End::Exited(_)) => return Err(Error::NoResult { test: path, output: ended.said }),
    };
    answer(wanted, result, &store)
}

/// The line that replays a finding which no test of cargo's has made; nothing if one has.
fn replayed_elsewhere(record: &Record) -> Option<String> {
    (!record.meta.language.is_default()).then(|| replay_line(record))?
}

/// The finding that is to be replayed.
struct Meant {
    token: String,
    schedule: Schedule,
    /// Where it is kept, if it is, and the package of its test, as far as is known.
    file: Option<PathBuf>,
    package: Option<String>,
}

impl Meant {
    /// The one that `text` means.
    fn by(text: &str, store: &Store) -> Result<Meant, Error> {
        let found = store.find(text);
        if text.starts_with("dl1") && !looks_like_a_file(text) {
            // Who has a token needs no trace.
            let schedule = Schedule::decode(text)?;
            let package = found.ok().and_then(|stored| stored.record.meta.package);
            return Ok(Meant { token: text.to_owned(), schedule, file: None, package });
        }
        let Stored { file, record } = found?;
        if record.meta.token.is_empty() {
            return Err(Error::NoSchedule(record.finding.kind));
        }
        let file = Some(std::path::absolute(&file).unwrap_or(file));
        let schedule = Schedule::decode(&record.meta.token)?;
        Ok(Meant { token: record.meta.token, schedule, file, package: record.meta.package })
    }

    /// What the test is given: the trace file where the token is longer than what fits a variable of the environment.
    fn given(&self) -> String {
        match &self.file {
            Some(file) if !fits_a_line(&self.token) => file.display().to_string(),
            _ => self.token.clone(),
        }
    }
}

/// Builds the tests of `project`, and finds the one that the schedule is of; of another package than it is known to be of only
/// if it `may` be.
fn find_test(
    meant: &Meant,
    project: Project,
    store: &Store,
    may: bool,
) -> Result<Option<(Runner, usize, String)>, Error> {
    let targets = project.build(false)?;
    let listed = project.list(&targets, None)?;
    let runner = Runner::new(project, targets);
    let is_meant = |test: &&Listed| {
        let krate = runner.targets[test.target].krate();
        meant.schedule.is_of(&format!("{krate}::{}", test.path))
    };
    let named: Vec<&Listed> = listed.iter().filter(is_meant).collect();
    // Test targets of several packages may have one name.
    let of_package = |test: &&&Listed| match &meant.package {
        Some(package) => runner.targets[test.target].package == *package,
        None => true,
    };
    let named = named.iter().find(of_package).or(named.first().filter(|_| may));
    // A test that was given a name of its own is known by an earlier run.
    let found = named.map(|test| (test.target, test.path.clone()));
    let found = found.or_else(|| called(&meant.schedule, store, &runner));
    Ok(found.map(|(target, path)| (runner, target, path)))
}

fn answer(wanted: Wanted, exploration: TestResult, store: &Store) -> Result<Replayed, Error> {
    let found = exploration.findings.first();
    let status = match (exploration.outcome, &exploration.departure) {
        (ResultOutcome::Refused, _) => return Err(Error::Refused(exploration.error.unwrap_or_default())),
        (ResultOutcome::Passed, None) => Status::Passes,
        (ResultOutcome::Passed, Some(_)) => Status::NoLongerFits,
        (ResultOutcome::Failed, _) if found.is_some_and(|found| found.kind == DIVERGENCE) => Status::Diverged,
        (ResultOutcome::Failed, _) => Status::Fails,
    };
    let trace = found.and_then(|found| found.trace.as_ref());
    let stored = trace.map(|trace| store::read(trace.as_ref())).transpose()?;
    let mut report = stored.as_ref().map(|stored| explain::terminal(stored, store, coloured())).unwrap_or_default();
    report.push_str(&outcome(status, &exploration));
    let minimised = stored.and_then(|stored| stored.record.meta.minimised);
    let failed = matches!(status, Status::Fails | Status::Diverged);
    if wanted == Wanted::Shrink && !failed {
        return Err(Error::Passes(exploration.test));
    }
    Ok(Replayed { r#type: wanted, status, failed, minimised, exploration, report })
}

/// What following the schedule came to, for people; nothing where the report of the finding says it all.
fn outcome(status: Status, exploration: &TestResult) -> String {
    let test = printable(&exploration.test);
    let departure = exploration.departure.as_ref().map(|Departure { step, expected, found }| {
        let (expected, found) = (printable(expected), printable(found));
        (step, format!("  expected: {expected}\n  found:    {found}\n"))
    });
    let trace = exploration.passed.as_ref().map(|trace| format!("trace: {}\n", printable(trace))).unwrap_or_default();
    match (status, departure) {
        (Status::NoLongerFits, Some((step, both))) => format!(
            "{test}: the schedule no longer fits from step {step}; followed as far as it goes: passes\n{both}{trace}"
        ),
        (Status::Fails, Some((step, both))) => {
            format!("the schedule no longer fits from step {step}; followed as far as it goes: fails\n{both}")
        }
        (Status::Diverged, Some((step, both))) => {
            format!("{test}: the schedule no longer fits from step {step}\n{both}")
        }
        (Status::Diverged, None) => {
            format!("{test}: the whole schedule fits, and the program continues past its end\n")
        }
        (Status::Fails, None) => exploration.findings.first().map_or_else(String::new, |found| match &found.trace {
            Some(_) => String::new(),
            None => format!("{test} fails: {}: {}\n", printable(&found.kind), printable_lines(&found.message)),
        }),
        (Status::Passes | Status::NoLongerFits, _) => {
            format!("{test} passes under this schedule: {}\n{trace}", printable_lines(&exploration.summary))
        }
    }
}

/// The test that an earlier result says the schedule to be of.
fn called(schedule: &Schedule, store: &Store, runner: &Runner) -> Option<(usize, String)> {
    let result = store.results().into_iter().find(|result| schedule.is_of(&result.test))?;
    Some((runner.target_of(&result.binary)?, result.path?))
}

fn settings(arguments: &ReplayArguments, wanted: Wanted, given: String, store: &Store, results: &Tail) -> Settings {
    let mut environment = vec![
        (ENV_RESULTS, results.file.display().to_string()),
        ("DRAWLOOM_DIR", store.directory.display().to_string()),
    ];
    let mut without = vec![ENV_SEED, ENV_ITERATIONS, ENV_TIMEOUT];
    if arguments.strict {
        let strategy = StrategySpec::Replay { token: given, lenient: false };
        environment.push((ENV_STRATEGY, Config::new().strategy(strategy).to_string()));
        without.push(ENV_REPLAY);
    } else {
        environment.push((ENV_REPLAY, given));
        without.push(ENV_STRATEGY);
    }
    if wanted == Wanted::Shrink {
        environment.push((ENV_SHRINK, "full".to_owned()));
    }
    Settings { include_ignored: true, environment, without, ..Settings::default() }
}

impl Answer for Replayed {
    fn text(&self) -> String {
        let mut text = self.report.clone();
        self.exploration
            .remarks
            .iter()
            .for_each(|remark| text.push_str(&format!("note: {}\n", printable_lines(remark))));
        let found = self.exploration.findings.first();
        if let Some(schedule) = found.and_then(|found| Schedule::decode(&found.token).ok()) {
            text.push_str(&format!("schedule: {}\n", human::stretches(&schedule)));
        }
        text
    }

    fn code(&self) -> u8 {
        match self.r#type {
            Wanted::Replay if self.failed => answer::FOUND,
            Wanted::Replay | Wanted::Shrink => answer::CLEAN,
        }
    }
}
