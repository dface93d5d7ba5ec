//! The engine: a deterministic state machine that an executor drives.
//!
//! One turn of an execution:
//!
//! 1. the running task *announces* its next operation ([`Engine::announce`]);
//! 2. tasks that were spawned or granted meanwhile run their own code up to their next announcement
//!    ([`Next::Settle`]), so that at every choice the next operation of every task is known;
//! 3. the strategy picks one of the ready tasks ([`Next::Run`]);
//! 4. that task *commits* ([`Engine::commit`]): the resource's rule is applied, the step is recorded,
//!    and the task either goes on or waits for a grant.
//!
//! No threads, no fibers, no unsafe, no I/O, no global state: it can be driven by a unit test.

mod awaits;
mod choose;
mod commit;
mod contended;
mod create;
mod early;
mod environment;
mod fix;
mod guard;
mod guest;
mod kill;
mod mishap;
mod spin;
mod teardown;
mod timer;
mod unseen;
mod view;
mod wait;

use std::sync::Arc;

use self::awaits::Awaiter;
pub use self::contended::Contended;
pub(crate) use self::early::begin_of_wait;
use self::environment::Environment;
use self::fix::Guarding;
use self::spin::{Rounds, Spinner};
use crate::behaviour::Trails;
use crate::budget::{Budget, Budgets};
use crate::ending::Ending;
use crate::guard::Armed;
use crate::id::{ResourceId, Site, TaskId};
use crate::notes::Notes;
use crate::resource::Resource;
use crate::strategy::{Strategy, Tape};
use crate::task::{Task, WaitList};
use crate::time::Timers;
use crate::trace::Step;

/// The limits and switches of one execution.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Steps after which an execution is cut, as a finding.
    pub max_steps: u64,
    /// Yields without any task making progress after which a livelock is reported.
    pub progress_bound: u64,
    /// Tasks in one execution.
    pub max_tasks: u32,
    /// What the program does not bring about, and may happen so many times per execution.
    pub budgets: Budgets,
    /// Steps for which a ready task may be passed over before it is let run regardless.
    pub starvation_bound: u64,
    /// After a failure the other tasks go on for as long as they can: what they do is part of the
    /// behaviour, and exhaustive exploration must see it.
    pub run_on: bool,
    /// The exploration is exhaustive, and a task that has repeated a round of a spin loop so many times is held until
    /// nobody else can go on; none where executions are sampled.
    pub spin_rounds: Option<u32>,
    /// All executions were asked for: what keeps an exploration from going through them is the user's mistake, not a reason to give up.
    pub all_are_wanted: bool,
    /// Somebody will ask for the [behaviour](Engine::behaviour) of the execution.
    pub behaviour: bool,
    /// Somebody is going to read what front ends note of the execution ([`Notes`]).
    pub notes: bool,
    /// The fix under which the program runs, if one is tried out.
    pub guard: Option<Arc<Armed>>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_steps: 1_000_000,
            progress_bound: 10_000,
            max_tasks: 100_000,
            budgets: Budgets::NONE,
            starvation_bound: 10_000,
            run_on: false,
            spin_rounds: None,
            all_are_wanted: false,
            behaviour: true,
            notes: false,
            guard: None,
        }
    }
}

/// What the executor is to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Let this task carry out the operation that it announced.
    Run(TaskId),
    /// Let this task run its own code up to its next announcement.
    Settle(TaskId),
    /// The execution is over: everybody has exited, or there is a finding.
    Stop,
}

/// What a commit came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Committed {
    /// Carried out, with this outcome.
    Done(u32),
    /// The task waits; the outcome is [`Engine::result`] once it is settled again.
    Wait,
}

/// The state of one execution.
pub struct Engine {
    pub(crate) tasks: Vec<Task>,
    pub(crate) resources: Vec<Resource>,
    resources_in_use: usize,
    /// By task: the process that it is, if it is one.
    pub(crate) process_of: Vec<ResourceId>,
    ready: Vec<TaskId>,
    /// Those that are to run up to their next announcement, first in, first out.
    unsettled: WaitList,
    /// The one task that is to be settled, if nothing else is pending; then `unsettled` is empty.
    settles: TaskId,
    /// Who yielded last, and how many steps there were then.
    last_yield: (TaskId, usize),
    /// The task that yielded last, kept out of `ready` until another one has made a step.
    yielded: TaskId,
    /// Rounds that tasks have made, by task; only with `Limits::spin_rounds`.
    rounds: Vec<Rounds>,
    /// Tasks that are held since their rounds repeat themselves.
    spinning: Vec<Spinner>,
    /// Held tasks that were let look once more since time passed.
    second_looks: Vec<Spinner>,
    spins_were_cut: bool,
    /// Tasks that await a value of an atomic.
    awaiting: Vec<Awaiter>,
    /// The task that serves the nodes of a cluster.
    pub(crate) serving: TaskId,
    /// What has happened at a node, by which task of the environment: the one that serves is to be told.
    pub(crate) happened: Option<(TaskId, u64)>,
    /// Tasks that were killed and have not made their last step.
    doomed: Vec<TaskId>,
    /// Everybody yields to everybody: time may pass.
    time_may_pass: bool,
    current: TaskId,
    finished: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) timers: Timers,
    limits: Limits,
    ending: Ending,
    /// What else is to be said of the execution.
    aside: Option<Box<str>>,
    pub(crate) notes: Notes,
    /// The time is over: no more steps.
    cut: bool,
    /// Nobody chooses any more: left-over tasks are being unwound.
    tearing_down: bool,
    steps_before_teardown: usize,
    pub(crate) trails: Trails,
    next_was_choice: bool,
    /// The execution is one of an exhaustive exploration, or repeats such a one ([`Strategy::is_exhaustive`]).
    pub(crate) exhaustive: bool,
    /// A choice was made within a step that others may move, without knowing of it ([`Engine::note_unmovable_choice`]).
    unmovable: bool,
    /// Tasks that have announced to choose whether something goes wrong, and of which budget that takes; only if it is exhaustive.
    mishaps: Vec<(TaskId, Budget)>,
    /// The strategy's tape, if every choice is a uniform draw from it: then nobody need be asked.
    uniform: Option<Tape>,
    /// Who was picked last, and before which step it goes on without the strategy being asked.
    goes_on: (TaskId, usize),
    yields_since_progress: u64,
    /// What is left of the budgets.
    left: Budgets,
    environment: Environment,
    /// The number of steps at which [`Engine::next`] must look beyond the ready list: 0 as soon as
    /// anything unusual is pending, else when a periodic check is due. One comparison per step.
    fast_until: usize,
    next_periodic_check: u64,
    /// This execution has had what needs attention for longer than one step: a yield, early timers.
    may_need_care: bool,
    /// What is known of the guard under which the program runs.
    guarding: Option<Box<Guarding>>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine that has not begun an execution.
    pub fn new() -> Self {
        Engine {
            tasks: Vec::new(),
            resources: Vec::new(),
            resources_in_use: 0,
            process_of: Vec::new(),
            ready: Vec::new(),
            unsettled: WaitList::EMPTY,
            settles: TaskId::NONE,
            last_yield: (TaskId::NONE, 0),
            yielded: TaskId::NONE,
            rounds: Vec::new(),
            spinning: Vec::new(),
            second_looks: Vec::new(),
            spins_were_cut: false,
            awaiting: Vec::new(),
            serving: TaskId::NONE,
            happened: None,
            doomed: Vec::new(),
            time_may_pass: false,
            current: TaskId::MAIN,
            finished: 0,
            steps: Vec::new(),
            timers: Timers::default(),
            limits: Limits::default(),
            ending: Ending::Done,
            aside: None,
            notes: Notes::default(),
            cut: false,
            tearing_down: false,
            steps_before_teardown: 0,
            trails: Trails::new(),
            next_was_choice: false,
            exhaustive: false,
            unmovable: false,
            mishaps: Vec::new(),
            uniform: None,
            goes_on: (TaskId::NONE, 0),
            yields_since_progress: 0,
            left: Budgets::NONE,
            environment: Environment::default(),
            fast_until: 0,
            next_periodic_check: u64::MAX,
            may_need_care: false,
            guarding: None,
        }
    }

    /// Forgets the last execution, keeps its memory, and creates main, which is to be settled first.
    /// The strategy is to make the choices of the execution that `seed` stands for.
    pub fn begin(&mut self, limits: &Limits, strategy: &mut dyn Strategy, seed: u64) {
        strategy.begin(seed);
        self.uniform = strategy.uniform_tape();
        self.exhaustive = strategy.is_exhaustive();
        self.unmovable = false;
        self.mishaps.clear();
        self.goes_on = (TaskId::NONE, 0);
        self.tasks.clear();
        self.resources_in_use = 0;
        self.process_of.clear();
        self.ready.clear();
        self.unsettled = WaitList::EMPTY;
        self.settles = TaskId::NONE;
        self.last_yield = (TaskId::NONE, 0);
        self.yielded = TaskId::NONE;
        self.rounds.clear();
        self.spinning.clear();
        self.second_looks.clear();
        self.spins_were_cut = false;
        self.awaiting.clear();
        self.serving = TaskId::NONE;
        self.happened = None;
        self.doomed.clear();
        self.time_may_pass = false;
        self.current = TaskId::MAIN;
        self.finished = 0;
        self.steps.clear();
        self.timers.clear();
        self.limits.clone_from(limits);
        if !self.ending.is_done() {
            self.ending = Ending::Done;
        }
        self.aside = None;
        self.notes.clear();
        self.cut = false;
        self.tearing_down = false;
        self.trails.clear();
        self.yields_since_progress = 0;
        self.left = limits.budgets;
        self.environment.clear();
        self.may_need_care = limits.budgets[Budget::EarlyFires] > 0;
        self.next_periodic_check = limits.starvation_bound.min(limits.max_steps);
        self.fast_until = 0;
        self.tasks.push(Task::new(TaskId::NONE, 0, Site::UNKNOWN, None));
        self.wind_up_clock();
        self.unsettled.push(TaskId::MAIN, &mut self.tasks);
        self.arm();
    }
}
