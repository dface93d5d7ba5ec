//! An execution as the explorer sees it.

use super::Planned;
use super::names::{Cast, Name};
use crate::causality::Causality;
use crate::dependence::{Label, reaches_further};
use crate::id::{ResourceId, TaskId};
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
    /// From here on tasks only end and are joined: nothing can race there, and causality is not known.
    pub(super) end: usize,
    pub(super) resources: &'a [Resource],
    cast: &'a Cast,
    positions: &'a Positions,
    at_resources: &'a Positions,
    choices: &'a [u32],
    /// Whether some step can be dependent on steps of another resource than its own.
    pub(super) reaches_further: bool,
    view: &'a View<'a>,
}

/// What can be told of the steps of an execution alone; kept from one to the next, for its memory and
/// because executions that follow each other begin alike.
#[derive(Default)]
pub(super) struct Analysis {
    causality: Causality,
    /// By task.
    positions: Positions,
    /// By resource.
    at_resources: Positions,
    /// Of choices of an outcome.
    choices: Vec<u32>,
    /// Of the first step that can be dependent on steps of another resource than its own.
    reaching: Option<usize>,
}

/// So many steps are looked at one by one.
const FEW: usize = 64;

/// The positions of the steps of each of something.
#[derive(Default)]
struct Positions(Vec<Vec<u32>>);

impl Positions {
    /// Forgets those from `end` on.
    fn truncate(&mut self, end: usize) {
        for list in &mut self.0 {
            while list.last().is_some_and(|last| *last as usize >= end) {
                list.pop();
            }
        }
    }

    #[inline]
    fn push(&mut self, of: usize, position: usize) {
        match self.0.get_mut(of) {
            Some(list) => list.push(position as u32),
            None => self.push_first(of, position),
        }
    }

    #[cold]
    fn push_first(&mut self, of: usize, position: usize) {
        self.0.resize_with(of + 1, Vec::new);
        self.0[of].push(position as u32);
    }

    /// Those of one of them, from `position` on.
    fn from(&self, of: usize, position: usize) -> &[u32] {
        let all = self.0.get(of).map_or(&[][..], Vec::as_slice);
        match all {
            // Most of the time it is all of them, or none.
            [first, ..] if *first as usize >= position => all,
            [.., last] if (*last as usize) < position => &[],
            _ => &all[all.partition_point(|p| (*p as usize) < position)..],
        }
    }
}

impl Analysis {
    /// Knows of no execution any more.
    pub(super) fn forget(&mut self) {
        self.positions.truncate(0);
        self.at_resources.truncate(0);
        self.choices.clear();
        self.reaching = None;
        self.causality.become_of(&[], 0);
    }

    /// Analyses the execution that `view` shows: all of it, if `whole`, else up to its last step that can race.
    pub(super) fn of<'a>(&'a mut self, view: &'a View<'a>, cast: &'a Cast, whole: bool) -> Execution<'a> {
        let steps = view.steps();
        let as_before = self.causality.common(steps);
        self.positions.truncate(as_before);
        self.at_resources.truncate(as_before);
        self.choices.truncate(self.choices.partition_point(|at| (*at as usize) < as_before));
        self.reaching = self.reaching.filter(|at| *at < as_before);
        for (i, step) in steps.iter().enumerate().skip(as_before) {
            self.positions.push(step.task.index(), i);
            if step.resource != ResourceId::NONE {
                self.at_resources.push(step.resource.index(), i);
            }
            if step.kind == OpKind::Choose {
                self.choices.push(i as u32);
            }
            if self.reaching.is_none() && reaches_further(step.kind) {
                self.reaching = Some(i);
            }
        }
        let mut end = steps.len();
        if !whole && self.reaching.is_none() {
            let can_race = |step: &Step| !matches!(step.kind, OpKind::Exit | OpKind::Join);
            end = steps[as_before..].iter().rposition(can_race).map_or(as_before, |last| as_before + last + 1);
        }
        self.causality.become_of(&steps[..end], as_before);
        Execution {
            steps,
            causality: &self.causality,
            as_before,
            end,
            resources: view.resources(),
            cast,
            positions: &self.positions,
            at_resources: &self.at_resources,
            choices: &self.choices,
            reaches_further: self.reaching.is_some(),
            view,
        }
    }
}

impl<'a> Execution<'a> {
    /// An execution that is not over: its steps and resources are known, and `nothing` else.
    pub(super) fn so_far(view: &'a View<'a>, cast: &'a Cast, nothing: &'a Analysis) -> Self {
        let Analysis { causality, positions, at_resources, choices, .. } = nothing;
        Execution {
            steps: view.steps(),
            causality,
            as_before: 0,
            end: 0,
            resources: view.resources(),
            cast,
            positions,
            at_resources,
            choices,
            reaches_further: true,
            view,
        }
    }

    pub(super) fn name(&self, task: TaskId) -> Name {
        self.cast.name(task)
    }

    pub(super) fn task(&self, name: Name) -> Option<TaskId> {
        self.cast.task(name)
    }

    /// The step at `position`, as the tree would plan it.
    pub(super) fn planned_at(&self, position: usize) -> Planned {
        Planned { task: self.name(self.steps[position].task), choice: self.choice_at(position) }
    }

    /// The outcome of the step at `position`, if it is a choice.
    #[inline]
    pub(super) fn choice_at(&self, position: usize) -> u64 {
        let step = &self.steps[position];
        if step.kind == OpKind::Choose { step.value } else { 0 }
    }

    #[inline]
    pub(super) fn before(&self, i: usize, j: usize) -> bool {
        self.causality.before(self.steps, i, j)
    }

    /// The last step before `end` that comes after `i` but did not happen after it.
    pub(super) fn last_independent_of(&self, i: usize, end: usize) -> Option<usize> {
        if end - i <= FEW {
            return self.causality.last_independent_of(i, end);
        }
        // A task that has come to know of it does not forget it.
        let origin = self.causality.origin(i);
        let is_independent = |p: &u32| (*p as usize) < end && !self.causality.is_after(*p as usize, origin);
        let last = |of_task: &Vec<u32>| of_task[..of_task.partition_point(is_independent)].last().copied();
        self.positions.0.iter().filter_map(last).max().map(|p| p as usize).filter(|p| *p > i)
    }

    /// The positions of the steps of `task` from `position` on.
    pub(super) fn steps_of(&self, task: TaskId, position: usize) -> impl Iterator<Item = usize> + '_ {
        self.positions.from(task.index(), position).iter().map(|p| *p as usize)
    }

    /// The positions of the steps on `resource` from `position` on.
    #[inline]
    pub(super) fn steps_on(&self, resource: ResourceId, position: usize) -> &[u32] {
        match resource {
            ResourceId::NONE => &[],
            _ => self.at_resources.from(resource.index(), position),
        }
    }

    /// The positions before `end` at which an outcome was chosen.
    pub(super) fn choices_before(&self, end: usize) -> impl Iterator<Item = usize> + 'a {
        self.choices.iter().map(|at| *at as usize).take_while(move |at| *at < end)
    }

    /// What `task` had announced at `position` and not yet done.
    pub(super) fn pending_at(&self, task: TaskId, position: usize) -> Option<Label> {
        match self.steps_of(task, position).next() {
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
