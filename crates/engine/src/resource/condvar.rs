//! Condition variable: a wait gives the mutex back and queues; a notification ends the wait. The
//! woken task then requests the mutex again by an ordinary `Lock` step of its own, so that the order
//! of that request among others is a choice.

use super::room::{Facts, Room, Traits, named, not_here, refused_if};
use super::{clock, mutex};
use crate::behaviour::Trail;
use crate::causality::{Change, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::There;
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Condvar;
    const NOTIFIES: &[T] = &[T::COMPETES, T::GIVES, T::ONLY_RELEASES, T::TELLS_IF_OK, T::UNATTENDED];
    match kind {
        OpKind::CondWait => Facts::on(
            ON,
            "wait",
            &[T::COMPETES, T::GIVES, T::REACHES, T::AIMS, T::LEARNS, T::TELLS, T::WAITS_FOR_OTHERS],
        ),
        OpKind::NotifyOne => Facts::on(ON, "notify_one", NOTIFIES),
        OpKind::NotifyAll => Facts::on(ON, "notify_all", NOTIFIES),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it waits to be notified.
    pub(crate) const fn waits_for_notification(self) -> bool {
        matches!(self, OpKind::CondWait)
    }

    /// Of a notification for one, that for all.
    pub(crate) const fn notifies_all_instead(self) -> Option<OpKind> {
        match self {
            OpKind::NotifyOne => Some(OpKind::NotifyAll),
            _ => None,
        }
    }
}

/// The rules of condition variables.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        let id = operation.resource;
        match operation.kind {
            OpKind::CondWait => engine.commit_cond_wait(task, id, named(operation.arg)),
            OpKind::NotifyOne => engine.commit_notify(id, 1),
            _ => engine.commit_notify(id, usize::MAX),
        }
    }

    fn other_side(&self, kind: OpKind) -> &'static [OpKind] {
        if kind == OpKind::CondWait { &[OpKind::NotifyOne, OpKind::NotifyAll] } else { &[] }
    }

    fn also(&self, kind: OpKind, arg: u64) -> ResourceId {
        if kind == OpKind::CondWait { named(arg) } else { ResourceId::NONE }
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        let idle = |l: &Label| l.kind != OpKind::CondWait && l.outcome == outcome::REFUSED;
        if idle(a) && idle(b) { Relation::Independent } else { Relation::Dependent }
    }

    /// A wait is also an unlock of its mutex.
    fn aims(&self, a: &Label, b: &Label) -> Option<Relation> {
        if b.resource != named(a.arg) {
            return None;
        }
        match b.kind.family() {
            Some(ResourceKind::Mutex) => Some(mutex::relation(OpKind::Unlock, outcome::OK, b.kind, b.outcome)),
            // Whether the mutex is poisoned.
            Some(ResourceKind::Atomic) => Some(Relation::Dependent),
            _ if b.kind.fires() => clock::Rules.aims(b, a).or(Some(Relation::Dependent)),
            _ => None,
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if label.kind != OpKind::CondWait {
            let waiting = there.here().fold(0u64, |waiting, s| match s.kind {
                OpKind::CondWait => waiting + 1,
                OpKind::NotifyOne => waiting.saturating_sub(1),
                OpKind::NotifyAll => 0,
                _ => waiting,
            });
            label.outcome = refused_if(waiting == 0);
        }
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        if step.kind == OpKind::CondWait || step.is_ok() { trail.ordered(hash) } else { trail.commuting(hash) }
    }

    fn fold_aim(&self, engine: &mut Engine, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::CondWait => engine.resources[named(step.arg).index()].trail.release(hash, false),
            _ => hash,
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
        (step.kind == OpKind::CondWait).then(|| place.give_up(j, history))
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        if step.kind == OpKind::CondWait {
            flow.release(named(step.arg), mine);
        }
    }

    fn end_wait(&self, flow: &mut Flow, by: &Step, _: &Step, mine: Row) {
        flow.learn_of_task(by.task, mine);
    }
}

impl Engine {
    pub(crate) fn commit_cond_wait(&mut self, task: TaskId, id: ResourceId, mutex: ResourceId) -> Committed {
        self.commit_unlock(mutex);
        self.resources[id.index()].waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    /// Wakes up to `limit` waiters, longest waiting first; says whether there was any.
    pub(crate) fn commit_notify(&mut self, id: ResourceId, limit: usize) -> Committed {
        let mut woken = 0;
        while woken < limit {
            let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) else { break };
            self.grant(next, outcome::OK);
            woken += 1;
        }
        Committed::Done(if woken == 0 { outcome::REFUSED } else { outcome::OK })
    }
}
