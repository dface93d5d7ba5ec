//! Reader–writer lock, first come, first served: a reader that comes after a waiting writer waits
//! behind it, as with std's own lock, so that a re-entrant read can deadlock here as it can there.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, outcome};
use crate::resource::Resource;

impl Engine {
    pub(crate) fn commit_rwlock(&mut self, task: TaskId, id: ResourceId, kind: OpKind) -> Committed {
        let lock = &mut self.resources[id.index()];
        let write = matches!(kind, OpKind::Write | OpKind::TryWrite);
        let free =
            if write { lock.holders.is_empty() } else { lock.waiters.is_empty() && lock.holders.exclusive().is_none() };
        if free {
            hold(lock, task, write);
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
            lock.holders.set_exclusive(None);
        } else {
            lock.holders.stop_sharing(task);
        }
        self.grant_rwlock(id);
        Committed::Done(outcome::OK)
    }

    pub(crate) fn commit_downgrade(&mut self, id: ResourceId) -> Committed {
        let holders = &mut self.resources[id.index()].holders;
        if let Some(task) = holders.exclusive() {
            holders.set_exclusive(None);
            holders.share(task);
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
            let free = if write { lock.holders.is_empty() } else { lock.holders.exclusive().is_none() };
            if !free {
                return;
            }
            lock.waiters.pop(&mut self.tasks);
            hold(lock, next, write);
            self.grant(next, outcome::OK);
        }
    }
}

fn hold(lock: &mut Resource, task: TaskId, write: bool) {
    if write {
        lock.holders.set_exclusive(Some(task));
    } else {
        lock.holders.share(task);
    }
}
