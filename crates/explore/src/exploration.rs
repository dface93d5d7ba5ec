//! What an exploration comes to.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use drawloom_engine::Stop;
use drawloom_engine::finding::{Finding, FindingKind};
use drawloom_report::{Departure, Minimised, Record, TestTarget, assumed_of, cause};

use super::lazy_record::LazyRecord;

/// What an exploration came to.
#[derive(Debug)]
pub struct Exploration {
    pub(super) executions: u64,
    pub(super) planned: u64,
    pub(super) steps: u64,
    pub(super) behaviours: BTreeSet<u64>,
    /// Behaviours that one of the sampled executions has shown.
    pub(super) seen_once: u64,
    pub(super) failing: u64,
    pub(super) timed_out: bool,
    /// What ended it in the midst of an execution.
    pub(super) stopped_by: Option<Stop>,
    /// Everything within the bounds has been explored.
    pub(super) exhausted: bool,
    /// Rounds after which spin loops were cut, if any was.
    pub(super) spins_cut: Option<u32>,
    /// Executions that were cut, as asked for, before they were over.
    pub(super) cut: u64,
    /// Executions made in vain, for lack of memory; they are not among the others.
    pub(super) redundant: u64,
    /// Memory ran short.
    pub(super) frugal: bool,
    /// It is an exhaustive one that ended before everything was explored.
    pub(super) stopped: bool,
    /// How many classes it estimates there to be.
    pub(super) estimate: Option<u64>,
    /// Preemptions up to which everything was explored, and the number of classes that need no more.
    pub(super) up_to: Option<(u32, u64)>,
    pub(super) leaked_tasks: u64,
    pub(super) failures: Vec<Failure>,
    pub(super) error: Option<String>,
    /// Whether there was anything to choose, as an exhaustive exploration knows.
    pub(super) had_choice: bool,
    /// The behaviours of a program that was sampled at first, and small enough to explore all of it.
    pub(super) exhausted_instead: Option<u64>,
    /// Executions showed hardly any new behaviour.
    pub(super) saturated: bool,
    /// What may be claimed if nothing was found.
    pub(super) claims: Vec<String>,
    pub(super) remarks: Vec<String>,
    /// Where a replay left the path of its schedule.
    pub(super) departure: Option<Departure>,
    /// Places that asked for less than sequential consistency.
    pub(super) weaker_accesses: u64,
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
    /// if no bound was hit and no [spin loop was cut](Self::cut_spin_rounds). All of memory is sequentially consistent: where
    /// the program [asks for less](Self::weaker_accesses), a processor may show it behaviours that are not among these.
    pub fn exhausted(&self) -> bool {
        self.exhausted && self.spins_cut.is_none()
    }

    /// The number of rounds after which spin loops were cut, if everything else [has been explored](Self::exhausted): what
    /// a loop does after more rounds that bring nothing new, while others run, has not been.
    pub fn cut_spin_rounds(&self) -> Option<u32> {
        self.spins_cut.filter(|_| self.exhausted)
    }

    /// The number of preemptions up to which every behaviour has been explored, where they are
    /// [bounded](drawloom_engine::config::StrategySpec::Exhaustive) and not [all](Self::exhausted) have been.
    pub fn exhausted_preemptions(&self) -> Option<u32> {
        self.up_to.map(|(preemptions, _)| preemptions)
    }

    /// How many behaviours an exhaustive exploration has, by an estimate that is often off by a factor of
    /// two; `None` if it is exhausted, and then the number is known, or if preemptions are bounded.
    pub fn estimated_behaviours(&self) -> Option<u64> {
        self.estimate
    }

    /// Executions that an exhaustive exploration made in vain, since its `memory_budget` was too small to
    /// know better. They are cut, as it were, and not among [`executions`](Self::executions).
    pub fn redundant_executions(&self) -> u64 {
        self.redundant
    }

    /// Different behaviours seen: schedules that differ only in the order of steps that do not touch
    /// the same thing are one behaviour. Counted where executions are sampled: an exhaustive exploration
    /// makes one execution of each.
    pub fn behaviours(&self) -> u64 {
        self.behaviours.len() as u64
    }

    /// What was found, and which one of its kind each is, from 1.
    pub(super) fn numbered_findings(&self) -> impl Iterator<Item = (usize, &Failure)> {
        self.failures.iter().enumerate().map(|(i, failure)| {
            let before = self.failures[..i].iter().filter(|earlier| earlier.kind() == failure.kind()).count();
            (before + 1, failure)
        })
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

    /// What ended the exploration in the midst of an execution, if anything did. What was made before still counts.
    pub fn stopped_by(&self) -> Option<&Stop> {
        self.stopped_by.as_ref()
    }

    pub(super) fn stop(&mut self, why: Stop) {
        self.timed_out |= why == Stop::OutOfTime;
        self.stopped_by.get_or_insert(why);
    }

    /// Whether nothing was found, and it was not given up before anything could be.
    pub(super) fn found_nothing(&self) -> bool {
        self.failures.is_empty() && self.stopped_by.as_ref().is_none_or(|stop| *stop == Stop::OutOfTime)
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

    /// Of a replay: where the program does something else than the schedule says, if it does. A lenient one goes on from there
    /// as far as the schedule goes; for a strict one it is a finding.
    pub fn departure(&self) -> Option<&Departure> {
        self.departure.as_ref()
    }

    /// The places in the source at which atomics were accessed with a weaker ordering than `SeqCst`. All of them were treated as
    /// `SeqCst`.
    pub fn weaker_accesses(&self) -> u64 {
        self.weaker_accesses
    }

    /// What may be claimed since nothing was found.
    fn claimed(&self) -> String {
        if self.failing > 0 || self.exhausted() {
            return String::new();
        }
        self.claims.iter().map(|claim| format!("; {claim}")).collect()
    }

    /// One line that says what was done and what was not.
    pub fn summary(&self) -> String {
        let executions = match self.executions {
            1 => "1 execution".to_owned(),
            n => format!("{n} executions"),
        };
        let behaviours = match self.behaviours() {
            0 => String::new(),
            _ if self.exhausted() => String::new(),
            1 => ", 1 distinct behaviour".to_owned(),
            n => format!(", {n} distinct behaviours"),
        };
        let bound = self.bound();
        let without_choice = |f: &Failure| matches!(f.finding.kind, FindingKind::NothingExplored);
        match self.failing {
            0 if self.failures.iter().any(without_choice) => {
                format!("ran {executions}, but none of them had a choice")
            }
            0 => format!("explored {executions}{behaviours}, nothing found ({bound})"),
            n => format!("explored {executions}, {n} failing ({bound})"),
        }
    }
}

/// What is said of each bound, where it was hit.
impl Exploration {
    fn bound(&self) -> String {
        let diverged = |f: &Failure| matches!(f.finding.kind, FindingKind::Divergence(_));
        let mut said = match (self.exhausted, self.up_to) {
            (true, _) => match self.exhausted_instead {
                Some(classes) => format!("exhausted: {}", classes_of(classes)),
                None => "exhausted".to_owned(),
            },
            (false, Some((preemptions, classes))) => {
                let (preemptions, classes) = (counted(preemptions.into(), "preemption"), classes_of(classes));
                format!("exhausted up to {preemptions}: {classes}")
            }
            (false, None) if self.timed_out && !self.stopped => {
                return format!("out of time after {} of {}{}", self.executions, self.planned, self.claimed());
            }
            (false, None) if self.saturated => "saturated".to_owned(),
            (false, None) => "not exhausted".to_owned(),
        };
        if let Some(rounds) = self.spins_cut.filter(|_| self.exhausted || self.up_to.is_some()) {
            said.push_str(&format!(", spin loops cut after {}", counted(rounds.into(), "round")));
        }
        if let Some(assumed) = self.assumed() {
            said.push_str(&format!(", {assumed}"));
        }
        let mut reasons = Vec::new();
        if self.timed_out {
            reasons.push(format!("out of time after {} of {}", self.executions, self.planned));
        } else if self.failures.iter().any(diverged) {
            reasons.push("the program behaved differently when its schedule was repeated".to_owned());
        } else if self.stopped && self.executions + self.redundant >= self.planned {
            reasons.push("max_schedules reached".to_owned());
        }
        if self.cut > 0 {
            reasons.push(format!("{} cut by max_depth", counted(self.cut, "execution")));
        }
        if let Some(estimate) = self.estimate.filter(|_| !self.failures.iter().any(diverged)) {
            reasons.push(format!("estimated {}", classes_of(about(estimate, self.executions))));
        }
        if !reasons.is_empty() {
            said.push_str(if self.up_to.is_some() { "; beyond that " } else { ": " });
            said.push_str(&reasons.join(", "));
        }
        said.push_str(&self.claimed());
        match (self.frugal, self.redundant) {
            (false, _) => said,
            (true, n) => format!("{said}; frugal mode: {} cut", counted(n, "execution")),
        }
    }
}

/// What a claim to have explored everything takes for granted, if that is more than usual.
impl Exploration {
    fn assumed(&self) -> Option<String> {
        let claims_all = self.exhausted || self.up_to.is_some();
        (claims_all && self.failing == 0).then(|| assumed_of(self.weaker_accesses)).flatten()
    }
}

/// "1 execution", "2 executions".
fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

fn classes_of(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "class" } else { "classes" })
}

/// An estimate without digits that mean nothing; not less than what was counted.
pub(super) fn about(estimate: u64, least: u64) -> u64 {
    let unit = 10u64.pow(estimate.max(1).ilog10().saturating_sub(1));
    (estimate / unit * unit).max(least)
}

/// A number with a comma between thousands, where it has more than four digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() <= 4 {
        return digits;
    }
    let first = digits.len() % 3;
    let groups = digits.as_bytes()[first..].chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let first = (first > 0).then(|| digits[..first].to_owned());
    first.into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

/// A finding, with what is needed to understand and to reproduce it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong, as the engine knows it.
    pub finding: Finding,
    pub(super) record: LazyRecord,
    /// As told by the record.
    pub(super) cause: OnceLock<String>,
    pub(super) occurrences: u64,
    /// The fewest preemptions with which it can happen, where these are bounded, and if it is within the bound.
    pub(super) needs: Option<u32>,
    /// The record as it was before its schedule was minimised.
    pub(super) original: Option<Box<Record>>,
    /// An execution near it in which nothing was found.
    pub(super) passing: Option<Box<Record>>,
}

impl Failure {
    /// Other executions were made before the one in which it was found, and are counted too.
    pub(super) fn comes_after(&mut self, others: u64) {
        let meta = self.record.meta_mut();
        meta.iteration += others;
        meta.executions += others;
    }

    /// Its test is one of this package and target.
    pub(super) fn belongs_to(&mut self, package: Option<&str>, target: Option<TestTarget>) {
        let others = [&mut self.original, &mut self.passing].into_iter().flatten().map(|record| &mut record.meta);
        for meta in others.chain([self.record.meta_mut()]) {
            (meta.package, meta.target) = (package.map(str::to_owned), target.clone());
        }
    }

    /// Whether it is worth the time to follow its schedule again.
    pub(super) fn comes_back(&self) -> bool {
        self.finding.kind.comes_back()
    }

    /// Whether the program is wrong for certain; else the finding says why nobody knows.
    pub fn is_certain(&self) -> bool {
        self.finding.kind.is_certain()
    }

    /// What makes it the same as another, in words.
    pub(super) fn cause(&self) -> &str {
        self.cause.get_or_init(|| cause(self.record()))
    }

    /// The kind in one word: `panic`, `deadlock`, `livelock` …
    pub fn kind(&self) -> &'static str {
        self.finding.kind.word()
    }

    /// What happened: the message of a panic, or a sentence.
    pub fn message(&self) -> &str {
        match &self.finding.kind {
            FindingKind::Panic(panic) => &panic.message,
            _ => &self.record().finding.message,
        }
    }

    /// The number of the execution in which it was found first, from 1.
    pub fn iteration(&self) -> u64 {
        self.record.meta().iteration
    }

    /// Switches of the schedule away from a task that could have gone on and did not yield. Exact if the
    /// schedule was minimised; else a task that waits is taken for one that was left while it could go on,
    /// where several others were ready.
    pub fn preemptions(&self) -> u64 {
        if let Some(minimised) = self.minimised() {
            return minimised.after.preemptions;
        }
        let record = self.record();
        let leaves = |pair: &[drawloom_report::StepRecord]| {
            pair[0].task != pair[1].task && pair[1].choice && record.operation(&pair[0]) != "exit"
        };
        record.steps.windows(2).filter(|pair| leaves(pair)).count() as u64
    }

    /// Executions in which the same cause showed.
    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// The schedule, as a printable word; `replay(token = "…")` reproduces the finding. It is the minimised
    /// one, if it was minimised.
    pub fn token(&self) -> &str {
        &self.record().meta.token
    }

    /// The schedule in which the finding was met, before it was minimised.
    pub fn original_token(&self) -> &str {
        self.minimised().map_or(self.token(), |minimised| &minimised.original)
    }

    /// What minimising the schedule came to; `None` if it was not tried, or did not work out.
    pub fn minimised(&self) -> Option<&Minimised> {
        self.record.meta().minimised.as_ref()
    }

    /// The whole record: tasks, resources, every step.
    pub fn record(&self) -> &Record {
        self.record.get()
    }

    /// The report that a failing test prints.
    pub fn report(&self) -> String {
        super::output::render(self.record(), None)
    }
}
