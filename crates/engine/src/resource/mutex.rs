//! Mutual exclusion: a request is granted when its predecessor unlocks.

use super::room::{Blocker, Facts, Room, Traits, not_here, refused_if};
use crate::behaviour::Trail;
use crate::causality::{Change, Grant, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::{Made, There};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::Resource;
use crate::strategy::Strategy;
use crate::task::{Status, Task};
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Mutex;
    match kind {
        OpKind::Lock => Facts::on(
            ON,
            "lock",
            &[T::COMPETES, T::LOCKS, T::HOLDS, T::REQUESTS, T::SAME_ANYWHERE, T::QUEUES_UNNOTICED, T::LEARNS],
        ),
        OpKind::TryLock => {
            Facts::on(ON, "try_lock", &[T::COMPETES, T::LOCKS, T::HOLDS, T::TELLS_OUTCOME, T::LEARNS_IF_OK])
        }
        OpKind::Unlock => {
            Facts::on(ON, "unlock", &[T::GIVES, T::ONLY_RELEASES, T::UNLOCKS, T::SAME_ANYWHERE, T::TELLS])
        }
        other => not_here(other),
    }
}

/// The rules of mutexes.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        match operation.kind {
            OpKind::Lock => engine.commit_lock(task, operation.resource),
            OpKind::Unlock => engine.commit_unlock(operation.resource),
            _ => engine.commit_try_lock(task, operation.resource),
        }
    }

    fn must_wait(&self, engine: &Engine, request: &Operation) -> bool {
        request.kind == OpKind::Lock && !engine.resources[request.resource.index()].holders.is_empty()
    }

    fn give_back(&self, engine: &mut Engine, _: TaskId, request: &Operation, _: u32) {
        engine.commit_unlock(request.resource);
    }

    fn blocker(&self, engine: &Engine, request: &Operation) -> Blocker {
        match engine.resources[request.resource.index()].holders.exclusive() {
            Some(holder) => Blocker::One(holder),
            None => Blocker::Several,
        }
    }

    fn blockers(&self, engine: &Engine, task: TaskId) -> Vec<(TaskId, Site)> {
        engine.who_is_before(task, true)
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        relation(a.kind, a.outcome, b.kind, b.outcome)
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        // A wait on a condition variable gives its mutex back.
        let waits = there.steps().filter(|s| s.also() == label.resource).count() as u64;
        let taken = there.count(&[OpKind::Lock, OpKind::TryLock]);
        label.outcome = refused_if(taken > there.count(&[OpKind::Unlock]) + waits);
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::Lock => trail.request(hash),
            OpKind::Unlock => trail.release(hash, false),
            _ => trail.attempt(hash, step.is_ok()),
        }
    }

    fn note_grant(
        &self,
        place: &mut Place,
        j: usize,
        step: &Step,
        _: &[Words],
        history: &mut History,
    ) -> Option<Change> {
        (step.kind == OpKind::Unlock).then(|| place.give_up(j, history))
    }

    fn granted_by(&self, place: &Place, _: usize, _: &Step, _: Option<OpKind>) -> Grant {
        Grant::by(place.exclusive)
    }

    fn could_complete(&self, _: &Label, made: &Made<'_>) -> bool {
        made.count(&[OpKind::Lock, OpKind::TryLock]) <= made.count(&[OpKind::Unlock]) + made.count_beside()
    }
}

/// How two steps on a mutex relate, by kind and outcome.
pub(super) fn relation(a: OpKind, a_outcome: u32, b: OpKind, b_outcome: u32) -> Relation {
    use OpKind::{Lock, TryLock, Unlock};
    let failed = |k, o| k == TryLock && o == outcome::REFUSED;
    match (a, b) {
        (Lock, Unlock) | (Unlock, Lock) | (Unlock, Unlock) => Relation::Granting,
        _ if failed(a, a_outcome) && failed(b, b_outcome) => Relation::Independent,
        _ => Relation::Dependent,
    }
}

/// What a request for a mutex came to.
#[derive(Clone, Copy)]
pub(crate) enum Request {
    /// It was free.
    Granted,
    /// The task is in the queue, and only the holder, who can run, ends its wait.
    Waits,
    /// The task is in the queue, and its wait may have closed a cycle, or has an end of its own.
    WaitsUnusually,
}

impl Resource {
    /// Gives the mutex to `task`, or makes it wait for its turn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn request(&mut self, task: TaskId, tasks: &mut [Task]) -> Request {
        self.trail.write(&mut tasks[task.index()].hash);
        // Nobody's number is beyond all tasks: one comparison tells both.
        let holder = self.holders.exclusive().unwrap_or(TaskId::NONE);
        if holder.index() >= tasks.len() {
            self.holders.set_exclusive(Some(task));
            return Request::Granted;
        }
        self.waiters.push(task, tasks);
        // Before the holder is looked at: whoever asks for what it holds itself cannot run any more.
        tasks[task.index()].status = Status::Waiting;
        // No cycle can close while the holder can run.
        let holder_runs = matches!(tasks[holder.index()].status, Status::Ready | Status::Unsettled);
        if holder_runs && !tasks[task.index()].is_limited() { Request::Waits } else { Request::WaitsUnusually }
    }

    /// Gives the mutex to the longest waiter, if there is one, whose wait is to be ended.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn hand_on(&mut self, tasks: &mut [Task]) -> Option<TaskId> {
        self.trail.unlock();
        let next = self.waiters.pop(tasks);
        self.holders.set_exclusive(next);
        next
    }
}

impl Engine {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn commit_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        match self.resources[id.index()].request(task, &mut self.tasks) {
            Request::Granted => Committed::Done(outcome::OK),
            Request::Waits => {
                self.remove_ready(task);
                Committed::Wait
            }
            Request::WaitsUnusually => self.wait(task),
        }
    }

    pub(crate) fn commit_try_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let mutex = &mut self.resources[id.index()];
        if mutex.holders.is_empty() {
            mutex.holders.set_exclusive(Some(task));
            return Committed::Done(outcome::OK);
        }
        Committed::Done(outcome::REFUSED)
    }

    /// Whoever unlocks, the mutex is free: a guard may have been sent to another task.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn commit_unlock(&mut self, id: ResourceId) -> Committed {
        if let Some(next) = self.resources[id.index()].hand_on(&mut self.tasks) {
            self.grant(next, outcome::OK);
        }
        Committed::Done(outcome::OK)
    }
}
