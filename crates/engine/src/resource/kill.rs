//! Killing a task while the others go on.
//!
//! A killed task stops before its next step. It gives nothing back: the locks that it holds stay held, and what it waits for
//! goes to it and is lost. So a destructor can act on nothing that others see, because none runs before the execution is over.
//! That is how a machine dies. A task that should clean up first has to be asked to end.
//!
//! No step ever disables another one, and a kill is no exception. The next step of a killed task is still made, as
//! [`Killed`](OpKind::Killed): it touches nothing, and depends on the kill alone. A kill depends on every step of its task and on
//! nothing else: what happens before it happens, what comes after it does not. A task that waits goes on waiting; if its wait is granted,
//! it is killed at the step that follows. A step that is only made once others have done something (a join, a park, a sleep) is such a
//! wait, too. Nobody notices it, so it is made in any case, and commutes with the kill.
//!
//! A *set* of tasks is killed one by one, and no schedule can tell. Between two of these kills other tasks may act, but whatever
//! a task of the set does there could have been done before the first kill: it is not ordered with the kills made so far. The
//! engine walks a [group](Engine::next_member) in the order of spawn paths. So what a task has spawned comes after it, when it can
//! spawn nothing more.

use super::room::{Facts, Room, Traits, not_here};
use crate::behaviour::mix;
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
        OpKind::Kill => Facts::of("kill", &[T::AIMS, T::REACHES, T::SAME_ANYWHERE, T::UNATTENDED]),
        OpKind::Killed => Facts::of("is killed", &[T::AIMS, T::REACHES]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it kills a task.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn kills(self) -> bool {
        matches!(self, OpKind::Kill)
    }

    /// Whether it stands for a step that a killed task does not make.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn is_killed(self) -> bool {
        matches!(self, OpKind::Killed)
    }

    /// Whether a killed task does not make it.
    #[inline]
    pub(crate) fn can_be_killed(self) -> bool {
        !self.is(Traits::NEEDS_ENABLING) && !self.is_killed()
    }
}

/// What a killed task would have done, in one word: its kind, its resource, and as much of its operand as there is room for.
const KIND_AT: u32 = 57;
const RESOURCE_AT: u32 = 33;
const LARGEST_OPERAND: u64 = (1 << RESOURCE_AT) - 1;
const LARGEST_RESOURCE: u32 = (1 << (KIND_AT - RESOURCE_AT)) - 1;

impl Operation {
    /// The step that a killed task makes in place of this one.
    pub(crate) fn killed(&self) -> Operation {
        let kind = (self.kind as u64) << KIND_AT;
        let resource = u64::from(self.resource.0.min(LARGEST_RESOURCE)) << RESOURCE_AT;
        let arg = kind | resource | self.arg.min(LARGEST_OPERAND);
        Operation { site: self.site, arg, resource: ResourceId::NONE, kind: OpKind::Killed }
    }
}

/// What the task would have done if it had not been killed.
fn unkilled(killed: Label) -> Label {
    let kind = OpKind::ALL[(killed.arg >> KIND_AT) as usize];
    let resource = match (killed.arg >> RESOURCE_AT) as u32 & LARGEST_RESOURCE {
        LARGEST_RESOURCE => ResourceId::NONE,
        id => ResourceId(id),
    };
    // What an access would have seen is not known: it counts as one that depends on all others.
    let outcome = if kind.is_of_queue() { outcome::REFUSED } else { outcome::OK };
    Label { kind, resource, arg: killed.arg & LARGEST_OPERAND, outcome, ..killed }
}

/// The rules of killing.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        engine.progress(|engine| {
            match operation.kind {
                OpKind::Kill => engine.kill(TaskId(operation.arg as u32)),
                _ => engine.lay_down(task),
            }
            Committed::Done(outcome::OK)
        })
    }

    fn aims(&self, a: &Label, b: &Label) -> Option<Relation> {
        let is_at = a.kind == OpKind::Kill && a.arg == u64::from(b.task.0);
        (is_at && !b.kind.is(Traits::NEEDS_ENABLING)).then_some(Relation::Dependent)
    }

    fn footprint(&self, step: &Step, _: bool, at: &mut Places) {
        match step.kind {
            OpKind::Kill => at.push(Place::of_task(step.arg as usize)),
            _ => at.push(Place::of_task(step.task.index())),
        }
    }

    /// Which step was the last one shows when a task was killed. Whether a further kill came before or after that step shows here.
    fn fold_aim(&self, engine: &mut Engine, hash: u64, step: &Step) -> u64 {
        let is_over =
            |task: u64| engine.tasks[task as usize].pending.kind.is_killed() && !engine.is_doomed(TaskId(task as u32));
        if step.kind.kills() { mix(hash, u64::from(is_over(step.arg))) } else { hash }
    }

    /// Before the kill the task would have made its own step.
    fn moved(&self, label: Label, there: &There<'_>) -> Option<Label> {
        let was_killed = there.steps().any(|s| s.kind == OpKind::Kill && s.arg == u64::from(label.task.0));
        if was_killed { Some(label) } else { there.instead(unkilled(label)) }
    }
}
