//! Exhaustive exploration: every class of equivalent executions, exactly once.
//!
//! Optimal dynamic partial order reduction (Abdulla, Aronis, Jonsson, Sagonas: POPL 2014) in a form in
//! which executions may be made in any order, by any number of workers. What is to be done is a
//! *tree* of steps. A leaf is a prefix that some execution has to begin with; a worker claims it,
//! replays it, and runs on freely to the end. Then every race of the execution is reversed: the steps
//! that did not come after the first of the two are followed by the second, and that sequence is put
//! into the tree beside the branch that was taken, unless an execution that begins with it has been,
//! or will be, made anyway.
//!
//! We deviate from the paper in two ways, both of them checked against brute force: a sequence is cut
//! down to what is needed to make it differ from its left neighbours, and leaves are claimed leftmost
//! first, so that the part of the tree that is done with can be forgotten.
//!
//! - `tree`: the steps to be made, and who makes them;
//! - `execution`: an execution as the explorer sees it, in names that hold for all of them;
//! - `context`: what an operation would come to in another place;
//! - `asleep`: which steps new leaves must not begin with;
//! - `reverse`: races to new leaves;
//! - `frugal`: the same with little memory, at the price of executions that bring nothing;
//! - `checkpoint` and `tally`: what is known, as bytes, for another process to go on from;
//! - [`Explorer`] and [`Exhaustive`]: shared between workers, and the strategy of each.

mod asleep;
mod checkpoint;
mod context;
mod execution;
mod frugal;
mod names;
mod reverse;
mod tally;
mod tree;

pub use checkpoint::{Header, LogError, Restored, Ticket, hash};
pub use tally::{Tally, Witness};

use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use self::checkpoint::Recorder;
use self::execution::{Analysis, Execution};
use self::frugal::Sleep;
use self::names::{Name, Names};
use self::reverse::{Reversal, Worth};
use self::tree::{NodeId, Tree};
use crate::finding::{Divergence, Finding, FindingKind};
use crate::id::TaskId;
use crate::strategy::{Strategy, View, sequential_fill};

/// A step that is to be made: by whom, and with which outcome if it is a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Planned {
    task: Name,
    choice: u64,
}

/// What the workers of an exhaustive exploration share.
#[derive(Clone)]
pub struct Explorer {
    shared: Arc<(Mutex<Shared>, Condvar)>,
}

struct Shared {
    tree: Tree,
    names: Names,
    executions: u64,
    claimed: u64,
    /// Executions that may be made.
    budget: u64,
    /// An execution was not what its prefix had promised: nothing is known any more.
    diverged: bool,
    /// Executions of which it is known what came of them; counted only if there is to be a log.
    settled: u64,
    /// Nobody may claim anything for a moment.
    paused: bool,
    recorder: Option<Recorder>,
    /// Bytes that the tree may take.
    memory: usize,
    /// It took more once; since then only the first step of each sequence is stored.
    frugal: bool,
    /// Executions that were redundant, and have not been [asked](Explorer::was_redundant) for.
    redundant: Vec<Ticket>,
    /// Workers that have nothing to do for the moment.
    waiting: usize,
    /// Left by executions that are over, for those to come.
    scratch: Vec<Scratch>,
}

/// What an execution leaves to the next one that a worker makes.
#[derive(Default)]
struct Scratch {
    analysis: Analysis,
    reversal: Reversal,
    /// By task: whose which child it was, and the name that it had been given.
    given: Vec<(Name, u32, Name)>,
    tasks: Vec<Name>,
    children: Vec<u32>,
}

/// Where an exhaustive exploration stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Executions that are over.
    pub executions: u64,
    /// Prefixes that are known to be left.
    pub pending: u64,
    /// Whether everything has been explored.
    pub exhausted: bool,
    /// Whether the program did not do again what it had done: then nothing is known.
    pub diverged: bool,
    /// Whether memory has run short, so that executions may be redundant.
    pub frugal: bool,
    /// Steps that the tree holds now.
    pub steps_held: usize,
}

impl Default for Explorer {
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl Explorer {
    /// An explorer that has everything before it, and may make `budget` executions.
    pub fn new(budget: u64) -> Self {
        Self::of(Shared::new(budget))
    }

    /// The same, with a tree that should not take more than so many bytes: if it does, the exploration
    /// becomes frugal. It is as complete as before, but makes executions that bring nothing.
    pub fn with_memory(self, bytes: usize) -> Self {
        self.lock().memory = bytes;
        self
    }

    /// Whether an execution that is over brought nothing, since one like it is made elsewhere. Can be
    /// asked once.
    pub fn was_redundant(&self, ticket: Ticket) -> bool {
        let redundant = &mut self.lock().redundant;
        match redundant.iter().position(|other| *other == ticket) {
            Some(at) => {
                redundant.swap_remove(at);
                true
            }
            None => false,
        }
    }

    fn of(shared: Shared) -> Self {
        Explorer { shared: Arc::new((Mutex::new(shared), Condvar::new())) }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits until another worker has something to say.
    fn wait<'a>(&'a self, mut shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        shared.waiting += 1;
        let mut shared = self.shared.1.wait(shared).unwrap_or_else(|e| e.into_inner());
        shared.waiting -= 1;
        shared
    }

    /// The strategy for one execution; `None` if there is nothing left to do. Waits for executions that
    /// are under way elsewhere and may bring something.
    pub fn claim(&self) -> Option<Exhaustive> {
        let mut shared = self.lock();
        let (leaf, path) = loop {
            if shared.claimed >= shared.budget || shared.diverged {
                return None;
            }
            if shared.paused {
                shared = self.wait(shared);
                continue;
            }
            match shared.tree.claim() {
                Some(claimed) => break claimed,
                None if shared.claimed == shared.executions => return None,
                None => shared = self.wait(shared),
            }
        };
        shared.claimed += 1;
        let sleep = shared.frugal.then(|| Sleep::new(shared.tree.left_of_path(leaf)));
        let mut scratch = shared.scratch.pop().unwrap_or_default();
        Some(Exhaustive {
            explorer: self.clone(),
            ticket: Ticket(shared.claimed),
            leaf,
            path,
            sleep,
            tasks: std::mem::take(&mut scratch.tasks),
            children: std::mem::take(&mut scratch.children),
            scratch,
        })
    }

    /// Where the exploration stands.
    pub fn progress(&self) -> Progress {
        let shared = self.lock();
        let pending = shared.tree.unclaimed();
        Progress {
            executions: shared.executions,
            pending,
            exhausted: pending == 0 && shared.claimed == shared.executions && !shared.diverged,
            diverged: shared.diverged,
            frugal: shared.frugal,
            steps_held: shared.tree.len(),
        }
    }
}

/// The strategy of one execution of an exhaustive exploration.
pub struct Exhaustive {
    explorer: Explorer,
    ticket: Ticket,
    leaf: NodeId,
    path: Vec<Planned>,
    /// Who is to be avoided, if the exploration is frugal.
    sleep: Option<Sleep>,
    /// By task id of this execution: the name that holds for all of them.
    tasks: Vec<Name>,
    children: Vec<u32>,
    scratch: Scratch,
}

impl Exhaustive {
    /// What to [settle](Explorer::settle) the execution with.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    fn task_named(&self, name: Name) -> Option<TaskId> {
        self.tasks.iter().position(|n| *n == name).map(|id| TaskId(id as u32))
    }

    /// The program did not do again what it did before.
    fn diverged(&self, view: &View<'_>, found: String) -> Box<Divergence> {
        self.explorer.lock().diverged = true;
        let step = view.steps().len();
        let expected = match self.path.get(step).and_then(|planned| self.task_named(planned.task)) {
            Some(task) => format!("a step of task {}", view.path(task)),
            None => "a step of a task that does not exist yet".to_owned(),
        };
        Box::new(Divergence { step: step as u64, expected, found, task: None })
    }
}

impl Strategy for Exhaustive {
    fn begin(&mut self, _seed: u64) {
        self.tasks.clear();
        self.tasks.extend([Names::MAIN, Names::CLOCK]);
        self.children.clear();
        self.children.extend([0, 0]);
        if let Some(sleep) = &mut self.sleep {
            sleep.begin();
        }
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        debug_assert_eq!(child.index(), self.tasks.len(), "tasks are numbered in the order of their creation");
        self.children[parent.index()] += 1;
        let ordinal = self.children[parent.index()];
        let (parent, at) = (self.tasks[parent.index()], child.index() - 2);
        let name = match self.scratch.given.get(at) {
            Some((of, number, name)) if (*of, *number) == (parent, ordinal) => *name,
            _ => {
                let name = self.explorer.lock().names.child(parent, ordinal);
                self.scratch.given.truncate(at);
                self.scratch.given.push((parent, ordinal, name));
                name
            }
        };
        self.tasks.push(name);
        self.children.push(0);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        match self.path.get(view.steps().len()) {
            None => Ok(match &mut self.sleep {
                Some(sleep) => sleep.pick(view, &self.tasks),
                None => sequential_fill(view),
            }),
            Some(planned) => match self.task_named(planned.task).filter(|task| view.is_ready(*task)) {
                Some(task) => Ok(task),
                None => Err(self.diverged(view, "that it cannot go".to_owned())),
            },
        }
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        // The step itself has been recorded already.
        let at = view.steps().len() - 1;
        match self.path.get(at) {
            None => Ok(match &mut self.sleep {
                Some(sleep) => sleep.choose(outcomes, view, &self.tasks),
                None => 0,
            }),
            Some(planned) if planned.choice < outcomes => Ok(planned.choice),
            Some(_) => Err(self.diverged(view, format!("a choice of {outcomes} outcomes"))),
        }
    }

    fn end(&mut self, view: &View<'_>, finding: Option<&Finding>) {
        if finding.is_some_and(|finding| finding.kind == FindingKind::Interference) {
            return; // it is run again
        }
        let made = view.steps();
        let as_planned =
            |(planned, step): (&Planned, &crate::trace::Step)| planned.task == self.tasks[step.task.index()];
        let complete = made.len() >= self.path.len() && self.path.iter().zip(made).all(as_planned);
        if !complete {
            let mut shared = self.explorer.lock();
            shared.diverged = true;
            shared.finish(self.leaf, self.ticket);
            self.explorer.shared.1.notify_all();
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let execution = scratch.analysis.of(view, &self.tasks);
        let mut shared = self.explorer.lock();
        shared.reverse(self, &execution, &mut scratch.reversal);
        shared.finish(self.leaf, self.ticket);
        scratch.tasks = std::mem::take(&mut self.tasks);
        scratch.children = std::mem::take(&mut self.children);
        shared.scratch.push(scratch);
        let somebody_waits = shared.waiting > 0;
        drop(shared);
        // It is a system call.
        if somebody_waits {
            self.explorer.shared.1.notify_all();
        }
    }
}

impl Shared {
    fn new(budget: u64) -> Self {
        Shared {
            tree: Tree::new(),
            names: Names::new(),
            executions: 0,
            claimed: 0,
            budget,
            diverged: false,
            settled: 0,
            paused: false,
            recorder: None,
            memory: usize::MAX,
            frugal: false,
            redundant: Vec::new(),
            waiting: 0,
            scratch: Vec::new(),
        }
    }

    fn reverse(&mut self, run: &Exhaustive, execution: &Execution<'_>, kept: &mut Reversal) {
        self.frugal |= self.tree.bytes() > self.memory;
        if !self.frugal {
            return reverse::all_races(&mut self.tree, run.leaf, execution, kept);
        }
        match reverse::all_races_frugally(&mut self.tree, run.leaf, execution, run.sleep.as_ref(), kept) {
            Worth::New => {}
            Worth::Redundant => self.redundant.push(run.ticket),
            Worth::Unknown => self.diverged = true,
        }
    }

    fn finish(&mut self, leaf: NodeId, ticket: Ticket) {
        self.record(leaf, ticket);
        self.tree.finish(leaf);
        self.executions += 1;
    }
}
