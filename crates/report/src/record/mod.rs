//! The record of a finding: everything about one execution that a report needs, owned and serialisable.
//!
//! # The trace file
//!
//! One JSON object without line breaks. Equal executions give equal bytes: there is no time, no
//! address and no hash order in it. Its fields are those of [`Record`], by the same names, and what
//! refers to a task, a resource, a place, an operation, an outcome or a step does so by its index in
//! the table of that name, from 0. `null` is "none" or "not known". The seed is a hexadecimal text
//! (`"0x5eed"`). The details of a finding are an object with one field, named after the variant of
//! [`Details`] (`{"livelock": {"bound": 10000}}`), or the text `"nothing"`.
//!
//! A step is an array, since there may be a million:
//!
//! ```text
//! [task, operation, resource, place, outcome, choice, after, argument, value]
//! ```
//!
//! with `choice` as 0 or 1 and the others as the fields of [`StepRecord`]. What is missing at the end
//! of the array is `null`, 0 or "ok" (outcome 0). Numbers beyond 2⁵³, which JSON readers may round,
//! are written as decimal texts here.
//!
//! Files of [`VERSION`] may get further fields, which readers ignore; any other change is a new
//! version, which [`Record::read`] refuses by saying so.

mod build;
mod file;
mod packed;
mod parts;
mod processes;
mod stuck;
pub(crate) mod waits;

use drawloom_engine::finding::Backtrace;

use file::{backtrace, hexadecimal, steps};

use crate::explain::Explanation;
use crate::language::Language;

pub use file::{Glance, ReadError};
pub use processes::{HappenedRecord, ProcessRecord, ProcessesRecord, SaidRecord, TieRecord};
pub use stuck::{FrameRecord, HeldRecord, StandingRecord, StuckRecord};

/// The version of the trace file that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// The kind of the "finding" of an execution in which nothing was found ([`Record::passed`]).
pub const PASSED: &str = "passed";
/// The name of what watches the program and is no part of it: it is neither shared state nor the reason of a failure.
pub const WATCH: &str = "(watch)";
/// The name of what tasks of one thread take turns by, which is ours and no part of the program either.
pub const TURN: &str = "turn of the thread";

/// The outcome of a wait that nobody will end.
pub(crate) const BLOCKED: &str = "blocked for ever";

/// A finding with the execution that showed it.
///
/// ```
/// # use drawloom_engine::{Engine, TaskId, finding::{Finding, FindingKind}};
/// use drawloom_report::{Meta, Record};
///
/// let engine = Engine::new();
/// let finding = Finding { kind: FindingKind::NothingExplored, task: TaskId::MAIN, step: 0 };
/// let record = Record::of(&engine, &finding, Meta::default(), &|_site| None);
/// assert_eq!(Record::read(&record.write())?, record);
/// # Ok::<(), drawloom_report::ReadError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Always [`VERSION`].
    pub version: u32,
    /// Which test, and how to get there again.
    pub meta: Meta,
    /// What went wrong.
    pub finding: FindingRecord,
    /// Every task; the second one is the clock, whose steps are timers that fire.
    pub tasks: Vec<TaskRecord>,
    /// Every resource, in the order of first use.
    pub resources: Vec<ResourceRecord>,
    /// Every place that something refers to, once.
    pub places: Vec<Place>,
    /// The words of the operations that occur.
    pub operations: Vec<String>,
    /// The words of the outcomes that occur; the first is "ok".
    pub outcomes: Vec<String>,
    /// What was done up to the finding, in order.
    pub steps: Vec<StepRecord>,
    /// The processes, where there were actors. Not written while there are none.
    pub processes: ProcessesRecord,
    /// The race window, once somebody has found it out: the viewer shades it. Not written while it is
    /// none.
    pub window: Option<Window>,
    /// Why it failed, once somebody has found it out. Not written while it is none.
    pub explanation: Option<Box<Explanation>>,
}

/// The stretch of an execution in which another task's step does the harm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The step that opens it: a read whose result is relied on, say.
    pub from: u32,
    /// The step that closes it: the write that relies on it.
    pub to: u32,
    /// What the two are about.
    pub resource: Option<u32>,
}

/// Which test, and how to get there again: what the engine does not know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Meta {
    /// The test's path, its crate first (`bank::tests::transfer`), or any text that names it.
    pub test: String,
    /// The configuration, in its canonical form.
    pub strategy: String,
    /// The seed of the exploration; none if its strategy does not draw.
    pub seed: Option<u64>,
    /// Which execution of the exploration this was, as users count: from 1.
    pub iteration: u64,
    /// Executions made until then.
    pub executions: u64,
    /// The token that replays it.
    pub token: String,
    /// The command that replays a token, where a plain `cargo test` would not: in a project that is put under control
    /// from outside.
    pub replay_with: Option<String>,
    /// How it came to be so simple, if it was minimised; the rest of the record is of the result.
    pub minimised: Option<Minimised>,
    /// The language that the program is written in. Not written while it is the one that files have by default.
    pub language: Language,
    /// The command that runs it again, if that is not cargo's. Not written while it is none.
    pub command: Option<String>,
    /// The package that cargo knows the test by, and which of its targets it belongs to, where known.
    pub package: Option<String>,
    /// Of that package.
    pub target: Option<TestTarget>,
    /// It is of this process, and not read from a file: then `command` is the one that we were started with.
    pub own: bool,
}

/// A target of a package that has tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestTarget {
    /// The library.
    Lib,
    /// The integration test of this name.
    Test(String),
}

/// What minimising a schedule came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Minimised {
    /// The token that replays the execution in which the finding was met.
    pub original: String,
    /// How complicated that was.
    pub before: Extent,
    /// How complicated this is.
    pub after: Extent,
    /// Replays that it took.
    pub replays: u64,
    /// Those of them that tried edits of the schedule; the others tried random ones.
    pub replays_of_edits: u64,
    /// Whether there was nothing left to try.
    pub complete: bool,
    /// The steps with which a task was let run although the one before could have gone on.
    pub preempting: Vec<u32>,
}

/// How much there is to follow in an execution. The simpler of two is the one that has less of what they
/// differ in first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Extent {
    /// Switches away from a task that could have gone on and did not yield.
    pub preemptions: u64,
    /// Timers that fired early, and choices of two outcomes that did not come to the first.
    pub faults: u64,
    /// Switches from one task to another.
    pub switches: u64,
    /// What all other choices came to, added up.
    pub data: u64,
    /// Steps.
    pub steps: u64,
}

impl From<drawloom_engine::shrink::Cost> for Extent {
    fn from(cost: drawloom_engine::shrink::Cost) -> Extent {
        let drawloom_engine::shrink::Cost { preemptions, faults, switches, data, steps } = cost;
        Extent { preemptions, faults, switches, data, steps }
    }
}

/// Where the sources of the library that a program runs on are, in its checkout.
pub const OUR_SOURCES: [&str; 3] = ["crates/drawloom/src/", "crates/sim/src/", "crates/tokio/src/"];

/// A place in the user's source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file, as the compiler or interpreter names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if not known.
    pub column: u32,
}

impl Place {
    /// Whether it is in the program: neither in the standard library nor in what runs the program.
    pub fn is_the_users(&self) -> bool {
        let file = self.file.replace('\\', "/");
        let in_std = ["core/src/", "std/src/", "alloc/src/"].iter().any(|path| file.starts_with(path));
        !in_std && !file.starts_with("/rustc/") && !self.is_ours()
    }

    /// Whether it is in the library that the program runs on, as a dependency or in its checkout. What happens there is
    /// nobody's business.
    pub fn is_ours(&self) -> bool {
        let file = self.file.replace('\\', "/");
        let in_checkout = OUR_SOURCES.iter().any(|path| {
            let at = file.find(path);
            at.is_some_and(|at| at == 0 || file[..at].ends_with('/'))
        });
        let packaged = |folder: &str| {
            let version =
                ["drawloom-tokio-", "drawloom-sim-", "drawloom-"].iter().find_map(|name| folder.strip_prefix(name));
            version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        };
        in_checkout || file.split('/').any(packaged)
    }
}

/// A task of the execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskRecord {
    /// Its spawn path (`0.1.2`), or `clock`.
    pub path: String,
    /// The name its creator gave it.
    pub name: Option<String>,
    /// Where it was spawned.
    pub spawned_at: Option<u32>,
    /// Steps that it made up to the finding.
    pub steps: u64,
    /// Those of them that were yields.
    pub yields: u64,
    /// Whether it had exited.
    pub finished: bool,
    /// Whether it ended by a panic.
    pub panicked: bool,
    /// The message of that, its first line.
    pub panic: Option<String>,
}

/// A resource of the execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourceRecord {
    /// The word of its kind.
    pub kind: String,
    /// The name the user gave it.
    pub name: Option<String>,
    /// Where it was created.
    pub created_at: Option<u32>,
    /// Its name that is the same in every execution: `mutex #2 of task 0.1`, the second resource that
    /// this task was the first to use.
    pub id: String,
    /// Messages that a channel holds (none: any number), or tasks that a barrier waits for.
    pub size: Option<u64>,
    /// Whether it was there before the execution: a static, or captured from outside.
    pub from_outside: bool,
}

/// One operation carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepRecord {
    /// Who.
    pub task: u32,
    /// What it did, by index in [`Record::operations`].
    pub operation: u16,
    /// What it came to, after any wait, by index in [`Record::outcomes`].
    pub outcome: u16,
    /// On what.
    pub resource: Option<u32>,
    /// Where.
    pub place: Option<u32>,
    /// Whether another task could have gone instead.
    pub choice: bool,
    /// The step that ended the wait before this one: a grant, an exit that was joined, a spawn.
    pub after: Option<u32>,
    /// The operation's second operand: a task (of spawn, join, is_finished, unpark, kill, timer), a mutex
    /// (of a condition variable's wait), permits (of acquire, try_acquire, release), the number of
    /// outcomes (of choose), a virtual instant in nanoseconds (of sleep), 1 for success (of
    /// initialised), 1 or 2 for a lock that prefers readers or writers (of read, write), the value after it (of read-modify-write and of a compare-exchange that succeeds),
    /// the value that was expected (of one that fails), the value before it (of store), a bit for each part that is read and, from
    /// bit 32 on, that is written (of read parts, write parts): parts are the resources that follow; the other resources that
    /// are touched, packed (of read several, write several); 1 for an access in a transaction that its task has begun before (of
    /// read cell, write cell).
    pub argument: Option<u64>,
    /// What it read (load, read-modify-write and compare-exchange: the value before), wrote (store),
    /// or chose; the number of the message, from 0, that a send or receive is for; the permits that were
    /// free before (of acquire, try_acquire); the virtual instant in nanoseconds (of timer). Of a send to a process, an exit
    /// signal, a down and a receive on a process: the number of what arrived in its mailbox, from 0.
    pub value: Option<u64>,
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FindingRecord {
    /// The word of its kind.
    pub kind: String,
    /// The panic's message, or one sentence.
    pub message: String,
    /// The task in which it showed.
    pub task: u32,
    /// Where it showed, if at one place.
    pub place: Option<u32>,
    /// What else happened, in a sentence.
    pub aside: Option<String>,
    /// What belongs to this kind only.
    pub details: Details,
}

/// What a finding has that others have not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Details {
    /// Of a panic.
    Panic {
        /// Its backtrace, where one was asked for, without addresses.
        backtrace: Option<Backtrace>,
        /// Whether it is a failed assertion, where the language tells these from others.
        is_assertion: bool,
        /// The tasks that wait for ever after it.
        waiting: Vec<BlockedRecord>,
    },
    /// Of a deadlock or a starvation.
    Deadlock {
        /// Every blocked task.
        blocked: Vec<BlockedRecord>,
        /// Tasks each of which waits for the next, and the last for the first; empty if there is no
        /// cycle.
        cycle: Vec<u32>,
        /// All blocked tasks in the order of their waits, where there is no cycle but they chain up.
        chain: Vec<u32>,
        /// Whether nobody else could go on either.
        everybody: bool,
    },
    /// Of accesses to plain memory that nothing orders.
    DataRace {
        /// The cell.
        resource: u32,
        /// The access that came first.
        earlier: AccessRecord,
        /// The other.
        later: AccessRecord,
    },
    /// Of a livelock.
    Livelock {
        /// The yields without progress that were allowed.
        bound: u64,
    },
    /// Of an execution that was too long.
    StepLimit {
        /// The steps that were allowed.
        limit: u64,
    },
    /// Of an execution with too many tasks.
    TaskLimit {
        /// The tasks that were allowed.
        limit: u64,
    },
    /// Of an execution for whose tasks there were not enough stacks.
    OutOfStacks {
        /// Stacks that there were.
        stacks: u64,
        /// The limit that was met.
        reason: String,
    },
    /// Of a task that blocks or spins in code that is not under control.
    Stuck(StuckRecord),
    /// Of an execution that was cut since the time of the exploration was over.
    OutOfTime,
    /// Of shared references that outlived the execution.
    Leak {
        /// Each of them.
        leaks: Vec<LeakRecord>,
    },
    /// Of tasks that nobody joined.
    Unjoined {
        /// Each of them.
        tasks: Vec<u32>,
    },
    /// Of a replay that left its path.
    Divergence {
        /// The step at which it did.
        step: u64,
        /// What the recording has there.
        expected: String,
        /// What the program did.
        found: String,
        /// The path of the task that was to go, where known.
        task: Option<String>,
    },
    /// Of the others.
    Nothing,
}

/// A task that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockedRecord {
    /// Who.
    pub task: u32,
    /// The word of the operation that it waits in.
    pub operation: String,
    /// Of the park of a future, what that waits for: the method that was called for it.
    pub awaited: Option<String>,
    /// On what.
    pub resource: Option<u32>,
    /// The operation's second operand, as in [`StepRecord::argument`].
    pub argument: Option<u64>,
    /// Where it waits.
    pub place: Option<u32>,
    /// The tasks that could end the wait, as far as that is known.
    pub blockers: Vec<Blocker>,
    /// Messages in the channel that it waits on.
    pub queued: u64,
}

impl Record {
    /// Whether a wait began with a step, which is shown: not so one that the front end has told of, a join or a park.
    pub(crate) fn waits_in_a_step(&self, b: &BlockedRecord) -> bool {
        let last = self.steps.iter().rfind(|step| step.task == b.task);
        waits::may_wait(b.method()) && last.is_some_and(|step| self.outcome(step) == BLOCKED)
    }

    /// Whether it is a wait that the front end has told of: of a coroutine, or at a socket.
    pub(crate) fn is_told(&self, b: &BlockedRecord) -> bool {
        self.meta.language.facts.tells_waits && waits::may_wait(&b.operation) && !self.waits_in_a_step(b)
    }
}

impl BlockedRecord {
    /// The method that the user called to wait: that of a future, if there is one, rather than the park of its task.
    pub(crate) fn method(&self) -> &str {
        self.awaited.as_deref().unwrap_or(&self.operation)
    }

    /// What kind of thing a future waits for, by the method that was called for it.
    pub fn noun(&self) -> Option<&'static str> {
        Some(match self.awaited.as_deref()? {
            "lock" => "mutex",
            "read" | "write" => "rwlock",
            "acquire" => "semaphore",
            "send" | "recv" => "channel",
            "notified" => "notify",
            "barrier wait" => "barrier",
            "get_or_init" => "once cell",
            _ => return None,
        })
    }

    /// The operand of [`method`](Self::method); of a join, the task.
    pub(crate) fn operand(&self) -> Option<u64> {
        match self.awaited.as_deref() {
            None => self.argument,
            Some("join") => self.blockers.first().map(|joined| u64::from(joined.task)),
            Some(_) => None,
        }
    }
}

/// A task that could end another one's wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocker {
    /// Who.
    pub task: u32,
    /// Where it took, or queued for, what is waited for; of a joined task, where it was spawned.
    pub place: Option<u32>,
}

/// One side of a data race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessRecord {
    /// Who.
    pub task: u32,
    /// Its step; the operation says whether it reads or writes.
    pub step: u32,
    /// Where.
    pub place: Option<u32>,
    /// The step by which the task could have ordered the two and did not: of the earlier side, the last
    /// between them from which others can learn of the past; of the later side, the last before its
    /// access by which it could learn.
    pub sync: Option<u32>,
}

/// Shared references that outlived the execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeakRecord {
    /// Where the shared value was created.
    pub created_at: Option<u32>,
    /// References that were left.
    pub references: u64,
}

impl Record {
    /// The place with this index; none for none.
    pub fn place(&self, index: Option<u32>) -> Option<&Place> {
        self.places.get(index? as usize)
    }

    /// The word of what `step` did.
    pub fn operation(&self, step: &StepRecord) -> &str {
        self.operations.get(usize::from(step.operation)).map_or("?", String::as_str)
    }

    /// The word of what `step` came to.
    pub fn outcome(&self, step: &StepRecord) -> &str {
        self.outcomes.get(usize::from(step.outcome)).map_or("?", String::as_str)
    }

    /// The task that ended the wait before `step`, if there was one.
    pub fn granter(&self, step: &StepRecord) -> Option<u32> {
        Some(self.steps.get(step.after? as usize)?.task)
    }
}

impl std::fmt::Display for Place {
    /// `file:line`; the column is for tools.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

crate::json::object! {
    Record { version, meta, finding, tasks, resources, places, operations, outcomes, steps as steps, #[left_out] processes, #[left_out] window, #[left_out] explanation }
    Window { from, to, resource }
    Meta { test, strategy, seed as hexadecimal, iteration, executions, token, #[left_out] replay_with, #[left_out] minimised, #[left_out] language, #[left_out] command, #[left_out] package, #[left_out] target; own }
    Minimised { original, before, after, replays, replays_of_edits, complete, preempting }
    Extent { preemptions, faults, switches, data, steps }
    Place { file, line, column }
    TaskRecord { path, name, spawned_at, steps, yields, finished, panicked, #[left_out] panic }
    ResourceRecord { kind, name, created_at, id, size, from_outside }
    FindingRecord { kind, message, task, place, #[left_out] aside, details }
    BlockedRecord { task, operation, #[left_out] awaited, resource, argument, place, blockers, queued }
    Blocker { task, place }
    AccessRecord { task, step, place, sync }
    LeakRecord { created_at, references }
}

crate::json::variants! {
    TestTarget {
        texts { Lib = "lib" }
        values { Test = "test" }
    }
}

crate::json::variants! {
    Details {
        texts { OutOfTime = "out_of_time", Nothing = "nothing" }
        values { Stuck = "stuck" }
        objects {
            Panic = "panic" { #[optional] backtrace as backtrace, #[left_out] is_assertion, #[left_out] waiting },
            Deadlock = "deadlock" { blocked, cycle, chain, everybody },
            DataRace = "data_race" { resource, earlier, later },
            Livelock = "livelock" { bound },
            StepLimit = "step_limit" { limit },
            TaskLimit = "task_limit" { limit },
            OutOfStacks = "out_of_stacks" { stacks, reason },
            Leak = "leak" { leaks },
            Unjoined = "unjoined" { tasks },
            Divergence = "divergence" { step, expected, found, task },
        }
    }
}
