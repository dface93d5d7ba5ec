//! What an exploration comes to.

use std::collections::BTreeSet;

use drawloom_engine::finding::{Finding, FindingKind};
use drawloom_report::Record;

/// What an exploration came to.
#[derive(Debug)]
pub struct Exploration {
    pub(super) executions: u64,
    pub(super) planned: u64,
    pub(super) steps: u64,
    pub(super) behaviours: BTreeSet<u64>,
    pub(super) failing: u64,
    pub(super) timed_out: bool,
    pub(super) exhausted: bool,
    /// Executions that were cut, as asked for, before they were over.
    pub(super) cut: u64,
    /// Executions made in vain, for lack of memory; they are not among the others.
    pub(super) redundant: u64,
    /// Memory ran short.
    pub(super) frugal: bool,
    /// Prefixes that an exhaustive exploration knows to be left.
    pub(super) pending: u64,
    pub(super) leaked_tasks: u64,
    pub(super) failures: Vec<Failure>,
    pub(super) error: Option<String>,
    /// Whether there was anything to choose, as an exhaustive exploration knows.
    pub(super) had_choice: bool,
    pub(super) remarks: Vec<String>,
}

impl Exploration {
    /// Executions made. The same on one OS thread and on many.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Steps made, in all executions together.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether every behaviour of the program has been explored. Only `exhaustive` can say so, and only
    /// if no bound was hit.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Executions that an exhaustive exploration made in vain, since its `memory_budget` was too small to
    /// know better. They are cut, as it were, and not among [`executions`](Self::executions).
    pub fn redundant_executions(&self) -> u64 {
        self.redundant
    }

    /// Different behaviours seen: schedules that differ only in the order of steps that do not touch
    /// the same thing are one behaviour. 0 unless the configuration says `behaviours = true`.
    pub fn behaviours(&self) -> u64 {
        self.behaviours.len() as u64
    }

    /// What was found, one entry for each distinct cause, in the order of discovery.
    pub fn findings(&self) -> &[Failure] {
        &self.failures
    }

    /// Executions that failed. More than one only with `keep_going`.
    pub fn failing_executions(&self) -> u64 {
        self.failing
    }

    /// Whether the wall-clock budget ended the exploration before it was done.
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }

    /// Tasks whose stacks had to be leaked, since their destructors waited for ever.
    pub fn leaked_tasks(&self) -> u64 {
        self.leaked_tasks
    }

    /// Why nothing could be explored at all: a replay token that cannot be used.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// What there is to say besides: that an earlier run was gone on with, or could not be.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// One line that says what was done and what was not.
    pub fn summary(&self) -> String {
        let executions = match self.executions {
            1 => "1 execution".to_owned(),
            n => format!("{n} executions"),
        };
        let behaviours = match self.behaviours() {
            0 => String::new(),
            1 => ", 1 distinct behaviour".to_owned(),
            n => format!(", {n} distinct behaviours"),
        };
        let bound = match (self.timed_out, self.planned) {
            (true, planned) => format!("out of time after {} of {planned}", self.executions),
            (false, _) if self.exhausted => "exhausted".to_owned(),
            (false, _) if self.cut > 0 => format!("not exhausted: {} of them cut", self.cut),
            (false, _) if self.pending > 0 => format!("not exhausted: at least {} more", self.pending),
            (false, _) => "not exhausted".to_owned(),
        };
        let bound = match (self.frugal, self.redundant) {
            (false, _) => bound,
            (true, 1) => format!("{bound}; frugal mode: 1 execution cut"),
            (true, n) => format!("{bound}; frugal mode: {n} executions cut"),
        };
        let without_choice = |f: &Failure| matches!(f.finding.kind, FindingKind::NothingExplored);
        match self.failing {
            0 if self.failures.iter().any(without_choice) => {
                format!("ran {executions}, but there was nothing to choose in any of them")
            }
            0 => format!("explored {executions}{behaviours}, nothing found ({bound})"),
            n => format!("explored {executions}{behaviours}, {n} failing ({bound})"),
        }
    }
}

/// A finding, with what is needed to understand and to reproduce it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong, as the engine knows it.
    pub finding: Finding,
    pub(super) record: Record,
    pub(super) cause: String,
    pub(super) occurrences: u64,
}

impl Failure {
    /// The kind in one word: `panic`, `deadlock`, `livelock` …
    pub fn kind(&self) -> &'static str {
        self.finding.kind.word()
    }

    /// What happened: the message of a panic, or a sentence.
    pub fn message(&self) -> &str {
        match &self.finding.kind {
            FindingKind::Panic(panic) => &panic.message,
            _ => &self.record.finding.message,
        }
    }

    /// The number of the execution in which it was found first, from 1.
    pub fn iteration(&self) -> u64 {
        self.record.meta.iteration
    }

    /// Switches of the schedule away from a task that could have gone on.
    pub fn preemptions(&self) -> u64 {
        let steps = &self.record.steps;
        let leaves = |pair: &[drawloom_report::StepRecord]| {
            pair[0].task != pair[1].task && pair[1].choice && self.record.operation(&pair[0]) != "exit"
        };
        steps.windows(2).filter(|pair| leaves(pair)).count() as u64
    }

    /// Executions in which the same cause showed.
    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// The schedule, as a printable word; `replay(token = "…")` reproduces the finding.
    pub fn token(&self) -> &str {
        &self.record.meta.token
    }

    /// The whole record: tasks, resources, every step.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The report that a failing test prints.
    pub fn report(&self) -> String {
        super::output::render(&self.record, None)
    }
}
