//! How much each task has left of what a profile counts.

use super::Profile;
use super::profile::UNKNOWN;
use super::walk::at;
use crate::id::TaskId;

/// What each task, and those that it has yet to spawn, have left in this execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Remaining {
    /// Of each task by name, with all its descendants.
    totals: Vec<u64>,
    /// What a task has that was never seen before.
    least: u64,
    tasks: Vec<Share>,
}

#[derive(Clone, Debug)]
struct Share {
    name: u32,
    spawned: u32,
    left: u64,
}

impl Default for Share {
    fn default() -> Self {
        Share { name: UNKNOWN, spawned: 0, left: 0 }
    }
}

impl Remaining {
    /// A new execution, in which each task by name has what `count` puts at its place.
    pub(super) fn begin(&mut self, profile: &Profile, least: u64, count: impl FnOnce(&mut [u64])) {
        self.totals.clear();
        self.totals.resize(profile.names(), 0);
        count(&mut self.totals);
        profile.add_descendants(&mut self.totals);
        self.least = least;
        self.tasks.clear();
        let main = Share { name: 0, spawned: 0, left: self.total(0) };
        *at(&mut self.tasks, TaskId::MAIN) = main;
    }

    fn total(&self, name: u32) -> u64 {
        self.totals.get(name as usize).copied().unwrap_or(self.least)
    }

    /// `parent` has spawned `child`, which takes its share with it. Returns both shares.
    pub(super) fn spawned(&mut self, profile: &Profile, parent: TaskId, child: TaskId) -> (u64, u64) {
        let from = at(&mut self.tasks, parent);
        from.spawned += 1;
        let name = profile.child(from.name, from.spawned);
        let before = from.left;
        let share = self.total(name);
        self.tasks[parent.index()].left = before.saturating_sub(share);
        *at(&mut self.tasks, child) = Share { name, spawned: 0, left: share };
        (before, share)
    }

    /// The next child of `parent` has this number.
    pub(super) fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        at(&mut self.tasks, parent).spawned = ordinal - 1;
    }

    /// `task` has made one of them.
    pub(super) fn made(&mut self, task: TaskId) {
        let left = &mut at(&mut self.tasks, task).left;
        *left = left.saturating_sub(1);
    }

    /// What `task` has left.
    pub(super) fn of(&self, task: TaskId) -> u64 {
        self.tasks.get(task.index()).map_or(0, |share| share.left)
    }
}
