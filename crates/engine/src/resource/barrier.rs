//! Barrier: the last to arrive releases all, is the leader, and the count starts anew.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::Trail;
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    match kind {
        OpKind::Arrive => Facts::on(
            ResourceKind::Barrier,
            "barrier wait",
            &[T::COMPETES, T::GIVES, T::LEARNS, T::TELLS, T::WAITS_FOR_OTHERS],
        ),
        other => not_here(other),
    }
}

/// The rules of barriers.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        engine.progress(|engine| engine.commit_arrive(task, operation.resource))
    }

    fn withdraw(&self, engine: &mut Engine, request: &Operation) {
        engine.take_back_arrival(request.resource);
    }

    fn relation(&self, _: &Label, _: &Label) -> Relation {
        Relation::Dependent
    }

    fn fold(&self, trail: &mut Trail, hash: u64, _: &Step) -> u64 {
        trail.ordered(hash)
    }

    fn settle(&self, flow: &mut Flow, step: &Step, _: bool, _: Row) {
        if u32::from(step.outcome) == outcome::LEADER {
            flow.forget_releases(step.resource);
        }
    }
}

impl Engine {
    pub(crate) fn commit_arrive(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let barrier = &mut self.resources[id.index()];
        let State::Barrier { size, arrived } = &mut barrier.state else {
            unreachable!("a barrier operation on {:?}", barrier.state)
        };
        *arrived += 1;
        if *arrived < *size {
            barrier.waiters.push(task, &mut self.tasks);
            return self.wait(task);
        }
        *arrived = 0;
        while let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
            self.grant(next, outcome::OK);
        }
        Committed::Done(outcome::LEADER)
    }

    /// A task gave up waiting at a barrier.
    pub(crate) fn take_back_arrival(&mut self, id: ResourceId) {
        if let State::Barrier { arrived, .. } = &mut self.resources[id.index()].state {
            *arrived -= 1;
        }
    }
}
