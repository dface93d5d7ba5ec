//! `drawloom replay` and `drawloom shrink`: one test is run with the schedule of a finding.

use drawloom_engine::config::{
    Config, ENV_ITERATIONS, ENV_REPLAY, ENV_SEED, ENV_SHRINK, ENV_STRATEGY, ENV_TIMEOUT, StrategySpec,
};
use drawloom_engine::schedule::Schedule;
use drawloom_report::{ENV_RESULTS, Minimised, ResultOutcome, TestResult, printable, printable_lines};
use serde::Serialize;

use crate::answer::{self, Answer};
use crate::args::ReplayArguments;
use crate::error::Error;
use crate::explain;
use crate::interrupt::AtWork;
use crate::project::Project;
use crate::run::child::End;
use crate::run::{Runner, Selection, Settings};
use crate::store::{self, Store, looks_like_a_file};
use crate::test::human::{self, coloured};
use crate::test::tail::Tail;

/// What is wanted of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    Replay,
    Shrink,
}

/// What a schedule came to.
#[derive(Debug, Serialize)]
pub(crate) struct Replayed {
    r#type: Wanted,
    /// Whether the test failed under it.
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
    let project = Project::find(&arguments.project)?;
    let store = Store::of(&project);
    let token = token_of(&arguments.finding, &store)?;
    let schedule = Schedule::decode(&token)?;
    let targets = project.build(false)?;
    let listed = project.list(&targets, None)?;
    let runner = Runner::new(project, targets);
    let named = listed.into_iter().find(|test| {
        let krate = runner.targets[test.target].krate();
        schedule.is_of(&format!("{krate}::{}", test.path))
    });
    let (target, path) = match named {
        Some(test) => (test.target, test.path),
        // A test that was given a name of its own is known by an earlier run.
        None => called(&schedule, &store, &runner).ok_or(Error::Foreign)?,
    };
    let mut results = Tail::new(store.results_of_this_run())?;
    let settings = settings(arguments, wanted, &token, &store, &results);
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

fn answer(wanted: Wanted, exploration: TestResult, store: &Store) -> Result<Replayed, Error> {
    let failed = match exploration.outcome {
        ResultOutcome::Passed => false,
        ResultOutcome::Failed => true,
        ResultOutcome::Refused => return Err(Error::Refused(exploration.error.unwrap_or_default())),
    };
    let trace = exploration.findings.first().and_then(|found| found.trace.as_ref());
    let stored = trace.map(|trace| store::read(trace.as_ref())).transpose()?;
    let report = match &stored {
        Some(stored) => explain::terminal(stored, store, coloured()),
        None => {
            let trace = exploration.passed.as_ref().map(|trace| format!("trace: {}\n", printable(trace)));
            let (test, summary) = (printable(&exploration.test), printable_lines(&exploration.summary));
            format!("{test} passes under this schedule: {summary}\n{}", trace.unwrap_or_default())
        }
    };
    let minimised = stored.and_then(|stored| stored.record.meta.minimised);
    if wanted == Wanted::Shrink && !failed {
        return Err(Error::Passes(exploration.test));
    }
    Ok(Replayed { r#type: wanted, failed, minimised, exploration, report })
}

/// The token that `text` means.
fn token_of(text: &str, store: &Store) -> Result<String, Error> {
    if text.starts_with("dl1") && !looks_like_a_file(text) {
        return Ok(text.to_owned());
    }
    let record = store.find(text)?.record;
    match record.meta.token.is_empty() {
        true => Err(Error::NoSchedule(record.finding.kind)),
        false => Ok(record.meta.token),
    }
}

/// The test that an earlier result says the schedule to be of.
fn called(schedule: &Schedule, store: &Store, runner: &Runner) -> Option<(usize, String)> {
    let result = store.results().into_iter().find(|result| schedule.is_of(&result.test))?;
    Some((runner.target_of(&result.binary)?, result.path?))
}

fn settings(arguments: &ReplayArguments, wanted: Wanted, token: &str, store: &Store, results: &Tail) -> Settings {
    let mut environment = vec![
        (ENV_RESULTS, results.file.display().to_string()),
        ("DRAWLOOM_DIR", store.directory.display().to_string()),
    ];
    let mut without = vec![ENV_SEED, ENV_ITERATIONS, ENV_TIMEOUT];
    if arguments.lenient {
        let strategy = StrategySpec::Replay { token: token.to_owned(), lenient: true };
        environment.push((ENV_STRATEGY, Config::new().strategy(strategy).to_string()));
        without.push(ENV_REPLAY);
    } else {
        environment.push((ENV_REPLAY, token.to_owned()));
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
