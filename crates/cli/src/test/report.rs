//! What is known of each test, and of all of them.

use drawloom_engine::config::{Config, StrategySpec};
use drawloom_report::{ResultOutcome, TestResult};
use serde::Serialize;

use super::stale::Settled;
use crate::answer;
use crate::project::{Listed, Target};
use crate::run::Runner;

/// What became of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Passed,
    Failed,
    Ignored,
    /// It did not end: it was interrupted, hung, or took the whole process down.
    Unfinished,
}

/// What is known of a test.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TestReport {
    /// Its path with the crate first.
    pub(crate) name: String,
    pub(crate) package: String,
    /// The name of its target.
    pub(crate) target: String,
    /// What the harness calls it.
    pub(crate) path: String,
    pub(crate) status: Status,
    /// What its exploration came to; none if it explored nothing, as ordinary tests do.
    pub(crate) exploration: Option<TestResult>,
    /// How often it was run.
    pub(crate) turns: u32,
    /// What it printed, if it failed and explored nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    #[serde(skip)]
    pub(crate) target_index: usize,
    /// Whether the user knows.
    #[serde(skip)]
    pub(crate) told: bool,
    /// Whether this turn has left a result.
    #[serde(skip)]
    fresh: bool,
}

impl TestReport {
    /// The configuration of its exploration.
    pub(crate) fn config(&self) -> Option<Config> {
        self.exploration.as_ref()?.configuration.parse().ok()
    }

    /// Whether it goes through behaviours one by one.
    pub(crate) fn is_exhaustive(&self) -> bool {
        self.config().is_some_and(|config| matches!(config.strategy, StrategySpec::Exhaustive { .. }))
    }

    /// Whether something was found in it, and that is what makes it fail.
    pub(crate) fn has_findings(&self) -> bool {
        self.status == Status::Failed && self.exploration.as_ref().is_some_and(|result| !result.findings.is_empty())
    }
}

/// What is known of all tests, in the order in which they were listed.
pub(crate) struct Reports {
    pub(crate) all: Vec<TestReport>,
    targets: Vec<Target>,
}

impl Reports {
    pub(crate) fn of(listed: &[Listed], targets: &[Target]) -> Reports {
        let all = listed.iter().map(|test| new(&targets[test.target], test.target, &test.path)).collect();
        Reports { all, targets: targets.to_vec() }
    }

    pub(crate) fn longest_name(&self) -> usize {
        self.all.iter().map(|report| report.name.chars().count()).max().unwrap_or_default()
    }

    pub(crate) fn any_failed(&self) -> bool {
        self.all.iter().any(|report| matches!(report.status, Status::Failed | Status::Unfinished))
    }

    fn find(&mut self, target: usize, path: &str) -> Option<&mut TestReport> {
        let exactly = |report: &TestReport| report.path == path && report.target_index == target;
        // Nextest does not tell a library from a program of the same name.
        let Target { package, name, .. } = self.targets.get(target)?;
        let alike = |report: &TestReport| report.path == path && report.package == *package && report.target == *name;
        let at = self.all.iter().position(exactly).or_else(|| self.all.iter().position(alike))?;
        self.all.get_mut(at)
    }

    /// An exploration has left its result. A test may make several: the first that failed counts, else the last.
    pub(crate) fn explored(&mut self, runner: &Runner, result: TestResult) {
        let Some(target) = runner.target_of(&result.binary) else { return };
        let Some(path) = result.path.clone() else { return };
        let Some(report) = self.find(target, &path) else { return };
        let failed = |result: &TestResult| result.outcome != ResultOutcome::Passed;
        let keeps = report.fresh && report.exploration.as_ref().is_some_and(failed);
        if !keeps {
            report.exploration = Some(result);
        }
        report.fresh = true;
    }

    /// A test is over. None if it is none of those that were listed: nextest also tells of ignored tests that
    /// were not asked for.
    pub(crate) fn ended(
        &mut self,
        target: usize,
        path: &str,
        status: Status,
        output: Option<String>,
    ) -> Option<&mut TestReport> {
        let report = self.find(target, path)?;
        report.status = status;
        report.turns += 1;
        report.fresh = false;
        if status == Status::Unfinished {
            report.output = output;
        } else if status == Status::Failed
            && report.exploration.as_ref().is_none_or(|result| result.findings.is_empty())
        {
            report.output = output.or(report.output.take());
        }
        Some(report)
    }

    /// A failed test has printed something.
    pub(crate) fn printed(&mut self, target: usize, path: &str, output: String) {
        if let Some(report) = self.find(target, path).filter(|report| !report.has_findings()) {
            report.output = Some(output);
        }
    }

    /// The run is over: tests of which nobody has said anything did not end, unless whoever runs them leaves
    /// some out.
    pub(crate) fn those_left(&mut self, left_out: bool, why: impl Fn(&Target) -> String) {
        if left_out {
            self.all.retain(|report| report.status != Status::Unfinished || report.exploration.is_some());
        }
        for report in self.all.iter_mut().filter(|report| report.status == Status::Unfinished) {
            match report.exploration.as_ref().map(|result| result.outcome) {
                Some(ResultOutcome::Passed) => report.status = Status::Passed,
                Some(ResultOutcome::Failed | ResultOutcome::Refused) => report.status = Status::Failed,
                None => report.output = self.targets.get(report.target_index).map(&why),
            }
        }
    }
}

fn new(target: &Target, index: usize, path: &str) -> TestReport {
    TestReport {
        name: format!("{}::{path}", target.krate()),
        package: target.package.clone(),
        target: target.name.clone(),
        path: path.to_owned(),
        status: Status::Unfinished,
        exploration: None,
        turns: 0,
        output: None,
        target_index: index,
        told: false,
        fresh: false,
    }
}

/// What a run came to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) tests: usize,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
    pub(crate) unfinished: usize,
    /// Whether the user has ended it.
    pub(crate) interrupted: bool,
    /// What whoever runs tests complains of, where no test has failed.
    pub(crate) trouble: Option<String>,
    pub(crate) milliseconds: u64,
    pub(crate) exit_code: u8,
    /// What was done about stored schedules that no longer fit, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stale: Option<Settled>,
}

impl Summary {
    pub(crate) fn of(all: &[TestReport], interrupted: bool, trouble: Option<String>, milliseconds: u64) -> Summary {
        let count = |status| all.iter().filter(|report| report.status == status).count();
        let (failed, unfinished) = (count(Status::Failed), count(Status::Unfinished));
        let exit_code = match interrupted {
            _ if failed > 0 || trouble.is_some() => answer::FOUND,
            true => answer::INTERRUPTED,
            false if unfinished > 0 => answer::FOUND,
            false => answer::CLEAN,
        };
        Summary {
            tests: all.len(),
            passed: count(Status::Passed),
            failed,
            ignored: count(Status::Ignored),
            unfinished,
            interrupted,
            trouble,
            milliseconds,
            exit_code,
            stale: None,
        }
    }
}
