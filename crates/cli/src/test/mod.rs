//! `drawloom test`: runs the project's tests and says what each of them came to.
//!
//! Tests are run by cargo or nextest, whose verdict counts; what drawloom knows of an exploration comes from the
//! line that each test appends to a file of results when it ends, so that everything known is there whenever
//! the run is interrupted. With a time budget, what is left of it after that is spent on tests that could still
//! find something ([`budget`]).

mod budget;
mod ci;
pub(crate) mod human;
pub(crate) mod lines;
pub(crate) mod report;
mod stale;
pub(crate) mod tail;

use std::time::{Duration, Instant};

use drawloom_engine::config::{ENV_ITERATIONS, ENV_SEED, ENV_STRATEGY, ENV_THREADS, ENV_TIMEOUT};
use drawloom_report::ENV_RESULTS;

use crate::answer;
use crate::args::TestArguments;
use crate::error::Error;
use crate::interrupt::{self, AtWork};
use crate::project::Project;
use crate::run::child::End;
use crate::run::{Event, Runner, Selection, Settings, Verdict};
use crate::store::Store;
use report::{Reports, Status, Summary, TestReport};
use tail::Tail;

/// For tests that do not look at the clock: longer than their time by this much they may not take.
const LONGEST_GRACE: Duration = Duration::from_secs(10);
const SHORTEST_GRACE: Duration = Duration::from_secs(2);
/// A test is given no less than this at first, be there ever so many.
const LEAST_FIRST_TURN: Duration = Duration::from_millis(50);

/// Whoever tells what happens.
pub(crate) trait Show {
    /// The tests are known: so many, and the longest name has so many characters.
    fn begins(&mut self, _tests: usize, _longest: usize) {}
    /// A test is given another turn; so much of the time is left.
    fn turn(&mut self, _report: &TestReport, _left: Duration) {}
    /// Nothing more will be done for a test.
    fn ended(&mut self, report: &TestReport);
    /// All is done.
    fn summary(&mut self, summary: &Summary, reports: &[TestReport], store: &Store);
}

/// A run of tests.
struct Run<'a> {
    arguments: &'a TestArguments,
    runner: Runner,
    reports: Reports,
    results: Tail,
    environment: Vec<(&'static str, String)>,
    deadline: Option<Instant>,
    trouble: Option<String>,
}

/// Runs tests, and tells `show` what comes of it.
pub(crate) fn test(arguments: &TestArguments, show: &mut dyn Show) -> Result<Summary, Error> {
    let _at_work = AtWork::begin();
    let project = Project::find(&arguments.project)?;
    let store = Store::of(&project);
    let targets = project.build(false)?;
    let filter = arguments.filter.as_deref();
    let listed = project.list(&targets, filter)?;
    if listed.is_empty() {
        return Err(Error::NoTest(arguments.filter.clone()));
    }
    let root = project.root.clone();
    let runner = Runner::new(project, targets);
    let reports = Reports::of(&listed, &runner.targets);
    show.begins(listed.len(), reports.longest_name());
    let began = Instant::now();
    let results = Tail::new(store.results_of_this_run())?;
    let environment = environment(arguments, &store, &results, listed.len());
    let deadline = arguments.time.map(|time| began + time);
    let mut run = Run { arguments, runner, reports, results, environment, deadline, trouble: None };
    run.first_pass(show)?;
    if let Some(deadline) = deadline {
        budget::spend(&mut run, deadline, show)?;
    }
    run.reports.all.iter().filter(|report| !report.told).for_each(|report| show.ended(report));
    if let Err(error) = store.keep(&run.results.file) {
        answer::complain(&format!("warning: the results are not saved: {error}"));
    }
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut summary = Summary::of(&run.reports.all, interrupt::requested(), run.trouble, milliseconds);
    summary.stale = arguments.stale.map(|what| stale::settle(what, &run.reports.all)).transpose()?;
    show.summary(&summary, &run.reports.all, &store);
    ci::tell(&arguments.ci, &run.reports.all, &store, &root)?;
    Ok(summary)
}

impl Run<'_> {
    /// Runs all tests as their authors have written, but for what was asked for on the command line.
    fn first_pass(&mut self, show: &mut dyn Show) -> Result<(), Error> {
        let settings = Settings {
            jobs: self.arguments.jobs,
            include_ignored: self.arguments.include_ignored,
            environment: self.environment.clone(),
            without: Vec::new(),
            deadline: self.deadline.zip(self.arguments.time).map(|(deadline, time)| deadline + grace(time)),
        };
        let (runner, reports, results) = (&self.runner, &mut self.reports, &mut self.results);
        let on_the_clock = self.deadline.is_some();
        // Nextest says of a test that it was made to end that it has failed.
        let ended_by_us = || interrupt::requested() || settings.deadline.is_some_and(|at| Instant::now() >= at);
        let mut happened = |event| match event {
            Event::Ended { target, path, verdict, output } => {
                results.read(|result| reports.explored(runner, result));
                let Some(report) = reports.ended(target, &path, status_of(verdict), output) else { return };
                if report.status == Status::Failed && report.exploration.is_none() && ended_by_us() {
                    report.status = Status::Unfinished;
                }
                // Of a test that can go on, the last word is not spoken; what a test has printed comes later.
                let goes_on = on_the_clock && budget::can_go_on(report);
                let speaks = report.status == Status::Failed && !report.has_findings() && report.output.is_none();
                if !goes_on && !speaks {
                    report.told = true;
                    show.ended(report);
                }
            }
            Event::Output { target, path, output } => reports.printed(target, &path, output),
        };
        let filter = self.arguments.filter.as_deref();
        let ended = self.runner.run(Selection::All(filter), &settings, &mut happened)?;
        self.results.read(|result| self.reports.explored(&self.runner, result));
        // Nextest may have been told, by its own configuration, to leave tests out.
        let left_out = matches!(ended.end, End::Exited(_)) && self.runner.leaves_out();
        self.reports.those_left(left_out, |target| ended.why_unfinished(target));
        let told_nothing = self.reports.all.iter().all(|report| report.status == Status::Unfinished);
        match ended.end {
            End::Exited(status) if !status.success() && told_nothing && !ended.crashed() => {
                Err(Error::Runner { runner: self.runner.name(), output: ended.said })
            }
            End::Exited(status) if !status.success() && !self.reports.any_failed() => {
                self.trouble = Some(format!("{} failed: {}", self.runner.name(), ended.said));
                Ok(())
            }
            End::Exited(_) | End::Interrupted | End::Late => Ok(()),
        }
    }
}

fn grace(time: Duration) -> Duration {
    time.clamp(SHORTEST_GRACE, LONGEST_GRACE)
}

fn status_of(verdict: Verdict) -> Status {
    match verdict {
        Verdict::Passed => Status::Passed,
        Verdict::Failed => Status::Failed,
        Verdict::Ignored => Status::Ignored,
    }
}

/// What tests are told.
fn environment(arguments: &TestArguments, store: &Store, results: &Tail, tests: usize) -> Vec<(&'static str, String)> {
    let mut environment = vec![
        (ENV_RESULTS, results.file.display().to_string()),
        ("DRAWLOOM_DIR", store.directory.display().to_string()),
    ];
    let mut tell = |variable, value: Option<String>| environment.extend(value.map(|value| (variable, value)));
    tell(ENV_SEED, arguments.seed.map(|seed| format!("{seed:#x}")));
    tell(ENV_ITERATIONS, arguments.iterations.map(|iterations| iterations.to_string()));
    tell(ENV_STRATEGY, arguments.strategy.clone());
    tell(ENV_THREADS, arguments.threads.map(|threads| threads.to_string()));
    // One test shall not take the time of all others; a half is left to go on with the best of them.
    let share = |time: Duration| (time / (2 * tests.max(1) as u32)).max(LEAST_FIRST_TURN);
    tell(ENV_TIMEOUT, arguments.time.map(|time| format!("{}ms", share(time).as_millis())));
    environment
}
