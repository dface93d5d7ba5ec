//! What is there: the questions that strategies, executors and reports ask.

use super::Engine;
use super::Limits;
use crate::behaviour::{Behaviour, mix};
use crate::finding::Finding;
use crate::id::{ResourceId, Site, TaskId, TaskPath};
use crate::operation::OpKind;
use crate::resource::Resource;
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

    /// All tasks, by id.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// One task.
    #[inline]
    pub fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id.index()]
    }

    /// All resources, by id.
    pub fn resources(&self) -> &[Resource] {
        &self.resources[..self.resources_in_use]
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The limits of this execution.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What has gone wrong, if anything.
    pub fn finding(&self) -> Option<&Finding> {
        self.finding.as_ref()
    }

    /// Choices so far at which two or more tasks, or two or more outcomes, were possible.
    pub fn choices(&self) -> u64 {
        let choice = |s: &&Step| s.was_choice || (s.kind == OpKind::Choose && s.arg > 1);
        self.steps.iter().filter(choice).count() as u64
    }

    /// Virtual time since the execution began, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.timers.now()
    }

    /// The name of a task that is the same in every execution.
    pub fn path(&self, task: TaskId) -> TaskPath {
        if task == TaskId::CLOCK {
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

    /// Where `task` took `resource`, which it holds.
    pub fn taken_at(&self, task: TaskId, resource: ResourceId) -> Site {
        use OpKind::{Lock, OnceEnter, Read, TryLock, TryRead, TryWrite, Write};
        let takes = |s: &&Step| matches!(s.kind, Lock | TryLock | Read | TryRead | Write | TryWrite | OnceEnter);
        let t = &self.tasks[task.index()];
        // A task that waits for what it holds already has made a request since.
        let requests_since = usize::from(t.status == Status::Waiting && t.pending.resource == resource);
        let mut mine = self.steps.iter().rev().filter(takes).filter(|s| s.task == task && s.resource == resource);
        mine.nth(requests_since).map_or(Site::UNKNOWN, |step| step.site)
    }

    /// The behaviour hash of the execution so far ([`crate::behaviour`]).
    pub fn behaviour(&self, behaviour: &mut Behaviour) -> u64 {
        behaviour.of(&self.steps, |task| self.path_hash(task))
    }

    pub(super) fn path_hash(&self, task: TaskId) -> u64 {
        let mut hash = 0x51;
        let mut at = task;
        while at != TaskId::NONE {
            hash = mix(hash, u64::from(self.tasks[at.index()].ordinal) + 1);
            at = self.tasks[at.index()].parent;
        }
        hash
    }
}
