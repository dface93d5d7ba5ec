//! Findings: the ways in which an execution fails.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, LazyLock};

use crate::act::Awaited;
use crate::id::{ResourceId, Site, TaskId, TaskPath};
use crate::operation::OpKind;

/// A failure of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What went wrong.
    pub kind: FindingKind,
    /// The task in which it showed.
    pub task: TaskId,
    /// Steps made before it showed.
    pub step: u64,
}

/// What went wrong with the program. What ends an execution and says nothing of the program is no finding, but another
/// [`Ending`](crate::Ending).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// A panic that nobody received, a failed assertion included.
    Panic(Box<Panic>),
    /// Tasks that can never go on.
    Deadlock(Box<Deadlock>),
    /// Accesses to plain memory that nothing orders.
    DataRace(Box<DataRace>),
    /// Tasks that yield to each other for ever.
    Livelock,
    /// The execution was cut after the greatest number of steps.
    StepLimit,
    /// More tasks than allowed.
    TaskLimit,
    /// The operating system has no stack for another task.
    OutOfStacks(Box<OutOfStacks>),
    /// A task that neither makes a step nor ends: it blocks or spins in code that is not under control.
    Stuck(Box<Stuck>),
    /// No execution came to its end in the time there was. Of an exploration, not of an execution.
    OutOfTime,
    /// Shared references that were still alive when the execution was over.
    Leak(Vec<Leak>),
    /// Tasks whose handles were dropped without a join, where the test asks for that.
    Unjoined(Vec<TaskId>),
    /// The program behaved differently when its schedule was repeated.
    Divergence(Box<Divergence>),
    /// No execution had a choice: nothing that matters was under control. Of an exploration, not of an execution.
    NothingExplored,
}

/// What others have to know of a kind. What is said of most kinds need not be said of a new one.
impl FindingKind {
    /// Whether nothing that comes after it means anything: unlike a panic or a deadlock of some tasks,
    /// after which the others can go on.
    pub fn ends_execution(&self) -> bool {
        !matches!(self, FindingKind::Panic(_) | FindingKind::Deadlock(_))
    }

    /// Whether its schedule can be followed again: not where the same choices do not lead to the same steps, or to no end.
    pub fn has_schedule(&self) -> bool {
        !matches!(self, FindingKind::Divergence(_) | FindingKind::NothingExplored | FindingKind::OutOfTime)
    }

    /// Whether it is worth the time to follow its schedule again: not where that took all the time or all the stacks
    /// there are.
    pub fn comes_back(&self) -> bool {
        !matches!(self, FindingKind::Stuck(_) | FindingKind::OutOfTime | FindingKind::OutOfStacks(_))
    }

    /// Whether it is looked for when the execution is over.
    pub fn is_found_afterwards(&self) -> bool {
        matches!(self, FindingKind::DataRace(_) | FindingKind::Leak(_) | FindingKind::Unjoined(_))
    }

    /// Whether the program is wrong for certain; else nobody knows, since it was not followed to its end, or nothing of
    /// it was under control.
    pub fn is_certain(&self) -> bool {
        !matches!(
            self,
            FindingKind::Divergence(_)
                | FindingKind::StepLimit
                | FindingKind::TaskLimit
                | FindingKind::OutOfStacks(_)
                | FindingKind::Stuck(_)
                | FindingKind::NothingExplored
                | FindingKind::OutOfTime
        )
    }

    /// The word that reports, files and tests use.
    pub fn word(&self) -> &'static str {
        match self {
            FindingKind::Panic(panic) if panic.about == About::History => "not linearizable",
            FindingKind::Panic(_) => "panic",
            FindingKind::Deadlock(deadlock) if deadlock.is_starvation() => "starvation",
            FindingKind::Deadlock(_) => "deadlock",
            FindingKind::DataRace(_) => "data race",
            FindingKind::Livelock => "livelock",
            FindingKind::StepLimit => "step limit",
            FindingKind::TaskLimit | FindingKind::OutOfStacks(_) => "task limit",
            FindingKind::Stuck(_) => "stuck task",
            FindingKind::OutOfTime => "out of time",
            FindingKind::Leak(_) => "leak",
            FindingKind::Unjoined(_) => "unjoined task",
            FindingKind::Divergence(_) => "divergence",
            FindingKind::NothingExplored => "nothing explored",
        }
    }
}

/// A panic as it was caught.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Panic {
    /// Its message.
    pub message: String,
    /// `file:line:column` of the panic.
    pub location: String,
    /// Its backtrace, where one was asked for.
    pub backtrace: Option<Backtrace>,
    /// What it is about.
    pub about: About,
    /// Who waits for ever after it. If the panic is one that the program looks after, that is the failure.
    pub waiting: Option<Box<Deadlock>>,
}

/// What a panic is about, as whoever panics says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum About {
    /// Nothing in particular.
    #[default]
    Anything,
    /// An assertion, where the language tells these from others.
    Assertion,
    /// A history: what clients have seen of an object is not linearizable.
    History,
}

/// The text of a backtrace, made when it is first read: finding the names in it takes longer than an
/// exploration may.
#[derive(Clone)]
pub struct Backtrace(Arc<LazyLock<String, Box<dyn FnOnce() -> String + Send>>>);

impl Backtrace {
    /// A backtrace whose text `render` makes.
    pub fn new(render: impl FnOnce() -> String + Send + 'static) -> Self {
        Backtrace(Arc::new(LazyLock::new(Box::new(render))))
    }

    /// Its text; empty if nothing in it is worth showing.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Backtrace {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Backtrace {}

impl fmt::Debug for Backtrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

// The text is made at most once; a panic meanwhile leaves a lock that says so.
impl UnwindSafe for Backtrace {}
impl RefUnwindSafe for Backtrace {}

/// Two accesses to one cell by different tasks, at least one of them a write, neither of which happens
/// before the other ([`crate::race`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataRace {
    /// The cell.
    pub cell: ResourceId,
    /// The access that came first, in this execution.
    pub earlier: CellAccess,
    /// The other.
    pub later: CellAccess,
}

impl DataRace {
    /// The finding: it showed with the later access.
    pub fn finding(self) -> Finding {
        Finding { task: self.later.task, step: self.later.step + 1, kind: FindingKind::DataRace(Box::new(self)) }
    }
}

/// One side of a data race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellAccess {
    /// Who.
    pub task: TaskId,
    /// The index of its step.
    pub step: u64,
    /// Where.
    pub site: Site,
    /// A read or a write of a cell.
    pub kind: OpKind,
    /// The step by which the task could have ordered them and did not: of the earlier side, the last
    /// between the two accesses from which others can learn of the past; of the later side, the last
    /// before its access by which it could learn.
    pub sync: Option<u64>,
}

/// Where a task stands that does not come back, and what it keeps from others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stuck {
    /// For how many seconds it has not made a step.
    pub seconds: u64,
    /// Whether its OS thread sleeps, in a lock or a system call, rather than being busy.
    pub sleeps: bool,
    /// The user's frames, the innermost first.
    pub stack: Vec<Frame>,
    /// What it holds, and where it took each.
    pub holds: Vec<(ResourceId, Site)>,
    /// The other tasks that have not ended, and the operation that each is about to make, or waits in.
    pub others: Vec<Standing>,
    /// The execution was over, and the task was being unwound: it stands in a destructor.
    pub in_teardown: bool,
}

/// The operation before which a task stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Who.
    pub task: TaskId,
    /// What it is about to do, or waits in.
    pub kind: OpKind,
    /// On what.
    pub resource: ResourceId,
    /// Where.
    pub site: Site,
}

/// A function on a stack.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Its name.
    pub function: String,
    /// `file:line:column` of the line in it that is being executed; empty if unknown.
    pub location: String,
}

/// Why there was no stack for another task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutOfStacks {
    /// Stacks that there were.
    pub stacks: u64,
    /// The limit that was met, in words.
    pub reason: String,
}

/// A resource that outlived its execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leak {
    /// Where it was created.
    pub created_at: Site,
    /// References that were left.
    pub references: u64,
}

/// Who was blocked when nobody could go on, or when a cycle closed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Deadlock {
    /// Every blocked task.
    pub blocked: Vec<Blocked>,
    /// Tasks each of which waits for the next, and the last for the first; empty if there is no cycle.
    pub cycle: Vec<TaskId>,
    /// Nobody else goes on, either: who is blocked keeps the thread that all of them need.
    pub stands_still: bool,
}

impl Deadlock {
    /// All wait, but not for each other: for an event that nobody will bring about.
    ///
    /// A join of a task that is stuck is a consequence, so joins alone do not make a deadlock.
    pub fn is_starvation(&self) -> bool {
        let chain = self.chain();
        let waits_for_another = |task: &TaskId| self.blocked.iter().any(|b| b.task == *task && !b.joins());
        self.cycle.is_empty() && !chain.iter().rev().skip(1).any(waits_for_another)
    }

    /// One waits, for a reader–writer lock that prefers others, and these can go on.
    pub fn is_passed_over(&self) -> bool {
        matches!(self.blocked[..], [Blocked { kind: OpKind::Read | OpKind::Write, arg: 1.., .. }])
    }

    /// All blocked tasks, if there are several and their waits chain up: each waits for the next, the
    /// last for nobody who is blocked. Empty if not.
    pub fn chain(&self) -> Vec<TaskId> {
        /// Beyond this a chain explains nothing.
        const LONGEST: usize = 32;
        let count = self.blocked.len();
        if !self.cycle.is_empty() || !(2..=LONGEST).contains(&count) {
            return Vec::new();
        }
        let chain_from = |first: &Blocked| {
            let mut chain = vec![first.task];
            let mut at = first;
            while let Some(next) = self.blocked.iter().find(|b| at.blockers.iter().any(|(task, _)| *task == b.task)) {
                if chain.contains(&next.task) {
                    break;
                }
                chain.push(next.task);
                at = next;
            }
            chain
        };
        self.blocked.iter().map(chain_from).find(|chain| chain.len() == count).unwrap_or_default()
    }
}

/// A task that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// Who.
    pub task: TaskId,
    /// What it waits in.
    pub kind: OpKind,
    /// On what.
    pub resource: ResourceId,
    /// The operation's second operand (of a join: the task).
    pub arg: u64,
    /// Of a task that is parked for a future, what that waits for at the resource, if it has said so.
    pub awaited: Option<Awaited>,
    /// Where it waits.
    pub site: Site,
    /// The tasks that could end the wait, with the place where each took what is waited for.
    pub blockers: Vec<(TaskId, Site)>,
    /// Messages in a channel that is waited on.
    pub queued: u64,
}

impl Blocked {
    /// Whether it waits for the end of a task.
    fn joins(&self) -> bool {
        self.kind.joins() || matches!(self.awaited, Some(Awaited::Task(_)))
    }

    /// Whether it waits to be notified: who has done so before says nothing of who would have to do it now.
    pub(crate) fn waits_for_notification(&self) -> bool {
        self.kind.waits_for_notification() || self.awaited == Some(Awaited::Notification)
    }
}

/// A replay that left its path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The step at which it did.
    pub step: u64,
    /// What the recording has there.
    pub expected: String,
    /// What the program did.
    pub found: String,
    /// The task that was to go, where known.
    pub task: Option<TaskPath>,
}
