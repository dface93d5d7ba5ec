//! How tasks and resources come into being, and get their names.

use super::Engine;
use crate::finding::FindingKind;
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::ResourceKind;
use crate::resource::{Resource, State};
use crate::strategy::Strategy;
use crate::task::Task;

impl Engine {
    /// Registers a resource that `task` is about to touch for the first time.
    pub fn create_resource(&mut self, task: TaskId, kind: ResourceKind, state: State, created_at: Site) -> ResourceId {
        let creator = &mut self.tasks[task.index()];
        creator.resources_created += 1;
        let ordinal = creator.resources_created;
        let id = ResourceId(self.resources_in_use as u32);
        match self.resources.get_mut(id.index()) {
            Some(old) => old.renew(kind, state, task, ordinal, created_at),
            None => self.resources.push(Resource::new(kind, state, task, ordinal, created_at)),
        }
        self.resources_in_use += 1;
        id
    }

    /// Its owner has dropped the resource: it cannot leak any more.
    pub fn drop_resource(&mut self, id: ResourceId) {
        self.resources[id.index()].dropped = true;
    }

    /// The resource was there before this execution.
    pub fn mark_from_outside(&mut self, id: ResourceId) {
        self.resources[id.index()].from_outside = true;
    }

    /// Gives a resource a name for reports.
    pub fn name_resource(&mut self, id: ResourceId, name: &str) {
        self.resources[id.index()].name = Some(name.into());
    }

    /// Gives a task a name for reports.
    pub fn name_task(&mut self, id: TaskId, name: &str) {
        self.tasks[id.index()].name = Some(name.into());
    }

    /// Nobody waits for `task` in the end: once all others have exited, it goes on as far as it can without time
    /// passing, and is left where it is.
    pub fn make_daemon(&mut self, task: TaskId) {
        self.tasks[task.index()].daemon = true;
    }

    /// Creates a child of `parent`, to be settled before the next choice. Call it between the
    /// parent's `Spawn` commit and its next announcement.
    pub fn spawn(
        &mut self,
        parent: TaskId,
        spawned_at: Site,
        name: Option<Box<str>>,
        strategy: &mut dyn Strategy,
    ) -> TaskId {
        let child = self.create_task(parent, spawned_at, name, strategy);
        self.unsettle(child);
        child
    }

    /// Creates a child of `parent`, which has announced nothing yet and is in no list.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn create_task(
        &mut self,
        parent: TaskId,
        spawned_at: Site,
        name: Option<Box<str>>,
        strategy: &mut dyn Strategy,
    ) -> TaskId {
        let parent_task = &mut self.tasks[parent.index()];
        parent_task.children += 1;
        let ordinal = parent_task.children;
        let (hash, group) = (parent_task.hash_of_child(), parent_task.group);
        // Nobody waits for a group whose tasks nobody waits for.
        let daemon = group != 0 && parent_task.daemon;
        let child = TaskId(self.tasks.len() as u32);
        let mut task = Task::new(parent, ordinal, spawned_at, name);
        task.granted_by = self.steps.len() as u32;
        task.hash = hash;
        (task.group, task.daemon) = (group, daemon);
        self.tasks.push(task);
        // A guest comes into being by a step of any kind, which has an operand of its own.
        if let Some(step) = self.steps.last_mut().filter(|step| step.kind.spawns()) {
            step.arg = u64::from(child.0);
        }
        strategy.spawned(parent, child);
        if self.tasks.len() as u64 > u64::from(self.limits.max_tasks) {
            self.fail(FindingKind::TaskLimit, parent);
        }
        child
    }
}
