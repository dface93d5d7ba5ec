//! Reader–writer lock, first come, first served: a reader that comes after a waiting writer waits
//! behind it, as with std's own lock, so that a re-entrant read can deadlock here as it can there.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, outcome};
use crate::resource::Holder;

impl Engine {
    pub(crate) fn commit_rwlock(&mut self, task: TaskId, id: ResourceId, kind: OpKind) -> Committed {
        let site = self.tasks[task.index()].pending.site;
        let lock = &mut self.resources[id.index()];
        let write = matches!(kind, OpKind::Write | OpKind::TryWrite);
        let free = if write {
            lock.holders.is_empty()
        } else {
            lock.waiters.is_empty() && lock.holders.iter().all(|h| !h.exclusive)
        };
        if free {
            lock.holders.push(Holder { task, site, exclusive: write });
            return Committed::Done(outcome::OK);
        }
        if matches!(kind, OpKind::TryRead | OpKind::TryWrite) {
            return Committed::Done(outcome::REFUSED);
        }
        lock.waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_rwlock_unlock(&mut self, task: TaskId, id: ResourceId, write: bool) -> Committed {
        let lock = &mut self.resources[id.index()];
        if write {
            lock.holders.clear();
        } else {
            lock.release(task, false);
        }
        self.grant_rwlock(id);
        Committed::Done(outcome::OK)
    }

    pub(crate) fn commit_downgrade(&mut self, id: ResourceId) -> Committed {
        for holder in &mut self.resources[id.index()].holders {
            holder.exclusive = false;
        }
        self.grant_rwlock(id);
        Committed::Done(outcome::OK)
    }

    /// Lets in the first waiter, and with a reader all readers right behind it.
    pub(crate) fn grant_rwlock(&mut self, id: ResourceId) {
        loop {
            let lock = &mut self.resources[id.index()];
            let Some(next) = lock.waiters.front() else { return };
            let pending = self.tasks[next.index()].pending;
            let write = pending.kind == OpKind::Write;
            let free = if write { lock.holders.is_empty() } else { lock.holders.iter().all(|h| !h.exclusive) };
            if !free {
                return;
            }
            lock.waiters.pop(&mut self.tasks);
            lock.holders.push(Holder { task: next, site: pending.site, exclusive: write });
            self.grant(next, outcome::OK);
        }
    }
}
