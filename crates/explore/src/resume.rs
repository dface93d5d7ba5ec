//! Exhaustive explorations that go on where an earlier process stopped.
//!
//! An exploration that takes longer than a moment keeps a log beside the traces. Whatever ends it
//! before it is done, be it a budget or a kill, the next run of the same test reads the log and makes
//! only the executions that are left. A log of another program is of no use: it is put aside, that is
//! said, and the exploration starts over. A log that cannot be written is no reason to fail.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use drawloom_engine::config::{Config, DEFAULT_MAX_SCHEDULES, DEFAULT_MEMORY_BUDGET_BYTES, StrategySpec};
use drawloom_engine::exhaustive::{Explorer, Header, Tally, Ticket, Witness, hash};
use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::Replay;

use super::exploration::{Exploration, Failure};
use super::output;
use super::plan::Plan;
use super::program::Program;
use super::sharing::SHARING;
use super::spread::empty;
use super::worker::{Executed, Worker};

/// What takes no longer than this is simply done again.
const WORTH_KEEPING: Duration = Duration::from_secs(1);
/// How much of the work a kill can cost.
const WRITE_EVERY: Duration = Duration::from_millis(100);
/// A log is written anew when it is so many times as long as what is worth keeping of it …
const MOST_GROWTH: usize = 4;
/// … and longer than this.
const SMALL_BYTES: usize = 16 << 20;

/// The log of one exploration.
pub(super) struct Log {
    path: PathBuf,
    test: String,
    configuration: u64,
    first_execution: OnceLock<u64>,
    writer: Mutex<Writer>,
}

struct Writer {
    file: Option<File>,
    began: Instant,
    wrote: Instant,
    /// Bytes of the file when it was begun, and now.
    initial: usize,
    size: usize,
    /// Why nothing is written any more.
    problem: Option<std::io::Error>,
}

/// What an exploration begins with.
pub(super) struct Start {
    pub(super) explorer: Explorer,
    /// What was found before.
    pub(super) found: Exploration,
}

impl Log {
    /// The log of the test `test`, if its exploration is one that can be gone on with.
    pub(super) fn of(test: &str, config: &Config) -> Option<Log> {
        let StrategySpec::Exhaustive { resume: true, preemptions: None, .. } = config.strategy else { return None };
        let writer =
            Writer { file: None, began: Instant::now(), wrote: Instant::now(), initial: 0, size: 0, problem: None };
        Some(Log {
            path: output::file_of(test, "exhaustive.log"),
            test: test.to_owned(),
            configuration: hash(what_matters(config).to_string().as_bytes()),
            first_execution: OnceLock::new(),
            writer: Mutex::new(writer),
        })
    }

    /// What an earlier process has left, if it is of any use; `remarks` says what is to be said of it.
    pub(super) fn take_up<P: Program>(
        &self,
        plan: &Plan,
        worker: &mut Worker<'_, P>,
        remarks: &mut Vec<String>,
    ) -> Option<Start> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => {
                remarks.push(format!("the log of an earlier run, {}, cannot be read: {error}", self.shown()));
                return None;
            }
        };
        match self.read(&bytes, plan, worker) {
            Ok(start) => {
                let executions = start.found.executions;
                remarks.push(format!("resumed after {executions} executions from an earlier run ({})", self.shown()));
                self.begin_file(&mut self.lock(), &start.explorer, || start.found.tally());
                Some(start)
            }
            Err(reason) => {
                self.start_over(&reason, remarks);
                None
            }
        }
    }

    fn read<P: Program>(&self, bytes: &[u8], plan: &Plan, worker: &mut Worker<'_, P>) -> Result<Start, String> {
        let restored = Explorer::restore(SHARING, bytes, plan.executions).map_err(|error| error.to_string())?;
        let theirs = restored.header;
        if theirs.test != self.test {
            return Err(format!("it belongs to the test `{}`", theirs.test));
        }
        if theirs.configuration != self.configuration {
            return Err("the configuration has changed".to_owned());
        }
        if theirs.program != program() {
            return Err("the program has been rebuilt since".to_owned());
        }
        if let Some(strategy) = Explorer::new(SHARING, 1).claim() {
            worker.run_with(0, Box::new(strategy));
        }
        self.began_with(worker);
        if self.first_execution.get() != Some(&theirs.first_execution) {
            return Err("the program has changed: its first execution is different".to_owned());
        }
        let failures = restored.tally.failures.iter().map(|(cause, witness)| again(plan, worker, cause, witness));
        let failures = failures
            .collect::<Option<Vec<Failure>>>()
            .ok_or("the program has changed: a recorded failure no longer happens")?;
        let tally = restored.tally;
        let found = Exploration {
            executions: tally.executions,
            steps: tally.steps,
            cut: tally.cut,
            spins_cut: tally.spins_cut.then_some(plan.spin_rounds),
            redundant: tally.redundant,
            leaked_tasks: tally.leaked_tasks,
            had_choice: tally.had_choice,
            behaviours: tally.behaviours,
            failing: failures.iter().map(Failure::occurrences).sum(),
            failures,
            ..empty(plan.executions.saturating_add(tally.executions))
        };
        Ok(Start { explorer: restored.explorer.with_memory(plan.memory_budget), found })
    }

    /// Puts the log of another program aside.
    pub(super) fn start_over(&self, reason: &str, remarks: &mut Vec<String>) {
        let mut aside = self.path.clone().into_os_string();
        aside.push(".old");
        let kept = match std::fs::rename(&self.path, &aside) {
            Ok(()) => format!("it was saved as {}", output::shown(Path::new(&aside))),
            Err(error) => format!("it could not be moved aside: {error}"),
        };
        remarks.push(format!(
            "starts over, since the log of an earlier run, {}, cannot be used: {reason}; {kept}",
            self.shown()
        ));
        self.lock().file = None;
    }

    /// The worker has just made the first execution, by which the program is known again.
    pub(super) fn began_with<P: Program>(&self, worker: &Worker<'_, P>) {
        let engine = worker.engine();
        let mut bytes = Vec::new();
        for step in engine.steps() {
            let path = engine.path(step.task).0;
            bytes.extend(path.iter().flat_map(|part| part.to_le_bytes()));
            bytes.push(step.kind as u8);
            bytes.extend(P::line_of(step.site).to_le_bytes());
        }
        self.first_execution.get_or_init(|| hash(&bytes));
    }

    /// An execution is over; `whole` is what all of them came to, if that should be needed.
    pub(super) fn settle(&self, explorer: &Explorer, ticket: Ticket, ran: &Tally, whole: impl FnOnce() -> Tally) {
        explorer.settle(ticket, ran);
        // Another worker that is at it does it for all.
        let Ok(mut writer) = self.writer.try_lock() else { return };
        let now = Instant::now();
        let due = match writer.file {
            None => now.duration_since(writer.began) >= WORTH_KEEPING,
            Some(_) => now.duration_since(writer.wrote) >= WRITE_EVERY,
        };
        if !due || writer.problem.is_some() {
            return;
        }
        writer.wrote = now;
        if writer.file.is_none() || writer.size > SMALL_BYTES.max(MOST_GROWTH * writer.initial) {
            self.begin_file(&mut writer, explorer, whole);
        } else {
            writer.append(explorer);
        }
    }

    /// Writes everything that is known to a new file.
    fn begin_file(&self, writer: &mut Writer, explorer: &Explorer, whole: impl FnOnce() -> Tally) {
        let first_execution = self.first_execution.get().copied().unwrap_or_default();
        let (test, configuration) = (self.test.clone(), self.configuration);
        let header = Header { test, configuration, program: program(), first_execution };
        let log = explorer.checkpoint(&header, whole);
        match output::replace(&self.path, &log) {
            Ok(file) => writer.file = Some(file),
            Err(error) => writer.problem = Some(error),
        }
        (writer.initial, writer.size) = (log.len(), log.len());
        writer.wrote = Instant::now();
    }

    /// The exploration is over: what is left of it is kept, or nothing if nothing is left.
    pub(super) fn end(&self, explorer: &Explorer, remarks: &mut Vec<String>) {
        let progress = explorer.progress();
        let finished = progress.exhausted || progress.diverged;
        let mut writer = self.lock();
        if writer.file.is_some() && finished {
            let _ = std::fs::remove_file(&self.path);
        } else if writer.file.is_some() {
            writer.append(explorer);
        }
        if let Some(error) = &writer.problem {
            remarks.push(format!("the log {} could not be written: {error}", self.shown()));
        } else if writer.file.is_some() && !finished {
            remarks.push(format!("the next run of this test resumes here ({})", self.shown()));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn shown(&self) -> String {
        output::shown(&self.path)
    }
}

impl Writer {
    fn append(&mut self, explorer: &Explorer) {
        let added = explorer.added();
        let Some(file) = &mut self.file else { return };
        self.size += added.len();
        if let Err(error) = file.write_all(&added) {
            self.problem = Some(error);
        }
    }
}

/// A failure that a log knows of, once more; `None` if it does not happen any more.
fn again<P: Program>(plan: &Plan, worker: &mut Worker<'_, P>, cause: &str, witness: &Witness) -> Option<Failure> {
    let schedule = Schedule::from_token(&witness.token, &plan.name).ok()?;
    let ran = worker.run_with(witness.iteration, Box::new(Replay::new(schedule, P::line_of)));
    let failure = ran.failure.filter(|failure| failure.cause() == cause)?;
    Some(Failure { occurrences: witness.occurrences, ..*failure })
}

impl Executed {
    /// As what is added up and stored.
    pub(super) fn tally(&self) -> Tally {
        Tally {
            executions: 1,
            steps: self.steps,
            cut: u64::from(self.cut),
            spins_cut: self.spins_cut,
            redundant: 0,
            leaked_tasks: self.leaked_tasks,
            had_choice: self.had_choice,
            behaviours: self.behaviour.into_iter().collect(),
            failures: self.failure.iter().map(|failure| failure.witness()).collect(),
        }
    }
}

impl Exploration {
    /// As what is added up and stored.
    pub(super) fn tally(&self) -> Tally {
        Tally {
            executions: self.executions,
            steps: self.steps,
            cut: self.cut,
            spins_cut: self.spins_cut.is_some(),
            redundant: self.redundant,
            leaked_tasks: self.leaked_tasks,
            had_choice: self.had_choice,
            behaviours: self.behaviours.clone(),
            failures: self.failures.iter().map(Failure::witness).collect(),
        }
    }
}

impl Failure {
    fn witness(&self) -> (String, Witness) {
        let witness = Witness {
            occurrences: self.occurrences,
            iteration: self.iteration() - 1,
            preemptions: self.preemptions(),
            steps: self.record().steps.len() as u64,
            token: self.original_token().to_owned(),
        };
        (self.cause().to_owned(), witness)
    }
}

/// The configuration without what is the same exploration anyway.
fn what_matters(config: &Config) -> Config {
    let mut config = config.clone();
    let defaults = Config::new();
    if let StrategySpec::Exhaustive { max_schedules, memory_budget, .. } = &mut config.strategy {
        (*max_schedules, *memory_budget) = (DEFAULT_MAX_SCHEDULES, DEFAULT_MEMORY_BUDGET_BYTES);
    }
    (config.timeout, config.threads, config.trace) = (defaults.timeout, defaults.threads, defaults.trace);
    (config.shrink, config.regressions) = (defaults.shrink, defaults.regressions);
    (config.name, config.keep_going) = (defaults.name, defaults.keep_going);
    config.allow_no_choice = defaults.allow_no_choice;
    config
}

/// A hash of the program that runs; 0 if it cannot be read.
fn program() -> u64 {
    static HASH: OnceLock<u64> = OnceLock::new();
    *HASH.get_or_init(|| {
        // Linux keeps what runs, even if there is another file in its place by now.
        let bytes = std::fs::read("/proc/self/exe").or_else(|_| std::fs::read(std::env::current_exe()?));
        bytes.map_or(0, |bytes| hash(&bytes))
    })
}
