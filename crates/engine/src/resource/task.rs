//! Tasks: their beginning and end, and who waits for that.

use super::process;
use super::room::{Blocker, Facts, Room, Traits, not_here, refused_if};
use crate::causality::{Place, Places};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::There;
use crate::id::{Site, TaskId};
use crate::operation::{OpKind, Operation, outcome};
use crate::race::{Flow, Row};
use crate::strategy::Strategy;
use crate::task::Status;
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    match kind {
        OpKind::Start => Facts::of("start", &[]),
        OpKind::Spawn => Facts::of("spawn", &[T::GIVES, T::AIMS, T::TELLS]),
        OpKind::Exit => Facts::of("exit", &[T::GIVES, T::AIMS, T::ONLY_RELEASES, T::SILENT]),
        OpKind::Join => Facts::of("join", &[T::AIMS, T::SILENT, T::LEARNS, T::NEEDS_ENABLING]),
        OpKind::IsFinished => Facts::of(
            "is_finished",
            &[T::AIMS, T::REACHES, T::TELLS_OUTCOME, T::LEARNS_IF_OK, T::OBSERVES_EXITS, T::LOOKS_ABOUT],
        ),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it is the last step of a task.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn ends_task(self) -> bool {
        matches!(self, OpKind::Exit)
    }

    /// Whether it waits for a task's end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn joins(self) -> bool {
        matches!(self, OpKind::Join)
    }

    /// Whether it creates a task.
    pub(crate) const fn spawns(self) -> bool {
        matches!(self, OpKind::Spawn)
    }

    /// Whether it asks for a task's end, and does not wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn asks_for_end(self) -> bool {
        matches!(self, OpKind::IsFinished)
    }
}

/// The rules of tasks.
pub(crate) struct Rules;

fn is_at(label: &Label, task: TaskId) -> bool {
    label.arg == u64::from(task.0)
}

/// Whether a process was to make it that a signal was fatal to.
fn is_killed(label: &Label) -> bool {
    label.outcome == outcome::KILLED
}

impl Room for Rules {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        match operation.kind {
            kind @ (OpKind::Spawn | OpKind::Exit | OpKind::Join) => Committed::Done(engine.outcome_of(task, kind)),
            OpKind::IsFinished => {
                let finished = engine.tasks[operation.arg as usize].status == Status::Finished;
                Committed::Done(refused_if(!finished))
            }
            _ => Committed::Done(outcome::OK),
        }
    }

    fn is_enabled(&self, engine: &Engine, task: TaskId) -> bool {
        let target = engine.tasks[task.index()].pending.arg as usize;
        engine.tasks[target].status == Status::Finished
    }

    fn begin_wait(&self, engine: &mut Engine, task: TaskId) {
        let target = engine.tasks[task.index()].pending.arg as usize;
        let mut joiners = engine.tasks[target].joiners;
        joiners.push(task, &mut engine.tasks);
        engine.tasks[target].joiners = joiners;
    }

    fn blocker(&self, _: &Engine, request: &Operation) -> Blocker {
        match request.kind {
            OpKind::Join => Blocker::One(TaskId(request.arg as u32)),
            _ => Blocker::Anybody,
        }
    }

    fn blockers(&self, engine: &Engine, task: TaskId) -> Vec<(TaskId, Site)> {
        let pending = &engine.tasks[task.index()].pending;
        let target = TaskId(pending.arg as u32);
        match pending.kind {
            OpKind::Join => vec![(target, engine.tasks[target.index()].spawned_at)],
            _ => Vec::new(),
        }
    }

    fn aims(&self, a: &Label, b: &Label) -> Option<Relation> {
        match (a.kind, b.kind) {
            (OpKind::Spawn, _) => (is_at(a, b.task) && !is_killed(a)).then_some(Relation::Enabling),
            (OpKind::Join, OpKind::Exit) => is_at(a, b.task).then_some(Relation::Enabling),
            (OpKind::IsFinished, OpKind::Exit) => is_at(a, b.task).then_some(Relation::Dependent),
            _ => None,
        }
    }

    fn may_conflict(&self, step: &Step, pending: &Operation) -> bool {
        (step.kind, pending.kind) == (OpKind::Exit, OpKind::IsFinished) && pending.arg == u64::from(step.task.0)
    }

    fn footprint(&self, step: &Step, timed: bool, at: &mut Places) {
        match step.kind {
            OpKind::Join | OpKind::IsFinished => at.push(Place::of_task(step.arg as usize)),
            OpKind::Exit => {
                at.push(Place::of_task(step.task.index()));
                if timed {
                    at.push(Place::TIME);
                }
            }
            OpKind::Spawn if is_killed(&step.label()) => at.push(Place::of_task(step.task.index())),
            _ => at.push_resource(step.resource),
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        if label.kind == OpKind::Spawn {
            label.outcome = if process::is_doomed(label.task, there) { outcome::KILLED } else { outcome::OK };
        }
        if label.kind == OpKind::IsFinished {
            let exited = there.steps().any(|s| s.kind == OpKind::Exit && is_at(&label, s.task));
            label.outcome = refused_if(!exited);
        }
        Some(label)
    }

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        if matches!(request.kind, OpKind::Join | OpKind::IsFinished) {
            flow.learn_of_task(TaskId(request.arg as u32), mine);
        }
    }
}

/// Every execution has these steps, so they take a shorter way than through the room.
impl Engine {
    /// As [`Room::carry_out`], without all that goes for none of them.
    #[inline(never)]
    pub(super) fn commit_of_task(&mut self, task: TaskId, kind: OpKind) -> Committed {
        let outcome = self.outcome_of(task, kind);
        if let Some(step) = self.steps.last_mut() {
            step.outcome = outcome as u16;
        }
        self.leave_trail_of_own(task, kind);
        Committed::Done(outcome)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn outcome_of(&mut self, task: TaskId, kind: OpKind) -> u32 {
        if kind.spawns() && self.is_doomed_process(task) {
            return outcome::KILLED;
        }
        let committed = self.progress(|engine| match kind.ends_task() {
            true => engine.commit_exit(task),
            false => Committed::Done(outcome::OK),
        });
        let Committed::Done(outcome) = committed else { unreachable!("nobody waits to have ended") };
        outcome
    }
}
