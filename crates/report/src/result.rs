//! The result of a test run, as one line of JSON: what the library writes and other programs read.
//!
//! A test appends its line when it has ended, so that what is known when a run is interrupted is in the
//! file. Lines of [`RESULT_VERSION`] may get further fields, which readers ignore.

use std::io::Write;
use std::path::Path;

use crate::record::Record;
use crate::{json, kept};

/// The version of the lines that are written.
pub const RESULT_VERSION: u32 = 1;

/// The environment variable that names the file to which results are appended.
pub const ENV_RESULTS: &str = "DRAWLOOM_RESULTS";
/// The environment variable with the command that replays a token, where a plain `cargo test` would not.
pub const ENV_REPLAY_WITH: &str = "DRAWLOOM_REPLAY_WITH";

/// What one exploration of a test came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TestResult {
    /// Always [`RESULT_VERSION`].
    pub version: u32,
    /// What reports call the test: its path with the crate first, unless it was given a name.
    pub test: String,
    /// What the test harness calls it, where that is known.
    pub path: Option<String>,
    /// The test binary.
    pub binary: String,
    /// Whether anything was found.
    pub outcome: ResultOutcome,
    /// The whole configuration in its canonical form, as the environment changed it.
    pub configuration: String,
    /// Where the exploration began to draw, as a hexadecimal text; none if its strategy does not draw.
    pub seed: Option<String>,
    /// Executions that were made, those of earlier runs that were gone on with included.
    pub executions: u64,
    /// Executions that were to be made at most.
    pub planned: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Different behaviours seen, where executions are sampled.
    pub behaviours: u64,
    /// Those of them that were seen once.
    pub seen_once: u64,
    /// Whether every behaviour has been explored.
    pub exhausted: bool,
    /// Rounds after which spin loops were cut, if every behaviour but what lies beyond them has been explored; then `exhausted`
    /// is false.
    pub cut_spin_rounds: Option<u32>,
    /// Places in the source that ask for a weaker memory ordering than `SeqCst`, and were treated as `SeqCst`: what is
    /// [exhausted](Self::exhausted) is so under sequential consistency only.
    pub weaker_accesses: u64,
    /// Whether the wall-clock budget ended it.
    pub timed_out: bool,
    /// How many behaviours there are by an estimate, where everything was to be explored and was not.
    pub estimate: Option<u64>,
    /// One line that says what was done and what was not.
    pub summary: String,
    /// What there is to say besides.
    pub remarks: Vec<String>,
    /// Why nothing could be explored.
    pub error: Option<String>,
    /// What was found, one for each cause.
    pub findings: Vec<FoundResult>,
    /// The trace file of a replay in which nothing was found.
    pub passed: Option<String>,
    /// Of a replay: where the program no longer does what its schedule says. From there on the schedule was followed as far as
    /// it goes, unless that was not wanted.
    pub departure: Option<Departure>,
    /// Stored schedules that no longer fit the program.
    pub outdated: Vec<OutdatedSchedule>,
    /// How long it took, in milliseconds of real time.
    pub milliseconds: u64,
}

/// Where a program leaves the path of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Departure {
    /// The first step that differs, from 1.
    pub step: u64,
    /// What the schedule has there.
    pub expected: String,
    /// What the program does.
    pub found: String,
}

impl std::fmt::Display for Departure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "from step {} (expected {}, found {})", self.step, self.expected, self.found)
    }
}

/// A stored schedule that no longer fits the program: a line of a file that users commit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutdatedSchedule {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is stored there.
    pub token: String,
    /// From where on it does not fit.
    pub departure: Departure,
    /// Whether the test passes when it is followed as far as it goes.
    pub passes: bool,
    /// The schedule of that execution, which fits.
    pub renewed: Option<String>,
}

/// What a claim to have explored everything takes for granted, where so many places ask for less than `SeqCst`.
pub fn assumed_of(weaker_accesses: u64) -> Option<String> {
    match weaker_accesses {
        0 => None,
        1 => Some("under sequential consistency: 1 weaker access was treated as SeqCst".to_owned()),
        n => Some(format!("under sequential consistency: {n} weaker accesses were treated as SeqCst")),
    }
}

/// In one word, what an exploration came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResultOutcome {
    /// Nothing was found.
    #[default]
    Passed,
    /// Something was found.
    Failed,
    /// It could not be begun: a token of another test, an argument that makes no sense.
    Refused,
}

/// A finding, in short; the trace file has the rest.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundResult {
    /// The word of its kind.
    pub kind: String,
    /// The panic's message, or one sentence.
    pub message: String,
    /// Why, in one sentence, where that is known.
    pub explanation: Option<String>,
    /// The path of the task in which it showed.
    pub task: String,
    /// Where it showed, as `file:line`, if at one place.
    pub place: Option<String>,
    /// In which execution it was met first, from 1.
    pub iteration: u64,
    /// Executions in which it was met.
    pub occurrences: u64,
    /// Preemptions of its schedule.
    pub preemptions: u64,
    /// Steps up to it.
    pub steps: u64,
    /// The token that replays it; empty if it cannot be replayed.
    pub token: String,
    /// The command that takes the token, if it is another than `drawloom replay`.
    pub replay_with: Option<String>,
    /// The trace file, if it was written.
    pub trace: Option<String>,
    /// The page to look at it, if it was written.
    pub page: Option<String>,
}

impl FoundResult {
    /// What is to be said of `record`; whoever keeps it in files adds where.
    pub fn of(record: &Record) -> FoundResult {
        FoundResult {
            kind: record.finding.kind.clone(),
            message: record.finding.message.clone(),
            explanation: record.explanation.as_ref().map(|explanation| explanation.sentence.clone()),
            task: record.tasks.get(record.finding.task as usize).map(|task| task.path.clone()).unwrap_or_default(),
            place: record.place(record.finding.place).map(ToString::to_string),
            iteration: record.meta.iteration,
            steps: record.steps.len() as u64,
            token: record.meta.token.clone(),
            replay_with: record.meta.replay_with.clone(),
            ..FoundResult::default()
        }
    }
}

impl TestResult {
    /// The line, without its end.
    pub fn line(&self) -> String {
        json::text(self)
    }

    /// Appends the line to `file`, at once, since other tests may append theirs at the same time.
    pub fn append(&self, file: &Path) -> std::io::Result<()> {
        let mut line = self.line();
        line.push('\n');
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        kept::append(file)?.write_all(line.as_bytes())
    }

    /// Reads the lines of a file of results. Those that are no results are left out: a line may have been cut
    /// by a kill, or be of a version to come.
    pub fn read_all(text: &str) -> Vec<TestResult> {
        let read = text.lines().filter_map(|line| json::read(line).ok());
        read.filter(|result: &TestResult| result.version == RESULT_VERSION).collect()
    }
}

crate::json::object! {
    TestResult { version, test, path, binary, outcome, configuration, seed, executions, planned, steps, behaviours, seen_once, exhausted, #[optional] cut_spin_rounds, #[optional] weaker_accesses, timed_out, estimate, summary, remarks, error, findings, #[optional] passed, #[optional] departure, #[optional] outdated, milliseconds }
    Departure { step, expected, found }
    OutdatedSchedule { file, line, token, departure, passes, renewed }
    FoundResult { kind, message, #[optional] explanation, task, place, iteration, occurrences, preemptions, steps, token, #[left_out] replay_with, trace, page }
}

crate::json::words! {
    ResultOutcome { Passed = "passed", Failed = "failed", Refused = "refused" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_read_and_a_cut_line_is_left_out() {
        let file = std::env::temp_dir().join(format!("drawloom-result-{}.jsonl", std::process::id()));
        let one = TestResult { version: RESULT_VERSION, test: "bank::one".into(), ..TestResult::default() };
        let two = TestResult { test: "bank::two".into(), outcome: ResultOutcome::Failed, ..one.clone() };
        one.append(&file).unwrap();
        two.append(&file).unwrap();
        let text = std::fs::read_to_string(&file).unwrap() + "{\"version\":1,\"test\":\"ba";
        std::fs::remove_file(&file).unwrap();
        assert_eq!(TestResult::read_all(&text), [one, two]);
    }
}
