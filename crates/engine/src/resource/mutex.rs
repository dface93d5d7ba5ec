//! Mutual exclusion: a request is granted when its predecessor unlocks.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;

impl Engine {
    #[inline(always)]
    pub(crate) fn commit_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let mutex = &mut self.resources[id.index()];
        let Some(holder) = mutex.holders.exclusive() else {
            mutex.holders.set_exclusive(Some(task));
            return Committed::Done(outcome::OK);
        };
        mutex.waiters.push(task, &mut self.tasks);
        self.wait_for(task, holder)
    }

    pub(crate) fn commit_try_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let mutex = &mut self.resources[id.index()];
        if mutex.holders.is_empty() {
            mutex.holders.set_exclusive(Some(task));
            return Committed::Done(outcome::OK);
        }
        Committed::Done(outcome::REFUSED)
    }

    /// Whoever unlocks, the mutex is free: a guard may have been sent to another task.
    #[inline(always)]
    pub(crate) fn commit_unlock(&mut self, id: ResourceId) -> Committed {
        let mutex = &mut self.resources[id.index()];
        let next = mutex.waiters.pop(&mut self.tasks);
        mutex.holders.set_exclusive(next);
        if let Some(next) = next {
            self.grant(next, outcome::OK);
        }
        Committed::Done(outcome::OK)
    }
}
