//! An execution as the explorer sees it.

use super::Planned;
use super::names::Name;
use crate::causality::Causality;
use crate::dependence::Label;
use crate::id::TaskId;
use crate::operation::{OpKind, Operation};
use crate::resource::Resource;
use crate::strategy::View;
use crate::task::Status;
use crate::trace::Step;

pub(super) struct Execution<'a> {
    pub(super) steps: &'a [Step],
    pub(super) causality: &'a Causality,
    /// Steps at the beginning that the execution analysed before has made, too.
    pub(super) as_before: usize,
    pub(super) resources: &'a [Resource],
    names: &'a [Name],
    positions: &'a Positions,
    view: &'a View<'a>,
}

/// What can be told of the steps of an execution alone; kept from one to the next, for its memory and
/// because executions that follow each other begin alike.
#[derive(Default)]
pub(super) struct Analysis {
    causality: Causality,
    positions: Positions,
}

/// By task: the positions of its steps.
#[derive(Default)]
struct Positions(Vec<Vec<u32>>);

impl Analysis {
    /// Analyses the execution that `view` shows.
    pub(super) fn of<'a>(&'a mut self, view: &'a View<'a>, names: &'a [Name]) -> Execution<'a> {
        let steps = view.steps();
        let as_before = self.causality.become_of(steps);
        let positions = &mut self.positions.0;
        positions.iter_mut().for_each(Vec::clear);
        if positions.len() < names.len() {
            positions.resize_with(names.len(), Vec::new);
        }
        for (i, step) in steps.iter().enumerate() {
            positions[step.task.index()].push(i as u32);
        }
        Execution {
            steps,
            causality: &self.causality,
            as_before,
            resources: view.resources(),
            names,
            positions: &self.positions,
            view,
        }
    }
}

impl<'a> Execution<'a> {
    /// An execution that is not over: its steps and resources are known, and `nothing` else.
    pub(super) fn so_far(view: &'a View<'a>, names: &'a [Name], nothing: &'a Analysis) -> Self {
        let Analysis { causality, positions } = nothing;
        let (steps, resources) = (view.steps(), view.resources());
        Execution { steps, causality, as_before: 0, resources, names, positions, view }
    }

    pub(super) fn name(&self, task: TaskId) -> Name {
        self.names[task.index()]
    }

    pub(super) fn task(&self, name: Name) -> Option<TaskId> {
        self.names.iter().position(|n| *n == name).map(|id| TaskId(id as u32))
    }

    /// The step at `position`, as the tree would plan it.
    pub(super) fn planned_at(&self, position: usize) -> Planned {
        let step = &self.steps[position];
        let choice = if step.kind == OpKind::Choose { step.value } else { 0 };
        Planned { task: self.name(step.task), choice }
    }

    pub(super) fn before(&self, i: usize, j: usize) -> bool {
        self.causality.before(self.steps, i, j)
    }

    /// The position of the next step of `task` at or after `position`, if it made one.
    pub(super) fn next_of(&self, task: TaskId, position: usize) -> Option<usize> {
        let own = &self.positions.0[task.index()];
        own.get(own.partition_point(|p| (*p as usize) < position)).map(|p| *p as usize)
    }

    /// What `task` had announced at `position` and not yet done.
    pub(super) fn pending_at(&self, task: TaskId, position: usize) -> Option<Label> {
        match self.next_of(task, position) {
            Some(next) => Some(self.steps[next].label()),
            None => {
                let task_then = self.view.task(task);
                // One that waits has made its step; what it does next, it has not announced.
                let announced = matches!(task_then.status, Status::Ready | Status::Disabled);
                let Operation { kind, resource, arg, .. } = task_then.pending;
                announced.then_some(Label { task, kind, resource, arg, outcome: 0, value: 0 })
            }
        }
    }
}
