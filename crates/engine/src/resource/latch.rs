//! Latch: tasks wait until it has been counted down to zero, once and for all.
//!
//! The count never goes below zero: what would take it there is refused. So all that was counted is what the waiting needed.
//! Two count-downs do not commute, although mostly it makes no difference who is first: whether there is enough left for both
//! depends on others, and the table must not (`dependence`, rule 2).

use super::room::{Facts, Room, Traits, not_here, refused_if};
use crate::behaviour::Trail;
use crate::causality::{Change, Grant, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::{Made, There};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::Latch;
    match kind {
        OpKind::CountDown => {
            const SAYS: T = T::TELLS_OUTCOME.with(T::TELLS_IF_OK);
            Facts::on(ON, "count_down", &[T::COMPETES, T::GIVES, T::ONLY_RELEASES, SAYS, T::UNATTENDED])
        }
        OpKind::LatchWait => Facts::on(
            ON,
            "latch wait",
            &[T::LOOKS, T::SHARES, T::COMPETES, T::REQUESTS, T::QUEUES_UNNOTICED, T::WAITS_FOR_OTHERS, T::LEARNS],
        ),
        OpKind::LatchCheck => {
            Facts::on(ON, "is_open", &[T::LOOKS, T::SEES, T::SHARES, T::COMPETES, T::TELLS_OUTCOME, T::LEARNS_IF_OK])
        }
        other => not_here(other),
    }
}

/// The rules of latches.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        let id = operation.resource;
        match operation.kind {
            OpKind::CountDown => engine.progress(|engine| engine.commit_count_down(id, operation.arg)),
            OpKind::LatchWait => engine.commit_latch_wait(task, id),
            _ => Committed::Done(refused_if(*engine.latch(id) > 0)),
        }
    }

    fn must_wait(&self, engine: &Engine, request: &Operation) -> bool {
        let state = &engine.resources[request.resource.index()].state;
        request.kind == OpKind::LatchWait && matches!(state, State::Count(left) if *left > 0)
    }

    fn other_side(&self, kind: OpKind) -> &'static [OpKind] {
        if kind == OpKind::LatchWait { &[OpKind::CountDown] } else { &[] }
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        // What was refused has changed nothing, and only looks.
        let counts = |l: &Label| l.kind == OpKind::CountDown && l.outcome == outcome::OK;
        match (counts(a), counts(b)) {
            (false, false) => Relation::Independent,
            _ if a.kind == OpKind::LatchWait || b.kind == OpKind::LatchWait => Relation::Granting,
            _ => Relation::Dependent,
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        let State::Count(count) = there.initial(label.resource) else { return Some(label) };
        let counted = there.here().filter(|s| s.kind == OpKind::CountDown && s.is_ok()).map(|s| s.arg).sum();
        let left = count.saturating_sub(counted);
        match label.kind {
            OpKind::CountDown => label.outcome = refused_if(label.arg > left),
            OpKind::LatchCheck => label.outcome = refused_if(left > 0),
            _ => {}
        }
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::LatchWait => hash,
            OpKind::CountDown if step.is_ok() => trail.release(hash, true),
            _ => trail.ask(hash),
        }
    }

    fn note_grant(
        &self,
        place: &mut Place,
        _: usize,
        step: &Step,
        clock: &[Words],
        history: &mut History,
    ) -> Option<Change> {
        (step.kind == OpKind::CountDown && step.is_ok()).then(|| place.stop_sharing(clock, history))
    }

    fn granted_by(&self, _: &Place, _: usize, _: &Step, _: Option<OpKind>) -> Grant {
        Grant { by: None, all_shared: true }
    }

    fn could_complete(&self, _: &Label, made: &Made<'_>) -> bool {
        made.sum(&[OpKind::CountDown]) >= made.permits()
    }
}

impl Engine {
    fn latch(&mut self, id: ResourceId) -> &mut u64 {
        match &mut self.resources[id.index()].state {
            State::Count(left) => left,
            other => unreachable!("a latch operation on {other:?}"),
        }
    }

    fn commit_count_down(&mut self, id: ResourceId, by: u64) -> Committed {
        let left = self.latch(id);
        if by > *left {
            return Committed::Done(outcome::REFUSED);
        }
        *left -= by;
        if *left == 0 {
            while let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
                self.grant(next, outcome::OK);
            }
        }
        Committed::Done(outcome::OK)
    }

    fn commit_latch_wait(&mut self, task: TaskId, id: ResourceId) -> Committed {
        if *self.latch(id) == 0 {
            return Committed::Done(outcome::OK);
        }
        self.resources[id.index()].waiters.push(task, &mut self.tasks);
        self.wait(task)
    }
}
