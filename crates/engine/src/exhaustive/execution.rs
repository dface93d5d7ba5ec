//! An execution as the explorer sees it.

use super::Planned;
use super::names::{Cast, Name};
use crate::causality::Causality;
use crate::dependence::Label;
use crate::id::{ResourceId, TaskId};
use crate::operation::Operation;
use crate::resource::{Resource, Traits};
use crate::strategy::View;
use crate::task::Status;
use crate::time::Started;
use crate::trace::Step;

pub(super) struct Execution<'a> {
    /// Those that were made, and after them those that are awaited in vain.
    pub(super) steps: &'a [Step],
    /// So many were made.
    pub(super) made: usize,
    pub(super) causality: &'a Causality,
    /// Steps at the beginning that the execution analysed before has made, too.
    pub(super) as_before: usize,
    /// From here on tasks only end and are joined: nothing can race there. Neither causality nor whose steps these are
    /// is known.
    pub(super) end: usize,
    pub(super) resources: &'a [Resource],
    cast: &'a Cast,
    /// None if it is short.
    lists: Option<&'a Lists>,
    choices: &'a [u32],
    /// Whether some step can be dependent on steps of another resource than its own.
    pub(super) reaches_further: bool,
    /// Whether the clock may have made a step.
    pub(super) has_timers: bool,
    view: &'a View<'a>,
}

/// What can be told of the steps of an execution alone; kept from one to the next, for its memory and
/// because executions that follow each other begin alike.
#[derive(Default)]
pub(super) struct Analysis {
    causality: Causality,
    lists: Lists,
    /// Of choices of an outcome.
    choices: Vec<u32>,
    /// Of the first step that can be dependent on steps of another resource than its own.
    reaching: Option<usize>,
    /// The first step of the clock, if there is one.
    fired: Option<usize>,
    /// All steps, if some are awaited in vain.
    with_awaits: Vec<Step>,
}

/// So many steps are looked at one by one: that takes less time than to keep lists of them.
const FEW: usize = 64;

/// Where whose steps are.
#[derive(Default)]
struct Lists {
    of_tasks: Positions,
    at_resources: Positions,
    /// Of so many steps at the beginning; the others are of executions before.
    listed: usize,
}

impl Lists {
    /// Lists all of `steps`; those that are listed are the same.
    fn add(&mut self, steps: &[Step]) {
        self.of_tasks.truncate(self.listed);
        self.at_resources.truncate(self.listed);
        for (step, i) in steps[self.listed..].iter().zip(self.listed..) {
            self.of_tasks.push(step.task.index(), i);
            if step.resource != ResourceId::NONE {
                self.at_resources.push(step.resource.index(), i);
            }
        }
        self.listed = steps.len();
    }
}

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
        self.lists.listed = 0;
        self.choices.clear();
        self.reaching = None;
        self.fired = None;
        self.causality.become_of(&[], 0);
    }

    /// Whether what it keeps is not much.
    pub(super) fn is_small(&self) -> bool {
        self.causality.room() <= 1 << 16
    }

    /// How many steps at the beginning are those of the execution that was analysed before.
    pub(super) fn common(&self, view: &View<'_>) -> usize {
        self.causality.common(view.steps())
    }

    /// The step at a position of the execution that was analysed last, as far as it was looked at.
    pub(super) fn step(&self, position: usize) -> Option<&Step> {
        self.causality.steps().get(position)
    }

    /// Analyses the execution that `view` shows, which has so many steps in [common](Self::common) with the one before: all
    /// of it, if `whole`, else up to its last step that can race.
    pub(super) fn of<'a>(
        &'a mut self,
        view: &'a View<'a>,
        cast: &'a Cast,
        as_before: usize,
        whole: bool,
    ) -> Execution<'a> {
        let steps = view.steps();
        let made = steps.len();
        self.lists.listed = self.lists.listed.min(as_before);
        self.choices.truncate(self.choices.partition_point(|at| (*at as usize) < as_before));
        self.reaching = self.reaching.filter(|at| *at < as_before);
        self.fired = self.fired.filter(|at| *at < as_before);
        let can_race = |step: &Step| !step.kind.is(Traits::SILENT);
        let mut end = as_before + steps[as_before..].iter().rposition(can_race).map_or(0, |last| last + 1);
        for (step, i) in steps[as_before..end].iter().zip(as_before..) {
            // Most are neither.
            if !step.kind.is(Traits::CHOOSES.with(Traits::REACHES)) {
                continue;
            }
            if step.kind.is(Traits::REACHES) && self.reaching.is_none() {
                self.reaching = Some(i);
            }
            if step.kind.fires() && self.fired.is_none() {
                self.fired = Some(i);
            }
            if step.kind.is(Traits::CHOOSES) && (!step.kind.happens() || step.value != 0) {
                self.choices.push(i as u32);
            }
        }
        self.with_awaits.clear();
        self.with_awaits.extend(view.awaits_in_vain());
        let awaits = !self.with_awaits.is_empty();
        if whole || self.reaching.is_some() || awaits {
            end = made;
        }
        if end > FEW {
            self.lists.add(&steps[..end]);
        }
        if awaits {
            self.with_awaits.splice(0..0, steps.iter().copied());
            self.causality.become_of(&self.with_awaits, as_before);
        } else {
            self.causality.become_of(&steps[..end], as_before);
        }
        let steps = if awaits { &self.with_awaits } else { steps };
        Execution {
            steps,
            made,
            causality: &self.causality,
            as_before,
            end,
            resources: view.resources(),
            cast,
            lists: (end > FEW).then_some(&self.lists),
            choices: &self.choices,
            reaches_further: self.reaching.is_some(),
            has_timers: self.fired.is_some(),
            view,
        }
    }
}

impl<'a> Execution<'a> {
    /// An execution that is not over: its steps and resources are known, and `nothing` else.
    pub(super) fn so_far(view: &'a View<'a>, cast: &'a Cast, nothing: &'a Analysis) -> Self {
        let Analysis { causality, choices, .. } = nothing;
        Execution {
            steps: view.steps(),
            made: view.steps().len(),
            causality,
            as_before: 0,
            end: 0,
            resources: view.resources(),
            cast,
            lists: None,
            choices,
            reaches_further: true,
            has_timers: true,
            view,
        }
    }

    /// Whether `task` belongs to the environment.
    pub(super) fn is_environment(&self, task: TaskId) -> bool {
        self.view.is_environment(task)
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
        step.chosen()
    }

    #[inline]
    pub(super) fn before(&self, i: usize, j: usize) -> bool {
        self.causality.before(i, j)
    }

    /// The last step before `end` that comes after `i` but did not happen after it.
    pub(super) fn last_independent_of(&self, i: usize, end: usize) -> Option<usize> {
        let Some(lists) = self.lists.filter(|_| end - i > FEW) else {
            return self.causality.last_independent_of(i, end);
        };
        // A task that has come to know of it does not forget it.
        let origin = self.causality.origin(i);
        let is_independent = |p: &u32| (*p as usize) < end && !self.causality.is_after(*p as usize, origin);
        let last = |of_task: &Vec<u32>| of_task[..of_task.partition_point(is_independent)].last().copied();
        lists.of_tasks.0.iter().filter_map(last).max().map(|p| p as usize).filter(|p| *p > i)
    }

    /// The first step of `task` from `position` on, before the end, that is `wanted`.
    #[inline]
    pub(super) fn find_of(&self, task: TaskId, position: usize, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        match self.lists {
            None => (position..self.end).find(|i| self.steps[*i].task == task && wanted(*i)),
            Some(lists) => lists.of_tasks.from(task.index(), position).iter().map(|i| *i as usize).find(|i| wanted(*i)),
        }
    }

    /// The first step on `resource` from `position` on, before `end`, that is `wanted`.
    #[inline]
    pub(super) fn find_on(
        &self,
        resource: ResourceId,
        position: usize,
        end: usize,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        match self.lists {
            _ if resource == ResourceId::NONE => None,
            None => (position..end).find(|i| self.steps[*i].resource == resource && wanted(*i)),
            Some(lists) => {
                let on_it = lists.at_resources.from(resource.index(), position).iter().map(|i| *i as usize);
                on_it.take_while(|i| *i < end).find(|i| wanted(*i))
            }
        }
    }

    /// The positions before `end` at which an outcome was chosen.
    pub(super) fn choices_before(&self, end: usize) -> impl Iterator<Item = usize> + 'a {
        self.choices.iter().map(|at| *at as usize).take_while(move |at| *at < end)
    }

    /// The positions from `first` on, before `end`, at which it was decided what other steps of a task come to, or found that it had been:
    /// kills, signals, and what decides of signals.
    pub(super) fn decided_between(&self, first: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
        let end = if self.reaches_further { end } else { first };
        let decides = |step: &Step| step.kind.kills() || step.kind.is_killed() || step.decides_for_process();
        (first..end).filter(move |at| decides(&self.steps[*at]))
    }

    /// All timers, if every timer fires.
    pub(super) fn timers(&self) -> &'a [Started] {
        self.view.timers()
    }

    /// What `task` had announced at `position` and not yet done.
    pub(super) fn pending_at(&self, task: TaskId, position: usize) -> Option<Label> {
        self.announced(task, self.find_of(task, position, |_| true), position)
    }

    /// What `task` had announced at `position` and not yet done, if `next` is its next step before the end.
    #[inline]
    pub(super) fn announced(&self, task: TaskId, next: Option<usize>, position: usize) -> Option<Label> {
        let after_end = || (self.end.max(position)..self.steps.len()).find(|i| self.steps[*i].task == task);
        match next.or_else(after_end) {
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
