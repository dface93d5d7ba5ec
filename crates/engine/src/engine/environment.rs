//! Tasks of the environment: what acts on a program and is none of it. A message in flight is one, and a fault that may strike.
//!
//! Such a task has operations and no code. It is ready as others are, and strategies, exhaustive exploration, replay and
//! shrinking pick it as they pick others. Its operation is then carried out by the room of its kind, and executors
//! take it for a task that has to wait: they never resume it. Its next operation is pending then, or it is finished. It is
//! finished early by an operation that was refused, and by a choice that came to 0.
//!
//! Its operations never wait, so every one of them comes to its end, and no execution is over before: what is still in
//! flight when the program has ended arrives. Else an arrival that could have come earlier would race with nothing.
//!
//! A fault need not happen, so a task with a budget begins with a choice: whether it strikes. If it does, it takes one
//! of the budget, and if there is none left, that was all. The budget is a semaphore: which of two faults has the last
//! of it is a race like any other, and exhaustive exploration needs no rule of its own for it.

use std::collections::VecDeque;

use super::{Committed, Engine};
use crate::behaviour::mix;
use crate::budget::Budget;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind};
use crate::resource::{State, Traits, Within};
use crate::strategy::Strategy;
use crate::task::Status;
use crate::trace::Step;

/// What the tasks of the environment have yet to do.
#[derive(Debug, Default)]
pub(super) struct Environment {
    operations: Vec<Operation>,
    /// The operations of each from its pending one on, by task in ascending order.
    rest: Vec<Rest>,
    /// The semaphores of budgets that such tasks share.
    shared: Vec<(Budget, ResourceId)>,
    /// Tasks whose operations come up while they go, by task in ascending order.
    queues: Vec<Queue>,
}

/// A task whose operations come up while it goes.
#[derive(Debug)]
struct Queue {
    task: TaskId,
    /// Those after the pending one, each with the number of steps there were when it came up.
    then: VecDeque<(Operation, u32)>,
}

/// What one of them has yet to do.
#[derive(Debug)]
struct Rest {
    task: TaskId,
    operations: std::ops::Range<usize>,
    /// Of the first of these operations, whom it has killed, or itself: it is pending, or was made.
    begun: Option<TaskId>,
}

impl Environment {
    pub(super) fn clear(&mut self) {
        self.operations.clear();
        self.rest.clear();
        self.shared.clear();
        self.queues.clear();
    }

    /// Where it stands what `task` has yet to do.
    fn rest_of(&self, task: TaskId) -> Option<usize> {
        self.rest.binary_search_by_key(&task, |rest| rest.task).ok()
    }

    fn semaphore(&self, budget: Budget) -> Option<ResourceId> {
        self.shared.iter().find(|(of, _)| *of == budget).map(|(_, id)| *id)
    }
}

impl Engine {
    /// Creates a task of the environment that makes `operations`, one after another, whenever it is picked; with a budget,
    /// if it comes to that. Call it as [`spawn`](Self::spawn): after a step of `parent` and before its next announcement.
    ///
    /// # Panics
    ///
    /// If one of the operations could have to wait, or is carried out by code of the program.
    pub fn create_environment(
        &mut self,
        parent: TaskId,
        operations: &[Operation],
        budget: Option<Budget>,
        name: Option<Box<str>>,
        strategy: &mut dyn Strategy,
    ) -> TaskId {
        let is_able = |operation: &Operation| operation.kind.is(Traits::UNATTENDED);
        assert!(operations.iter().all(is_able), "the environment neither waits nor has code: {operations:?}");
        let site = operations.first().map_or(Site::UNKNOWN, |operation| operation.site);
        let begin = self.environment.operations.len();
        // What is left now depends on the schedule, and this is no step.
        let may_act = budget.is_none_or(|budget| self.limits.budgets[budget] > 0);
        if let Some(budget) = budget.filter(|_| may_act) {
            let taken = Operation::new(OpKind::TryAcquire, self.semaphore(budget), site).with_arg(1);
            let strikes = Operation::new(OpKind::Choose, ResourceId::NONE, site).with_arg(2);
            self.environment.operations.extend([strikes, taken]);
        }
        if may_act {
            self.environment.operations.extend_from_slice(operations);
        }
        let task = self.create_task(parent, site, name, strategy);
        let operations = begin..self.environment.operations.len();
        self.environment.rest.push(Rest { task, operations, begun: None });
        self.tasks[task.index()].environment = true;
        self.tasks[task.index()].status = Status::Ready;
        self.make_ready(task);
        self.have_next_operation(task);
        task
    }

    /// Creates a task of the environment that makes one operation, which never waits: `parent` names it, and it comes after the last step.
    /// Call it as [`spawn`](Self::spawn).
    pub fn post(&mut self, parent: TaskId, operation: Operation, strategy: &mut dyn Strategy) -> TaskId {
        debug_assert!(operation.kind.is(Traits::UNATTENDED), "the environment neither waits nor has code");
        let task = self.create_task(parent, operation.site, None, strategy);
        let t = &mut self.tasks[task.index()];
        t.environment = true;
        t.status = Status::Ready;
        t.pending = operation;
        self.make_ready(task);
        task
    }

    /// Makes a choice among `outcomes` in the midst of what the last step has brought about: nobody is asked who goes first. `None` if
    /// there are too many outcomes, or too many choices in that step.
    ///
    /// The choice belongs to the step. A step of its own could be moved away from it by whoever reorders steps.
    pub fn choose_within(&mut self, outcomes: u64, strategy: &mut dyn Strategy) -> Option<u64> {
        let at = self.steps.len().checked_sub(1)?;
        let Step { task, kind, value, .. } = self.steps[at];
        let within = Within(value);
        if !kind.happens() || within.count() == Within::MOST || outcomes > Within::MOST_OUTCOMES {
            return None;
        }
        let chosen = self.chosen_of(task, outcomes, strategy);
        self.steps[at].value = within.with(outcomes, chosen).0;
        let t = &mut self.tasks[task.index()];
        t.hash = mix(t.hash, chosen);
        Some(chosen)
    }

    /// A choice is made in the midst of a step that commutes with others which it would have to be ordered with: no exploration can go
    /// through all executions. Whether that is a mistake, since [they were asked for](crate::Limits::all_are_wanted). A front end also
    /// notes here an event whose orders exhaustive exploration is known to miss, so that `auto` does not claim to have seen all.
    pub fn note_unmovable_choice(&mut self) -> bool {
        self.unmovable = true;
        self.limits.all_are_wanted
    }

    /// Whether the execution had [such a choice](Self::note_unmovable_choice).
    pub fn has_unmovable_choice(&self) -> bool {
        self.unmovable
    }

    /// Creates a task of the environment that makes the operations that it is [given](Self::post_in_turn), one after another.
    pub fn create_queue(&mut self, parent: TaskId, strategy: &mut dyn Strategy) -> TaskId {
        let task = self.create_environment(parent, &[], None, None, strategy);
        self.environment.queues.push(Queue { task, then: VecDeque::new() });
        task
    }

    /// As [`create_queue`](Self::create_queue), under a number of its own among the children of `parent`: it must not be taken.
    pub fn create_queue_as(&mut self, parent: TaskId, ordinal: u32, strategy: &mut dyn Strategy) -> TaskId {
        self.tasks[parent.index()].children = ordinal - 1;
        strategy.numbered(parent, ordinal);
        self.create_queue(parent, strategy)
    }

    /// One more operation for a [queue](Self::create_queue). It comes after the last step, and after those that the queue was given before.
    pub fn post_in_turn(&mut self, queue: TaskId, operation: Operation) {
        let made = self.steps.len() as u32;
        let t = &mut self.tasks[queue.index()];
        if t.status == Status::Finished {
            (t.status, t.pending, t.granted_by) = (Status::Ready, operation, made);
            self.finished -= 1;
            self.make_ready(queue);
        } else if let Ok(at) = self.environment.queues.binary_search_by_key(&queue, |queue| queue.task) {
            self.environment.queues[at].then.push_back((operation, made));
        }
    }

    /// How often what `budget` counts may still happen.
    #[inline]
    pub fn left(&self, budget: Budget) -> u32 {
        let shared = self.environment.semaphore(budget).map(|id| self.resources[id.index()].state);
        match shared {
            Some(State::Count(left)) => left as u32,
            _ => self.left[budget],
        }
    }

    /// Takes one of `budget`, if there is one left. What tasks of the environment share is theirs.
    pub fn spend(&mut self, budget: Budget) -> bool {
        self.left.take(budget)
    }

    /// The semaphore of a budget, which holds what was left of it when it was first asked for.
    fn semaphore(&mut self, budget: Budget) -> ResourceId {
        if let Some(id) = self.environment.semaphore(budget) {
            return id;
        }
        let left = std::mem::take(&mut self.left[budget]);
        let id = self.create_outside(ResourceKind::Semaphore, State::Count(u64::from(left)), budget.name());
        self.environment.shared.push((budget, id));
        id
    }

    /// A task of the environment has made its operation, the last step: it goes on to its next one.
    #[cold]
    pub(crate) fn go_on_unattended(&mut self, task: TaskId, committed: Committed) -> Committed {
        debug_assert_ne!(committed, Committed::Wait, "nothing that the environment does has to wait");
        let ends = |step: &Step| !step.is_ok() || step.outcomes() > 1 && step.chosen() == 0;
        if self.steps.last().is_some_and(ends) {
            self.leave_environment(task);
        } else {
            self.have_next_operation(task);
        }
        Committed::Wait
    }

    fn have_next_operation(&mut self, task: TaskId) {
        if let Ok(at) = self.environment.queues.binary_search_by_key(&task, |queue| queue.task) {
            if let Some((operation, made)) = self.environment.queues[at].then.pop_front() {
                let t = &mut self.tasks[task.index()];
                (t.pending, t.granted_by) = (operation, made);
                return;
            }
            return self.leave_environment(task);
        }
        let Some(at) = self.environment.rest_of(task) else { return self.leave_environment(task) };
        while !self.environment.rest[at].operations.is_empty() {
            let Rest { ref operations, begun, .. } = self.environment.rest[at];
            let next = self.kill_in_turn(self.environment.operations[operations.start], begun);
            let rest = &mut self.environment.rest[at];
            if let Some(next) = next {
                rest.begun = Some(if next.kind.kills() { TaskId(next.arg as u32) } else { task });
                self.tasks[task.index()].pending = next;
                return;
            }
            rest.operations.start += 1;
            rest.begun = None;
        }
        self.leave_environment(task);
    }

    fn leave_environment(&mut self, task: TaskId) {
        self.remove_ready(task);
        self.tasks[task.index()].status = Status::Finished;
        self.finished += 1;
    }
}
