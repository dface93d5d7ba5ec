//! One-time initialiser: the first to enter runs it, the others wait; if it panics, the next in the
//! queue may try.

use super::room::{Blocker, Facts, Room, Traits, not_here, refused_if};
use crate::behaviour::Trail;
use crate::causality::{Change, Grant, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::{Made, There};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Once;
    match kind {
        OpKind::OnceEnter => Facts::on(
            ON,
            "call_once",
            &[T::COMPETES, T::HOLDS, T::REQUESTS, T::QUEUES_UNNOTICED, T::LEARNS, T::WAITS_FOR_OTHERS],
        ),
        OpKind::OnceFinish => Facts::on(ON, "initialised", &[T::GIVES, T::ONLY_RELEASES, T::TELLS]),
        OpKind::OnceCheck => {
            Facts::on(ON, "get", &[T::LOOKS, T::SEES, T::SHARES, T::COMPETES, T::TELLS_OUTCOME, T::LEARNS_IF_OK])
        }
        other => not_here(other),
    }
}

/// The rules of one-time initialisers.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        let id = operation.resource;
        match operation.kind {
            OpKind::OnceEnter => engine.commit_once_enter(task, id),
            OpKind::OnceFinish => engine.commit_once_finish(id, operation.arg == 1),
            _ => engine.commit_once_check(id),
        }
    }

    fn must_wait(&self, engine: &Engine, request: &Operation) -> bool {
        let state = &engine.resources[request.resource.index()].state;
        request.kind == OpKind::OnceEnter && matches!(state, State::Once(OnceState::Running))
    }

    fn give_back(&self, engine: &mut Engine, _: TaskId, request: &Operation, granted: u32) {
        if granted != outcome::OK {
            engine.commit_once_finish(request.resource, false);
        }
    }

    fn blocker(&self, _: &Engine, _: &Operation) -> Blocker {
        Blocker::Several
    }

    fn blockers(&self, engine: &Engine, task: TaskId) -> Vec<(TaskId, Site)> {
        engine.who_is_before(task, true)
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        use OpKind::{OnceCheck, OnceEnter, OnceFinish};
        match (a.kind, b.kind) {
            (OnceCheck, OnceCheck) | (OnceCheck, OnceEnter) | (OnceEnter, OnceCheck) => Relation::Independent,
            (OnceEnter, OnceFinish) | (OnceFinish, OnceEnter) => Relation::Granting,
            _ => Relation::Dependent,
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if label.kind == OpKind::OnceCheck {
            label.outcome = refused_if(!there.here().any(|s| s.kind == OpKind::OnceFinish && s.arg == 1));
        }
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::OnceEnter => trail.queue(hash),
            OpKind::OnceFinish => trail.release(hash, true),
            _ => trail.ask(hash),
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
        (step.kind == OpKind::OnceFinish).then(|| place.give_up(j, history))
    }

    fn granted_by(&self, place: &Place, _: usize, _: &Step, _: Option<OpKind>) -> Grant {
        Grant::by(place.exclusive)
    }

    fn could_complete(&self, _: &Label, made: &Made<'_>) -> bool {
        // Whether it fell to a request to run the initialiser: one that waited for it is not told at once.
        let runs = |outcome: u32, next: Option<OpKind>| {
            matches!(outcome, outcome::RUN | outcome::RUN_AFTER_PANIC) || next == Some(OpKind::OnceFinish)
        };
        let running = made.here().filter(|(i, l)| l.kind == OpKind::OnceEnter && runs(l.outcome, made.next_of(*i)));
        running.count() as u64 <= made.count(&[OpKind::OnceFinish])
    }
}

/// How far an initialiser has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnceState {
    /// Nobody has entered.
    New,
    /// A task runs it.
    Running,
    /// It has run.
    Done,
    /// It has panicked.
    Poisoned,
}

impl Engine {
    fn once_state(&mut self, id: ResourceId) -> &mut OnceState {
        match &mut self.resources[id.index()].state {
            State::Once(state) => state,
            other => unreachable!("a once operation on {other:?}"),
        }
    }

    pub(crate) fn commit_once_enter(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let state = self.once_state(id);
        let before = *state;
        match before {
            OnceState::Done => Committed::Done(outcome::OK),
            OnceState::New | OnceState::Poisoned => {
                *state = OnceState::Running;
                self.resources[id.index()].holders.set_exclusive(Some(task));
                Committed::Done(if before == OnceState::New { outcome::RUN } else { outcome::RUN_AFTER_PANIC })
            }
            OnceState::Running => {
                self.resources[id.index()].waiters.push(task, &mut self.tasks);
                self.wait(task)
            }
        }
    }

    pub(crate) fn commit_once_finish(&mut self, id: ResourceId, succeeded: bool) -> Committed {
        self.resources[id.index()].holders.clear();
        if succeeded {
            *self.once_state(id) = OnceState::Done;
            while let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
                self.grant(next, outcome::OK);
            }
        } else {
            *self.once_state(id) = OnceState::Poisoned;
            if let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
                *self.once_state(id) = OnceState::Running;
                self.resources[id.index()].holders.set_exclusive(Some(next));
                self.grant(next, outcome::RUN_AFTER_PANIC);
            }
        }
        Committed::Done(outcome::OK)
    }

    pub(crate) fn commit_once_check(&mut self, id: ResourceId) -> Committed {
        let done = *self.once_state(id) == OnceState::Done;
        Committed::Done(if done { outcome::OK } else { outcome::REFUSED })
    }
}
