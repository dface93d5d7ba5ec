//! Counting semaphore: permits are given in the order in which they were asked for.

use std::collections::VecDeque;

use super::room::{Facts, Room, Traits, not_here, refused_if};
use crate::behaviour::Trail;
use crate::causality::{Change, Grant, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::{Made, There};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::task::Status;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Semaphore;
    match kind {
        OpKind::Acquire => Facts::on(ON, "acquire", &[T::COMPETES, T::REQUESTS, T::LEARNS, T::WAITS_FOR_OTHERS]),
        OpKind::TryAcquire => {
            Facts::on(ON, "try_acquire", &[T::COMPETES, T::TELLS_OUTCOME, T::LEARNS_IF_OK, T::UNATTENDED])
        }
        OpKind::Release => Facts::on(ON, "release", &[T::GIVES, T::ONLY_RELEASES, T::TELLS, T::UNATTENDED]),
        other => not_here(other),
    }
}

/// The rules of semaphores.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        let (id, permits) = (operation.resource, operation.arg);
        match operation.kind {
            OpKind::Acquire => engine.commit_acquire(task, id, permits, true),
            OpKind::TryAcquire => engine.commit_acquire(task, id, permits, false),
            _ => engine.commit_release(id, permits),
        }
    }

    fn must_wait(&self, engine: &Engine, request: &Operation) -> bool {
        let state = &engine.resources[request.resource.index()].state;
        request.kind == OpKind::Acquire && matches!(state, State::Count(free) if *free < request.arg)
    }

    fn withdraw(&self, engine: &mut Engine, request: &Operation) {
        engine.grant_semaphore(request.resource);
    }

    fn give_back(&self, engine: &mut Engine, _: TaskId, request: &Operation, _: u32) {
        engine.commit_release(request.resource, request.arg);
    }

    fn guesses(&self, engine: &Engine, task: TaskId, request: &Operation) -> Vec<(TaskId, Site)> {
        engine.permit_holders(task, request.resource)
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        use OpKind::{Acquire, Release, TryAcquire};
        let failed = |l: &Label| l.kind == TryAcquire && l.outcome == outcome::REFUSED;
        match (a.kind, b.kind) {
            // Releases depend on each other: which of two comes first decides whose permits a waiter gets.
            (Acquire, Release) | (Release, Acquire) => Relation::Granting,
            _ if failed(a) && failed(b) => Relation::Independent,
            _ => Relation::Dependent,
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if label.kind == OpKind::TryAcquire {
            label.outcome = refused_if(!has_permits(there, &label));
        }
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::Acquire => trail.request(hash),
            OpKind::Release => trail.release(hash, true),
            _ => trail.attempt(hash, step.is_ok()),
        }
    }

    fn note_grant(&self, place: &mut Place, j: usize, step: &Step, _: &[Words], _: &mut History) -> Option<Change> {
        (step.kind == OpKind::Release).then(|| place.release_permits(j, step.arg))
    }

    fn granted_by(&self, place: &Place, p: usize, request: &Step, waited: Option<OpKind>) -> Grant {
        Grant::by(waited.is_none().then(|| place.release_for(p, request)).flatten())
    }

    fn could_complete(&self, request: &Label, made: &Made<'_>) -> bool {
        let taken = made.sum(&[OpKind::Acquire, OpKind::TryAcquire]);
        made.permits() + made.sum(&[OpKind::Release]) >= taken + request.arg
    }
}

/// Whether the semaphore has the permits that `moved` wants there, and nobody waits.
fn has_permits(there: &There<'_>, moved: &Label) -> bool {
    let State::Count(mut free) = there.initial(moved.resource) else { return true };
    let mut waiting = VecDeque::new();
    for step in there.here() {
        match step.kind {
            OpKind::Acquire if step.arg > free || !waiting.is_empty() => waiting.push_back(step.arg),
            OpKind::Acquire => free -= step.arg,
            OpKind::TryAcquire if step.is_ok() => free -= step.arg,
            OpKind::Release => free += step.arg,
            _ => {}
        }
        while waiting.front().is_some_and(|wanted| *wanted <= free) {
            free -= waiting.pop_front().unwrap_or(0);
        }
    }
    waiting.is_empty() && moved.arg <= free
}

impl Engine {
    fn permits(&mut self, id: ResourceId) -> &mut u64 {
        match &mut self.resources[id.index()].state {
            State::Count(free) => free,
            other => unreachable!("a semaphore operation on {other:?}"),
        }
    }

    pub(crate) fn commit_acquire(&mut self, task: TaskId, id: ResourceId, wanted: u64, wait: bool) -> Committed {
        let queued = !self.resources[id.index()].waiters.is_empty();
        let free = *self.permits(id);
        self.note_value(free);
        if free >= wanted && !queued {
            *self.permits(id) -= wanted;
            return Committed::Done(outcome::OK);
        }
        if !wait {
            return Committed::Done(outcome::REFUSED);
        }
        self.resources[id.index()].waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_release(&mut self, id: ResourceId, given: u64) -> Committed {
        *self.permits(id) += given;
        self.grant_semaphore(id);
        Committed::Done(outcome::OK)
    }

    pub(crate) fn grant_semaphore(&mut self, id: ResourceId) {
        while let Some(next) = self.resources[id.index()].waiters.front() {
            let wanted = self.tasks[next.index()].pending.arg;
            let free = self.permits(id);
            if *free < wanted {
                return;
            }
            *free -= wanted;
            self.resources[id.index()].waiters.pop(&mut self.tasks);
            self.grant(next, outcome::OK);
        }
    }

    /// Tasks other than `task` that have taken more permits of a semaphore than they gave back.
    pub(crate) fn permit_holders(&self, task: TaskId, semaphore: ResourceId) -> Vec<(TaskId, Site)> {
        let mut taken: Vec<(TaskId, Site, u64)> = Vec::new();
        for step in self.recent_steps().filter(|s| s.resource == semaphore && s.task != task) {
            let at = taken.iter().position(|(t, ..)| *t == step.task);
            match (step.kind, at) {
                (OpKind::Release, Some(at)) => taken[at].2 = taken[at].2.saturating_sub(step.arg),
                (OpKind::Acquire | OpKind::TryAcquire, _) if u32::from(step.outcome) != outcome::OK => {}
                (OpKind::Acquire | OpKind::TryAcquire, Some(at)) => {
                    taken[at] = (step.task, step.site, taken[at].2 + step.arg);
                }
                (OpKind::Acquire | OpKind::TryAcquire, None) => taken.push((step.task, step.site, step.arg)),
                _ => {}
            }
        }
        // What a task still waits for it has not got.
        for (holder, _, permits) in &mut taken {
            let t = &self.tasks[holder.index()];
            if t.status == Status::Waiting && t.pending.kind == OpKind::Acquire && t.pending.resource == semaphore {
                *permits = permits.saturating_sub(t.pending.arg);
            }
        }
        let holds = |(holder, _, permits): &&(TaskId, Site, u64)| {
            *permits > 0 && self.tasks[holder.index()].status != Status::Finished
        };
        taken.iter().filter(holds).map(|(holder, site, _)| (*holder, *site)).collect()
    }
}
