//! Who sleeps: the steps with which a new sequence must not begin, since what begins with them has
//! been, or will be, explored elsewhere.

use super::Planned;
use super::context::label_after;
use super::execution::Execution;
use super::route::Route;
use crate::dependence::{Label, dependent, dependent_on_step};
use crate::id::TaskId;
use crate::trace::Step;

/// A step that has been, or will be, explored first elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleeper {
    pub(super) planned: Planned,
    /// What it is in this execution; unknown if this execution never came to know.
    pub(super) label: Option<Label>,
}

impl Sleeper {
    /// The step `planned`, which is beside the branch that was taken at `depth`.
    fn beside(execution: &Execution<'_>, planned: Planned, depth: usize) -> Sleeper {
        let task = execution.task(planned.task);
        let pending = task.and_then(|task| execution.pending_at(task, depth));
        let label = pending.map(|l| label_after(execution, l, depth, depth, |i| i < depth).unwrap_or(l));
        Sleeper { planned, label }
    }

    /// The step that the execution made at `depth`.
    pub(super) fn taken(execution: &Execution<'_>, depth: usize) -> Sleeper {
        Sleeper { planned: execution.planned_at(depth), label: Some(execution.steps[depth].label()) }
    }

    /// Who makes it in this execution.
    #[inline]
    pub(super) fn task(&self, execution: &Execution<'_>) -> Option<TaskId> {
        self.label.map(|label| label.task).or_else(|| execution.task(self.planned.task))
    }

    /// Whether a step with `label` wakes it.
    #[inline]
    pub(super) fn is_woken_by(&self, label: Option<&Label>) -> bool {
        match (label, &self.label) {
            (Some(label), Some(own)) => dependent(label, own),
            _ => true,
        }
    }

    /// The same of a step that was made.
    #[inline]
    pub(super) fn is_woken_by_step(&self, step: &Step) -> bool {
        self.label.as_ref().is_none_or(|own| dependent_on_step(step, own))
    }
}

/// Along the path of an execution, who must not begin a sequence beside the branch that was taken: who
/// sleeps there, and who is to the left. Worked out as far as it was needed, and kept from one
/// execution to the next: as far as they take the same path, it is the same.
#[derive(Default)]
pub(super) struct Asleep {
    sleepers: Vec<Sleeper>,
    lists: Vec<List>,
}

/// Who it is at one depth, as places in the list of all.
#[derive(Clone, Copy)]
struct List {
    asleep: usize,
    left: usize,
    end: usize,
}

impl Asleep {
    /// Begins with the execution whose planned steps lead along `route`.
    pub(super) fn begin(&mut self, route: &Route, execution: &Execution<'_>) {
        self.lists.truncate(route.common().min(execution.as_before + 1));
        self.sleepers.truncate(self.lists.last().map_or(0, |last| last.end));
    }

    /// Who sleeps before the step at `depth`.
    pub(super) fn at(&mut self, depth: usize, route: &Route, execution: &Execution<'_>) -> &[Sleeper] {
        let list = self.list(depth, route, execution);
        &self.sleepers[list.asleep..list.left]
    }

    /// Who must not begin a sequence beside the branch that was taken at `depth`.
    pub(super) fn beside(&mut self, depth: usize, route: &Route, execution: &Execution<'_>) -> &[Sleeper] {
        let list = self.list(depth, route, execution);
        &self.sleepers[list.asleep..list.end]
    }

    fn list(&mut self, depth: usize, route: &Route, execution: &Execution<'_>) -> List {
        while self.lists.len() <= depth {
            let at = self.lists.len();
            let above = self.lists.last().map_or(0..0, |list| list.asleep..list.end);
            let asleep = self.sleepers.len();
            if !above.is_empty() {
                let step = &execution.steps[at - 1];
                let task = execution.name(step.task);
                for i in above {
                    let sleeper = self.sleepers[i];
                    if sleeper.planned.task != task && !sleeper.is_woken_by_step(step) {
                        self.sleepers.push(sleeper);
                    }
                }
            }
            let left = self.sleepers.len();
            self.sleepers.extend(route.left_of(at).iter().map(|left| Sleeper::beside(execution, *left, at)));
            self.lists.push(List { asleep, left, end: self.sleepers.len() });
        }
        self.lists[depth]
    }
}
