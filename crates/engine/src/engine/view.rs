//! What is there: the questions that strategies, executors and reports ask.

use super::Engine;
use super::Limits;
use crate::ending::Ending;
use crate::finding::{Finding, Standing};
use crate::id::{ResourceId, Site, TaskId, TaskPath};
use crate::operation::Operation;
use crate::resource::{Resource, Traits};
use crate::strategy::View;
use crate::task::{Status, Task};
use crate::trace::Step;

impl Engine {
    /// The task that made the last step or is running its own code.
    #[inline]
    pub fn current(&self) -> TaskId {
        self.current
    }

    /// The execution as a strategy sees it.
    pub fn view(&self) -> View<'_> {
        View { engine: self, ready: &self.ready, current: self.current }
    }

    /// Those who can make a step.
    pub(crate) fn ready(&self) -> &[TaskId] {
        &self.ready
    }

    /// All tasks, by id.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// One task.
    #[inline]
    pub fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id.index()]
    }

    /// Whether all that `task` would do now is to begin waiting, unnoticed by others ([`View::would_wait`]).
    #[inline]
    pub(crate) fn would_wait(&self, task: TaskId) -> bool {
        let t = &self.tasks[task.index()];
        let kind = t.pending.kind;
        !t.is_limited() && kind.is(Traits::QUEUES_UNNOTICED) && kind.room().must_wait(self, &t.pending)
    }

    /// All resources, by id.
    pub fn resources(&self) -> &[Resource] {
        &self.resources[..self.resources_in_use]
    }

    /// What there is to tell of the execution, for later: everything that this file answers. No execution
    /// can go on from it.
    pub fn snapshot(&self) -> Engine {
        Engine {
            tasks: self.tasks.clone(),
            resources: self.resources().to_vec(),
            resources_in_use: self.resources_in_use,
            steps: self.steps.clone(),
            limits: self.limits.clone(),
            ending: self.ending.clone(),
            exhaustive: self.exhaustive,
            aside: self.aside.clone(),
            notes: self.notes.clone(),
            ..Engine::new()
        }
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The limits of this execution.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What else is to be said of the execution, besides what has gone wrong.
    pub fn aside(&self) -> Option<&str> {
        self.aside.as_deref()
    }

    /// What `task` holds, and where it took each.
    pub fn held_by(&self, task: TaskId) -> Vec<(ResourceId, Site)> {
        let holds = |r: &ResourceId| self.resources[r.index()].holders.iter().any(|holder| holder.task == task);
        let held = (0..self.resources_in_use as u32).map(ResourceId).filter(holds);
        held.map(|resource| (resource, self.taken_at(task, resource))).collect()
    }

    /// The operations before which all tasks stand that have begun and not ended, but for `task` and those of the environment.
    pub fn standing_beside(&self, task: TaskId) -> Vec<Standing> {
        let others = (0..self.tasks.len() as u32).map(TaskId).filter(|other| *other != task);
        let is_left = |t: &Task| !t.environment && t.status != Status::Finished;
        let unfinished = others.filter(|other| is_left(&self.tasks[other.index()]));
        let standing = |task: TaskId| {
            let Operation { kind, resource, site, .. } = self.tasks[task.index()].pending;
            Standing { task, kind, resource, site }
        };
        unfinished.map(standing).filter(|standing| standing.site != Site::UNKNOWN).collect()
    }

    /// What the execution comes to, as far as that is known: as long as it runs, to its end.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// What has gone wrong, if anything.
    pub fn finding(&self) -> Option<&Finding> {
        self.ending.finding()
    }

    /// Choices so far at which two or more tasks, or two or more outcomes, were possible.
    pub fn choices(&self) -> u64 {
        let choice = |s: &&Step| s.was_choice || s.choices().each().next().is_some();
        self.steps.iter().filter(choice).count() as u64
    }

    /// Virtual time since the execution began, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.timers.now()
    }

    /// The name of a task that is the same in every execution.
    pub fn path(&self, task: TaskId) -> TaskPath {
        if self.has_no_path(task) {
            return TaskPath(Vec::new());
        }
        let mut parts = Vec::new();
        let mut at = task;
        while at != TaskId::NONE {
            let task = &self.tasks[at.index()];
            parts.push(task.ordinal);
            at = task.parent;
        }
        parts.reverse();
        TaskPath(parts)
    }

    /// Whether that is the [path](Self::path) of `task`.
    pub(crate) fn is_path_of(&self, task: TaskId, path: &TaskPath) -> bool {
        if self.has_no_path(task) {
            return path.0.is_empty();
        }
        let mut parts = path.0.iter().rev();
        let mut at = task;
        while at != TaskId::NONE {
            let task = &self.tasks[at.index()];
            if parts.next() != Some(&task.ordinal) {
                return false;
            }
            at = task.parent;
        }
        parts.next().is_none()
    }

    /// Whether nobody has created `task`, and it is not main either.
    fn has_no_path(&self, task: TaskId) -> bool {
        let t = &self.tasks[task.index()];
        t.environment && t.parent == TaskId::NONE
    }

    /// Where `task` took `resource`, which it holds.
    pub fn taken_at(&self, task: TaskId, resource: ResourceId) -> Site {
        let takes = |s: &&Step| s.kind.is(Traits::HOLDS);
        let t = &self.tasks[task.index()];
        // A task that waits for what it holds already has made a request since.
        let requests_since = usize::from(t.status == Status::Waiting && t.pending.resource == resource);
        let mut mine = self.steps.iter().rev().filter(takes).filter(|s| s.task == task && s.resource == resource);
        mine.nth(requests_since).map_or(Site::UNKNOWN, |step| step.site)
    }
}
