//! Mutual exclusion: a request is granted when its predecessor unlocks.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;
use crate::resource::Holder;

impl Engine {
    #[inline]
    pub(crate) fn commit_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let site = self.tasks[task.index()].pending.site;
        let mutex = &mut self.resources[id.index()];
        if mutex.holders.is_empty() {
            mutex.holders.push(Holder { task, site, exclusive: true });
            return Committed::Done(outcome::OK);
        }
        mutex.waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_try_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let site = self.tasks[task.index()].pending.site;
        let mutex = &mut self.resources[id.index()];
        if mutex.holders.is_empty() {
            mutex.holders.push(Holder { task, site, exclusive: true });
            return Committed::Done(outcome::OK);
        }
        Committed::Done(outcome::REFUSED)
    }

    #[inline]
    pub(crate) fn commit_unlock(&mut self, _task: TaskId, id: ResourceId) -> Committed {
        // Whoever unlocks, the mutex is free: a guard may have been sent to another task.
        let mutex = &mut self.resources[id.index()];
        mutex.holders.clear();
        if let Some(next) = mutex.waiters.pop(&mut self.tasks) {
            let site = self.tasks[next.index()].pending.site;
            self.resources[id.index()].holders.push(Holder { task: next, site, exclusive: true });
            self.grant(next, outcome::OK);
        }
        Committed::Done(outcome::OK)
    }
}
