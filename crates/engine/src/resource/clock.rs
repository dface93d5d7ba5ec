//! Virtual time: who reads the clock, who sleeps, and timers that fire. How timers are kept is in [`crate::time`].

use super::room::{Facts, Room, Traits, not_here};
use crate::causality::{Place, Places};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::There;
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, Operation, outcome};
use crate::strategy::Strategy;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    match kind {
        OpKind::Sleep => Facts::of("sleep", &[T::NEEDS_ENABLING]),
        OpKind::Now => Facts::of("now", &[T::AIMS, T::REACHES, T::TIMED, T::LOOKS_ABOUT]),
        OpKind::TimerFire => Facts::of("timer", &[T::AIMS, T::REACHES, T::TIMED, T::GIVES, T::OBSERVES_EXITS]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it is a timer that fires.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn fires(self) -> bool {
        matches!(self, OpKind::TimerFire)
    }

    /// Whether it reads the clock.
    pub(crate) const fn reads_clock(self) -> bool {
        matches!(self, OpKind::Now)
    }

    /// Whether it is a wait that becomes a step when it is over: a park, a sleep or the receive of a process.
    pub(crate) const fn waits_first(self) -> bool {
        matches!(self, OpKind::Park | OpKind::Sleep | OpKind::Receive)
    }
}

/// The rules of the clock.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, _: &mut Engine, _: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        debug_assert!(!operation.kind.fires(), "a timer is fired by the engine, not by a task");
        Committed::Done(outcome::OK)
    }

    fn is_enabled(&self, engine: &Engine, task: TaskId) -> bool {
        engine.tasks[task.index()].pending.arg <= engine.timers.now()
    }

    fn begin_wait(&self, engine: &mut Engine, task: TaskId) {
        let t = &mut engine.tasks[task.index()];
        t.set_deadline(Some(t.pending.arg));
    }

    fn aims(&self, a: &Label, b: &Label) -> Option<Relation> {
        if a.kind != OpKind::TimerFire {
            return None;
        }
        let too_late = a.outcome == outcome::REFUSED;
        match b.kind {
            // Which timer is the earliest depends on all that were started, the task's own included.
            OpKind::Now if a.outcome != outcome::OK => Some(Relation::Dependent),
            _ if a.arg == u64::from(b.task.0) && !too_late => Some(Relation::Enabling),
            OpKind::Now => Some(Relation::Dependent),
            // What ends a wait in time keeps its timer from firing.
            kind if kind.ends_task() && a.outcome == outcome::OK => Some(Relation::Dependent),
            OpKind::Unpark if (a.arg, a.resource) == (b.arg, b.resource) => Some(Relation::Dependent),
            _ => None,
        }
    }

    fn may_conflict(&self, step: &Step, pending: &Operation) -> bool {
        (step.kind, pending.kind) == (OpKind::TimerFire, OpKind::Now)
    }

    fn footprint(&self, step: &Step, _: bool, at: &mut Places) {
        at.push_resource(step.resource);
        match step.kind {
            OpKind::Now => at.push(Place::TIME),
            OpKind::TimerFire => {
                // Only waits for no resource can be ended by an unpark.
                if step.resource == ResourceId::NONE {
                    at.push(Place::of_task(step.arg as usize));
                }
                at.push(Place::TIME);
            }
            _ => {}
        }
    }

    fn moved(&self, label: Label, there: &There<'_>) -> Option<Label> {
        match label.kind {
            OpKind::TimerFire => there.earliest_timer(label),
            _ => Some(label),
        }
    }

    fn fold_aim(&self, engine: &mut Engine, hash: u64, step: &Step) -> u64 {
        match step.kind {
            OpKind::Now => engine.trails.time.commuting(hash),
            OpKind::TimerFire => {
                let hash = engine.trails.time.ordered(hash);
                match step.resource {
                    ResourceId::NONE => engine.trails.aimed(TaskId(step.arg as u32)).ordered(hash),
                    id => engine.resources[id.index()].trail.everything(hash),
                }
            }
            _ => hash,
        }
    }
}
