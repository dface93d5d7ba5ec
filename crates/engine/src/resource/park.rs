//! Parking: a task waits for its own token, which others give it. Futures wait so.

use super::room::{Facts, Room, Traits, not_here};
use crate::causality::{Place, Places};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::There;
use crate::id::TaskId;
use crate::operation::{OpKind, Operation, outcome};
use crate::race::{Flow, Row};
use crate::strategy::Strategy;
use crate::task::Status;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    match kind {
        OpKind::Park => {
            Facts::of("park", &[T::AIMS, T::REACHES, T::LEARNS_IF_OK, T::NEEDS_ENABLING, T::WAITS_FOR_OTHERS])
        }
        OpKind::Unpark => Facts::of("unpark", &[T::AIMS, T::REACHES, T::GIVES, T::ONLY_RELEASES, T::TELLS]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it gives a task its token.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn unparks(self) -> bool {
        matches!(self, OpKind::Unpark)
    }

    /// Whether it waits for the task's own token.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn parks(self) -> bool {
        matches!(self, OpKind::Park)
    }
}

/// The rules of parking.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        match operation.kind {
            OpKind::Park => engine.commit_park(task),
            _ => engine.commit_unpark(task, TaskId(operation.arg as u32)),
        }
    }

    /// A park whose time is up before it begins does not wait.
    fn is_enabled(&self, engine: &Engine, task: TaskId) -> bool {
        let t = &engine.tasks[task.index()];
        t.park_token || t.deadline().is_some_and(|end| end <= engine.timers.now())
    }

    fn aims(&self, a: &Label, b: &Label) -> Option<Relation> {
        let gives = (a.kind, b.kind) == (OpKind::Unpark, OpKind::Park) && a.arg == u64::from(b.task.0);
        gives.then_some(Relation::Dependent)
    }

    fn may_conflict(&self, step: &Step, pending: &Operation) -> bool {
        (step.kind, pending.kind) == (OpKind::Unpark, OpKind::Unpark) && step.arg == pending.arg
    }

    fn footprint(&self, step: &Step, _: bool, at: &mut Places) {
        at.push_resource(step.resource);
        match step.kind {
            OpKind::Park => at.push(Place::of_task(step.task.index())),
            _ => at.push(Place::of_task(step.arg as usize)),
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if label.kind != OpKind::Park {
            return Some(label);
        }
        let aims = |s: &Step| s.arg == u64::from(label.task.0);
        let (token, time_is_up) = there.steps().fold((false, false), |(token, time_is_up), s| match s.kind {
            OpKind::Unpark if aims(s) => (true, time_is_up),
            kind if kind.fires() && aims(s) && !s.is_refused() => (token, true),
            OpKind::Park if s.task == label.task => (false, false),
            _ if s.task == label.task => (token, false),
            _ => (token, time_is_up),
        });
        label.outcome = match (token, time_is_up) {
            (true, _) => outcome::OK,
            (false, true) => outcome::TIMED_OUT,
            (false, false) if there.was_over_at_once(&label) => outcome::TIMED_OUT,
            (false, false) => return None,
        };
        Some(label)
    }

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        if request.kind == OpKind::Park && request.is_ok() {
            flow.take_token(mine);
        }
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        if step.kind == OpKind::Unpark {
            flow.give_token(TaskId(step.arg as u32), mine);
        }
    }
}

impl Engine {
    /// Futures wait by parks, so these are not rare.
    #[inline(never)]
    pub(crate) fn commit_park(&mut self, task: TaskId) -> Committed {
        let t = &mut self.tasks[task.index()];
        let woken = std::mem::take(&mut t.park_token);
        t.set_deadline(None);
        let result = if woken { outcome::OK } else { outcome::TIMED_OUT };
        if let Some(step) = self.steps.last_mut() {
            step.outcome = result as u16;
        }
        self.leave_trail_of_park(task, OpKind::Park);
        Committed::Done(result)
    }

    #[inline(never)]
    pub(crate) fn commit_unpark(&mut self, task: TaskId, target: TaskId) -> Committed {
        let t = &mut self.tasks[target.index()];
        t.park_token = true;
        if t.status == Status::Disabled && t.pending.kind == OpKind::Park {
            self.enable(target);
        }
        self.leave_trail_of_unpark(task, target, OpKind::Unpark);
        Committed::Done(outcome::OK)
    }
}
