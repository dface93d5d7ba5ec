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

use std::collections::VecDeque;

use crate::finding::{Divergence, Finding, FindingKind};
use crate::id::{ResourceId, Site, TaskId, TaskPath};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::{Resource, State};
use crate::strategy::{Strategy, View};
use crate::task::{NOT_READY, Status, Task};
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
    /// Timers that may fire before everything is quiet, per execution.
    pub early_fires: u32,
    /// Steps for which a ready task may be passed over before it is let run regardless.
    pub starvation_bound: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_steps: 1_000_000,
            progress_bound: 10_000,
            max_tasks: 100_000,
            early_fires: 0,
            starvation_bound: 10_000,
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
    /// The task waits; the outcome is [`Engine::granted`] once it is settled again.
    Wait,
}

/// The state of one execution.
pub struct Engine {
    pub(crate) tasks: Vec<Task>,
    pub(crate) resources: Vec<Resource>,
    resources_in_use: usize,
    ready: Vec<TaskId>,
    unsettled: VecDeque<TaskId>,
    /// The task that yielded last, kept out of `ready` until another one has made a step.
    yielded: TaskId,
    current: TaskId,
    finished: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) timers: Timers,
    limits: Limits,
    finding: Option<Finding>,
    /// Nobody chooses any more: left-over tasks are being unwound.
    tearing_down: bool,
    next_was_choice: bool,
    choices: u64,
    yields_since_progress: u64,
    early_fires_left: u32,
    next_starvation_check: u64,
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
            ready: Vec::new(),
            unsettled: VecDeque::new(),
            yielded: TaskId::NONE,
            current: TaskId::MAIN,
            finished: 0,
            steps: Vec::new(),
            timers: Timers::default(),
            limits: Limits::default(),
            finding: None,
            tearing_down: false,
            next_was_choice: false,
            choices: 0,
            yields_since_progress: 0,
            early_fires_left: 0,
            next_starvation_check: u64::MAX,
        }
    }

    /// Forgets the last execution, keeps its memory, and creates main, which is to be settled first.
    pub fn begin(&mut self, limits: &Limits) {
        self.tasks.clear();
        self.resources_in_use = 0;
        self.ready.clear();
        self.unsettled.clear();
        self.yielded = TaskId::NONE;
        self.current = TaskId::MAIN;
        self.finished = 1; // the clock never exits
        self.steps.clear();
        self.timers.clear();
        self.limits.clone_from(limits);
        self.finding = None;
        self.tearing_down = false;
        self.choices = 0;
        self.yields_since_progress = 0;
        self.early_fires_left = limits.early_fires;
        self.next_starvation_check = limits.starvation_bound.min(limits.max_steps);
        self.tasks.push(Task::new(TaskId::NONE, 0, Site::UNKNOWN, None));
        let mut clock = Task::new(TaskId::NONE, 0, Site::UNKNOWN, None);
        clock.status = Status::Disabled;
        clock.pending.kind = OpKind::TimerFire;
        self.tasks.push(clock);
        self.unsettled.push_back(TaskId::MAIN);
    }

    // ── what is there ────────────────────────────────────────────────────────────────────────────

    /// The task that made the last step or is running its own code.
    #[inline]
    pub fn current(&self) -> TaskId {
        self.current
    }

    /// All tasks, by id.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// One task.
    #[inline]
    pub fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id.index()]
    }

    /// All resources, by id.
    pub fn resources(&self) -> &[Resource] {
        &self.resources[..self.resources_in_use]
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The limits of this execution.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What has gone wrong, if anything.
    pub fn finding(&self) -> Option<&Finding> {
        self.finding.as_ref()
    }

    /// Choices so far at which two or more tasks, or two or more outcomes, were possible.
    pub fn choices(&self) -> u64 {
        self.choices
    }

    /// Virtual time since the execution began, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.timers.now()
    }

    /// The name of a task that is the same in every execution.
    pub fn path(&self, task: TaskId) -> TaskPath {
        if task == TaskId::CLOCK {
            return TaskPath(Vec::new());
        }
        let mut parts = Vec::new();
        let mut at = task;
        while at != TaskId::NONE {
            let task = &self.tasks[at.index()];
            parts.push(task.ordinal);
            at = task.parent;
        }
        parts.reverse();
        TaskPath(parts)
    }

    /// The happens-before hash of the execution so far: equal for schedules that differ only in the
    /// order of independent steps.
    pub fn behaviour(&self) -> u64 {
        self.tasks
            .iter()
            .enumerate()
            .fold(0, |sum, (i, task)| sum ^ mix(task.behaviour, self.path_hash(TaskId(i as u32))))
    }

    fn path_hash(&self, task: TaskId) -> u64 {
        let mut hash = 0x51;
        let mut at = task;
        while at != TaskId::NONE {
            hash = mix(hash, u64::from(self.tasks[at.index()].ordinal) + 1);
            at = self.tasks[at.index()].parent;
        }
        hash
    }

    // ── creation ─────────────────────────────────────────────────────────────────────────────────

    /// Registers a resource that `task` is about to touch for the first time.
    pub fn create_resource(&mut self, task: TaskId, kind: ResourceKind, state: State, created_at: Site) -> ResourceId {
        let creator = &mut self.tasks[task.index()];
        creator.resources_created += 1;
        let ordinal = creator.resources_created;
        let id = ResourceId(self.resources_in_use as u32);
        match self.resources.get_mut(id.index()) {
            Some(old) => old.renew(kind, state, task, ordinal, created_at),
            None => self.resources.push(Resource::new(kind, state, task, ordinal, created_at)),
        }
        self.resources_in_use += 1;
        id
    }

    /// Its owner has dropped the resource: it cannot leak any more.
    pub fn drop_resource(&mut self, id: ResourceId) {
        self.resources[id.index()].dropped = true;
    }

    /// The resource was there before this execution.
    pub fn mark_from_outside(&mut self, id: ResourceId) {
        self.resources[id.index()].from_outside = true;
    }

    /// Gives a resource a name for reports.
    pub fn name_resource(&mut self, id: ResourceId, name: &str) {
        self.resources[id.index()].name = Some(name.into());
    }

    /// Gives a task a name for reports.
    pub fn name_task(&mut self, id: TaskId, name: &str) {
        self.tasks[id.index()].name = Some(name.into());
    }

    /// Creates a child of `parent`, to be settled before the next choice. Call it between the
    /// parent's `Spawn` commit and its next announcement.
    pub fn spawn(&mut self, parent: TaskId, spawned_at: Site, name: Option<Box<str>>, strategy: &mut dyn Strategy) -> TaskId {
        let parent_task = &mut self.tasks[parent.index()];
        parent_task.children += 1;
        let ordinal = parent_task.children;
        let inherited = parent_task.behaviour;
        let child = TaskId(self.tasks.len() as u32);
        let mut task = Task::new(parent, ordinal, spawned_at, name);
        task.granted_by = self.steps.len() as u32;
        task.behaviour = mix(inherited, u64::from(ordinal));
        self.tasks.push(task);
        self.unsettled.push_back(child);
        if let Some(step) = self.steps.last_mut() {
            step.arg = u64::from(child.0);
        }
        strategy.spawned(parent, child);
        if self.tasks.len() as u64 > u64::from(self.limits.max_tasks) {
            self.fail(FindingKind::TaskLimit, parent);
        }
        child
    }

    // ── the turn ─────────────────────────────────────────────────────────────────────────────────

    /// Takes note of what `task` does next.
    #[inline]
    pub fn announce(&mut self, task: TaskId, operation: Operation) {
        let t = &mut self.tasks[task.index()];
        t.pending = operation;
        if self.enabled(task, &operation) {
            // A task that goes on after its own step is still in the ready list.
            let t = &mut self.tasks[task.index()];
            t.status = Status::Ready;
            if t.ready_at == NOT_READY && self.yielded != task {
                self.make_ready(task);
            }
        } else {
            self.disable(task, &operation);
        }
    }

    /// Gives the wait that `task` is about to enter an end at virtual instant `deadline`.
    pub fn set_deadline(&mut self, task: TaskId, deadline: Option<u64>) {
        self.tasks[task.index()].deadline = deadline;
    }

    #[inline]
    fn enabled(&self, task: TaskId, operation: &Operation) -> bool {
        match operation.kind {
            OpKind::Join => self.tasks[operation.arg as usize].status == Status::Finished,
            OpKind::Park => self.tasks[task.index()].park_token,
            OpKind::Sleep => operation.arg <= self.timers.now(),
            _ => true,
        }
    }

    #[cold]
    fn disable(&mut self, task: TaskId, operation: &Operation) {
        self.remove_ready(task);
        if self.yielded == task {
            self.yielded = TaskId::NONE;
        }
        self.tasks[task.index()].status = Status::Disabled;
        match operation.kind {
            OpKind::Join => {
                let target = operation.arg as usize;
                let mut joiners = self.tasks[target].joiners;
                joiners.push(task, &mut self.tasks);
                self.tasks[target].joiners = joiners;
            }
            OpKind::Sleep => self.tasks[task.index()].deadline = Some(operation.arg),
            _ => {}
        }
        self.start_timer(task);
        self.look_for_cycle(task);
    }

    /// Decides what happens now. Call it after every announcement, wait and exit.
    #[inline]
    pub fn next(&mut self, strategy: &mut dyn Strategy) -> Next {
        if self.finding.is_some() {
            return Next::Stop;
        }
        if let Some(task) = self.unsettled.pop_front() {
            self.current_for_settling(task);
            return Next::Settle(task);
        }
        if self.steps.len() as u64 >= self.next_starvation_check {
            if let Some(next) = self.periodic_checks() {
                return next;
            }
        }
        let timers_may_fire = self.early_fires_left > 0 && self.timers.pending();
        if self.ready.len() == 1 && !timers_may_fire {
            self.next_was_choice = false;
            let only = self.ready[0];
            self.current = only;
            return Next::Run(only);
        }
        if self.ready.len() > 1 && !timers_may_fire {
            let view = View { engine: self, ready: &self.ready, current: self.current };
            return match strategy.pick(&view) {
                Ok(task) => {
                    debug_assert!(self.ready.contains(&task), "a strategy picked a task that is not ready");
                    self.next_was_choice = true;
                    self.choices += 1;
                    self.current = task;
                    Next::Run(task)
                }
                Err(divergence) => self.diverge(divergence),
            };
        }
        self.next_unusual(strategy)
    }

    fn current_for_settling(&mut self, task: TaskId) {
        // Settling is nobody's turn: `current` stays the task that made the last step. Only the
        // status changes, so that the task is not settled twice.
        self.tasks[task.index()].status = Status::Ready;
    }

    /// Nobody is ready, or timers take part in the choice.
    #[cold]
    fn next_unusual(&mut self, strategy: &mut dyn Strategy) -> Next {
        loop {
            if self.ready.is_empty() && self.yielded != TaskId::NONE {
                let task = std::mem::replace(&mut self.yielded, TaskId::NONE);
                self.make_ready(task);
            }
            self.timers.forget_stale(&self.tasks);
            let early = !self.ready.is_empty();
            if early && (self.early_fires_left == 0 || !self.timers.pending()) {
                return self.next(strategy);
            }
            if !self.timers.pending() {
                return self.nobody_can_go_on(strategy);
            }
            if early {
                // The clock is one more ready task, whose operation is the earliest timer.
                self.describe_clock();
                self.make_ready(TaskId::CLOCK);
                let view = View { engine: self, ready: &self.ready, current: self.current };
                let picked = strategy.pick(&view);
                self.remove_ready(TaskId::CLOCK);
                match picked {
                    Err(divergence) => return self.diverge(divergence),
                    Ok(TaskId::CLOCK) => {
                        self.choices += 1;
                        self.next_was_choice = true;
                        self.early_fires_left -= 1;
                    }
                    Ok(task) => {
                        self.choices += 1;
                        self.next_was_choice = true;
                        self.current = task;
                        return Next::Run(task);
                    }
                }
            } else {
                self.next_was_choice = false;
            }
            self.fire_timer();
            if let Some(task) = self.unsettled.pop_front() {
                self.current_for_settling(task);
                return Next::Settle(task);
            }
        }
    }

    /// Carries out what `task` announced, as far as it is the engine's to carry out.
    #[inline]
    pub fn commit(&mut self, task: TaskId, strategy: &mut dyn Strategy) -> Committed {
        let t = &mut self.tasks[task.index()];
        let operation = t.pending;
        t.steps += 1;
        let after = std::mem::take(&mut t.granted_by);
        let step = self.steps.len() as u64;
        t.last_step = step;
        self.steps.push(Step {
            site: operation.site,
            arg: operation.arg,
            value: 0,
            resource: operation.resource,
            task,
            after,
            outcome: 0,
            kind: operation.kind,
            was_choice: self.next_was_choice,
        });
        if self.yielded != TaskId::NONE && self.yielded != task {
            let other = std::mem::replace(&mut self.yielded, TaskId::NONE);
            self.make_ready(other);
        }
        self.extend_behaviour(task, &operation);
        let id = operation.resource;
        let committed = match operation.kind {
            OpKind::Load | OpKind::Store | OpKind::Rmw | OpKind::Cas | OpKind::CellRead | OpKind::CellWrite => {
                return Committed::Done(outcome::OK);
            }
            OpKind::Lock => self.commit_lock(task, id),
            OpKind::Unlock => self.commit_unlock(task, id),
            _ => self.commit_rare(task, &operation, strategy),
        };
        if let Committed::Done(result) = committed {
            if result != outcome::OK {
                self.note_outcome(step, result);
            }
        }
        committed
    }

    fn note_outcome(&mut self, step: u64, result: u32) {
        self.steps[step as usize].outcome = result as u16;
    }

    fn commit_rare(&mut self, task: TaskId, operation: &Operation, strategy: &mut dyn Strategy) -> Committed {
        let id = operation.resource;
        match operation.kind {
            OpKind::TryLock => self.commit_try_lock(task, id),
            OpKind::Read | OpKind::Write | OpKind::TryRead | OpKind::TryWrite => {
                self.commit_rwlock(task, id, operation.kind)
            }
            OpKind::ReadUnlock => self.commit_rwlock_unlock(task, id, false),
            OpKind::WriteUnlock => self.commit_rwlock_unlock(task, id, true),
            OpKind::Downgrade => self.commit_downgrade(id),
            OpKind::CondWait => self.commit_cond_wait(task, id, ResourceId(operation.arg as u32)),
            OpKind::NotifyOne => self.commit_notify(id, 1),
            OpKind::NotifyAll => self.commit_notify(id, usize::MAX),
            OpKind::Acquire => self.commit_acquire(task, id, operation.arg, true),
            OpKind::TryAcquire => self.commit_acquire(task, id, operation.arg, false),
            OpKind::Release => self.commit_release(id, operation.arg),
            OpKind::Arrive => self.progress(|engine| engine.commit_arrive(task, id)),
            OpKind::OnceEnter => self.commit_once_enter(task, id),
            OpKind::OnceFinish => self.commit_once_finish(id, operation.arg == 1),
            OpKind::OnceCheck => self.commit_once_check(id),
            OpKind::Send => self.progress(|engine| engine.commit_send(task, id, true)),
            OpKind::TrySend => self.commit_send(task, id, false),
            OpKind::Recv => self.progress(|engine| engine.commit_recv(task, id, true)),
            OpKind::TryRecv => self.commit_recv(task, id, false),
            OpKind::CloseSend => self.progress(|engine| engine.commit_close_send(id)),
            OpKind::CloseRecv => self.progress(|engine| engine.commit_close_recv(id)),
            OpKind::Choose => self.commit_choose(task, operation.arg, strategy),
            OpKind::Yield => self.commit_yield(task),
            OpKind::Exit => self.progress(|engine| engine.commit_exit(task)),
            OpKind::Spawn | OpKind::Join => self.progress(|_| Committed::Done(outcome::OK)),
            OpKind::IsFinished => {
                let finished = self.tasks[operation.arg as usize].status == Status::Finished;
                Committed::Done(if finished { outcome::OK } else { outcome::REFUSED })
            }
            OpKind::Park => {
                let t = &mut self.tasks[task.index()];
                let woken = std::mem::take(&mut t.park_token);
                t.deadline = None;
                Committed::Done(if woken { outcome::OK } else { outcome::TIMED_OUT })
            }
            OpKind::Unpark => {
                let target = TaskId(operation.arg as u32);
                let t = &mut self.tasks[target.index()];
                t.park_token = true;
                if t.status == Status::Disabled && t.pending.kind == OpKind::Park {
                    self.enable(target);
                }
                Committed::Done(outcome::OK)
            }
            OpKind::Sleep | OpKind::Now | OpKind::Fence | OpKind::Start => Committed::Done(outcome::OK),
            OpKind::Load | OpKind::Store | OpKind::Rmw | OpKind::Cas | OpKind::CellRead | OpKind::CellWrite
            | OpKind::Lock | OpKind::Unlock => unreachable!("carried out by commit itself"),
            OpKind::TimerFire => unreachable!("a timer is fired by the engine, not by a task"),
        }
    }

    fn progress(&mut self, commit: impl FnOnce(&mut Self) -> Committed) -> Committed {
        self.yields_since_progress = 0;
        commit(self)
    }

    fn commit_choose(&mut self, task: TaskId, outcomes: u64, strategy: &mut dyn Strategy) -> Committed {
        let chosen = if outcomes < 2 || self.tearing_down {
            0
        } else {
            self.choices += 1;
            let view = View { engine: self, ready: &self.ready, current: task };
            match strategy.choose(outcomes, &view) {
                Ok(chosen) => chosen,
                Err(divergence) => {
                    self.diverge(divergence);
                    0
                }
            }
        };
        self.note_value(chosen);
        Committed::Done(outcome::OK)
    }

    fn commit_yield(&mut self, task: TaskId) -> Committed {
        self.tasks[task.index()].yields += 1;
        self.yields_since_progress += 1;
        if self.yields_since_progress > self.limits.progress_bound {
            self.fail(FindingKind::Livelock, task);
        }
        self.remove_ready(task);
        self.yielded = task;
        Committed::Done(outcome::OK)
    }

    fn commit_exit(&mut self, task: TaskId) -> Committed {
        self.remove_ready(task);
        if self.yielded == task {
            self.yielded = TaskId::NONE;
        }
        let t = &mut self.tasks[task.index()];
        t.status = Status::Finished;
        let mut joiners = t.joiners;
        self.finished += 1;
        while let Some(joiner) = joiners.pop(&mut self.tasks) {
            self.enable(joiner);
            self.tasks[joiner.index()].granted_by = self.steps.len() as u32;
        }
        self.tasks[task.index()].joiners = joiners;
        Committed::Done(outcome::OK)
    }

    // ── waiting and granting ─────────────────────────────────────────────────────────────────────

    /// `task` has taken its ticket and waits. (Its place in a queue is the caller's business.)
    #[cold]
    pub(crate) fn wait(&mut self, task: TaskId) -> Committed {
        self.remove_ready(task);
        self.tasks[task.index()].status = Status::Waiting;
        self.start_timer(task);
        self.look_for_cycle(task);
        Committed::Wait
    }

    /// Ends the wait of `task`.
    pub(crate) fn grant(&mut self, task: TaskId, result: u32) {
        let t = &mut self.tasks[task.index()];
        t.status = Status::Unsettled;
        t.grant = result;
        t.granted_by = self.steps.len() as u32;
        t.deadline = None;
        t.timer = t.timer.wrapping_add(1);
        self.unsettled.push_back(task);
    }

    /// What the wait that has just ended came to.
    pub fn granted(&self, task: TaskId) -> u32 {
        self.tasks[task.index()].grant
    }

    /// Whether `task` still waits.
    pub fn is_waiting(&self, task: TaskId) -> bool {
        matches!(self.tasks[task.index()].status, Status::Waiting | Status::Disabled)
    }

    /// What `task` announced can be carried out now.
    pub(crate) fn enable(&mut self, task: TaskId) {
        let t = &mut self.tasks[task.index()];
        t.status = Status::Ready;
        t.deadline = None;
        t.timer = t.timer.wrapping_add(1);
        self.make_ready(task);
    }

    #[inline]
    fn make_ready(&mut self, task: TaskId) {
        let t = &mut self.tasks[task.index()];
        if t.ready_at == NOT_READY {
            t.ready_at = self.ready.len() as u32;
            t.last_step = self.steps.len() as u64;
            self.ready.push(task);
        }
    }

    fn remove_ready(&mut self, task: TaskId) {
        let at = std::mem::replace(&mut self.tasks[task.index()].ready_at, NOT_READY);
        if at != NOT_READY {
            self.ready.swap_remove(at as usize);
            if let Some(moved) = self.ready.get(at as usize) {
                self.tasks[moved.index()].ready_at = at;
            }
        }
    }

    /// Records what the last step read, wrote, sent or chose.
    #[inline]
    pub fn note_value(&mut self, value: u64) {
        if let Some(step) = self.steps.last_mut() {
            step.value = value;
        }
    }

    /// Records that the last step's comparison failed.
    #[inline]
    pub fn note_refused(&mut self) {
        if let Some(step) = self.steps.last_mut() {
            step.outcome = outcome::REFUSED as u16;
        }
    }

    // ── guards around every strategy ─────────────────────────────────────────────────────────────

    /// The step limit, and the starvation guard: a task that was ready for `starvation_bound` steps
    /// without being let run is let run now, whatever the strategy thinks.
    #[cold]
    fn periodic_checks(&mut self) -> Option<Next> {
        let now = self.steps.len() as u64;
        if now >= self.limits.max_steps {
            self.fail(FindingKind::StepLimit, self.current);
            return Some(Next::Stop);
        }
        let bound = self.limits.starvation_bound;
        self.next_starvation_check = now.saturating_add(bound).min(self.limits.max_steps);
        let starved = self
            .ready
            .iter()
            .copied()
            .filter(|t| self.tasks[t.index()].last_step.saturating_add(bound) <= now)
            .min_by_key(|t| self.tasks[t.index()].last_step)?;
        if self.ready.len() < 2 {
            return None;
        }
        self.next_was_choice = true;
        self.choices += 1;
        self.current = starved;
        Some(Next::Run(starved))
    }

    /// Stops the execution because of `kind`, with `task` at fault, unless something was found before.
    #[cold]
    pub fn fail(&mut self, kind: FindingKind, task: TaskId) {
        if self.finding.is_none() && !self.tearing_down {
            self.finding = Some(Finding { kind, task, step: self.steps.len() as u64 });
        }
    }

    fn diverge(&mut self, divergence: Box<Divergence>) -> Next {
        self.fail(FindingKind::Divergence(divergence), self.current);
        Next::Stop
    }

    fn nobody_can_go_on(&mut self, strategy: &mut dyn Strategy) -> Next {
        if self.finished < self.tasks.len() {
            let blocked = self.blocked_now();
            self.fail(FindingKind::Deadlock(Box::new(blocked)), self.current);
            return Next::Stop;
        }
        let view = View { engine: self, ready: &self.ready, current: self.current };
        match strategy.finish(&view) {
            Ok(()) => Next::Stop,
            Err(divergence) => self.diverge(divergence),
        }
    }

    fn look_for_cycle(&mut self, task: TaskId) {
        if self.tearing_down || self.tasks[task.index()].deadline.is_some() {
            return;
        }
        if let Some(cycle) = self.cycle_through(task) {
            let mut blocked = self.blocked_now();
            blocked.cycle = cycle;
            self.fail(FindingKind::Deadlock(Box::new(blocked)), task);
        }
    }

    // ── virtual time ─────────────────────────────────────────────────────────────────────────────

    fn start_timer(&mut self, task: TaskId) {
        let t = &mut self.tasks[task.index()];
        if let Some(deadline) = t.deadline {
            t.timer = t.timer.wrapping_add(1);
            self.timers.start(deadline, task, t.timer);
        }
    }

    /// Makes the clock's pending operation that of the earliest timer.
    fn describe_clock(&mut self) {
        self.timers.forget_stale(&self.tasks);
        if let Some(task) = self.timers.earliest() {
            let pending = self.tasks[task.index()].pending;
            self.tasks[TaskId::CLOCK.index()].pending = Operation {
                kind: OpKind::TimerFire,
                arg: u64::from(task.0),
                ..pending
            };
        }
    }

    /// Moves virtual time to the earliest timer and ends the wait that it belongs to.
    fn fire_timer(&mut self) {
        self.describe_clock();
        let Some(task) = self.timers.fire() else { return };
        let pending = self.tasks[task.index()].pending;
        self.steps.push(Step {
            site: pending.site,
            arg: u64::from(task.0),
            value: self.timers.now(),
            resource: pending.resource,
            task: TaskId::CLOCK,
            after: 0,
            outcome: 0,
            kind: OpKind::TimerFire,
            was_choice: self.next_was_choice,
        });
        self.current = TaskId::CLOCK;
        self.tasks[TaskId::CLOCK.index()].steps += 1;
        self.yields_since_progress = 0;
        match self.tasks[task.index()].status {
            Status::Disabled => {
                self.enable(task);
                self.tasks[task.index()].granted_by = self.steps.len() as u32;
            }
            Status::Waiting => {
                self.leave_queue(task, &pending);
                self.grant(task, outcome::TIMED_OUT);
            }
            Status::Ready | Status::Unsettled | Status::Finished => {
                unreachable!("a timer that is not stale belongs to a wait")
            }
        }
    }

    /// Takes a task whose wait ends without a grant out of its queue.
    fn leave_queue(&mut self, task: TaskId, pending: &Operation) {
        let id = pending.resource;
        let resource = &mut self.resources[id.index()];
        resource.waiters.remove(task, &mut self.tasks);
        resource.senders.remove(task, &mut self.tasks);
        match pending.kind {
            OpKind::Recv => self.return_recv_ticket(id),
            OpKind::Read | OpKind::Write => self.grant_rwlock(id),
            OpKind::Acquire => self.grant_semaphore(id),
            _ => {}
        }
    }

    // ── teardown ─────────────────────────────────────────────────────────────────────────────────

    /// From now on nobody chooses: operations of destructors are carried out as they come.
    pub fn begin_teardown(&mut self) {
        self.tearing_down = true;
        self.unsettled.clear();
    }

    /// Whether left-over tasks are being unwound.
    #[inline]
    pub fn is_tearing_down(&self) -> bool {
        self.tearing_down
    }

    /// Makes `task` the current one, for the executor's teardown.
    pub fn resume_in_teardown(&mut self, task: TaskId) {
        self.current = task;
    }

    /// Gives up the wait of `task`, which nobody will grant any more.
    pub fn abandon_wait(&mut self, task: TaskId) {
        let pending = self.tasks[task.index()].pending;
        if self.tasks[task.index()].status == Status::Waiting && pending.resource != ResourceId::NONE {
            self.leave_queue(task, &pending);
        }
        let t = &mut self.tasks[task.index()];
        t.status = Status::Ready;
        t.deadline = None;
        t.grant = outcome::TORN_DOWN;
    }

    /// Marks `task` as gone without an `Exit` step.
    pub fn bury(&mut self, task: TaskId) {
        self.remove_ready(task);
        let t = &mut self.tasks[task.index()];
        if t.status != Status::Finished {
            t.status = Status::Finished;
            self.finished += 1;
        }
    }

    // ── behaviour hash ───────────────────────────────────────────────────────────────────────────

    /// Folds the step into the happens-before hash: a read depends on the last write, a write on the
    /// last write and on the reads since, in any order.
    #[inline]
    fn extend_behaviour(&mut self, task: TaskId, operation: &Operation) {
        let own = &mut self.tasks[task.index()].behaviour;
        let mut hash = mix(*own, operation.kind as u64 + 1);
        if operation.resource != ResourceId::NONE {
            let resource = &mut self.resources[operation.resource.index()];
            match operation.kind {
                OpKind::Unlock | OpKind::ReadUnlock | OpKind::WriteUnlock | OpKind::Release | OpKind::CloseSend => {}
                OpKind::Load | OpKind::CellRead | OpKind::Read | OpKind::OnceCheck => {
                    hash = mix(hash, resource.behaviour_written);
                    resource.behaviour_read = resource.behaviour_read.wrapping_add(hash);
                }
                _ => {
                    hash = mix(hash, resource.behaviour_written ^ resource.behaviour_read);
                    resource.behaviour_written = hash;
                    resource.behaviour_read = 0;
                }
            }
        }
        *own = hash;
    }
}

/// One round of a multiply–xor hash: not for adversaries, but cheap and well spread.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}
