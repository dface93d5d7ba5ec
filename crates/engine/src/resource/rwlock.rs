//! Reader–writer lock. First come, first served unless it prefers one side: a reader that comes after a
//! waiting writer waits behind it, as with std's own lock, so that a re-entrant read can deadlock here as
//! it can there.
//!
//! Whom a lock prefers is an operand of its operations, so that the dependence table sees it. A fair queue
//! has every outcome that a preference has: who is preferred is one whose request came earlier. What it does
//! not have is a writer that is passed over for ever, and a re-entrant read that is let in.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, outcome};
use crate::resource::Resource;
use crate::task::{Task, WaitList};

/// Whom a reader–writer lock lets in first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Preference {
    /// Who came first.
    #[default]
    Fair,
    /// Readers, whenever no writer holds it: writers may wait for ever.
    Readers,
    /// Writers, before all readers that wait: readers may wait for ever.
    Writers,
}

impl Preference {
    /// As an operand of the lock's operations.
    pub fn operand(self) -> u64 {
        self as u64
    }

    /// What [`operand`](Self::operand) says.
    #[inline]
    pub fn of(operand: u64) -> Self {
        match operand {
            1 => Preference::Readers,
            2 => Preference::Writers,
            _ => Preference::Fair,
        }
    }
}

fn writes(tasks: &[Task], waiter: TaskId) -> bool {
    tasks[waiter.index()].pending.kind == OpKind::Write
}

/// Those of `waiters` that go before `task`, which waits too.
pub(crate) fn ahead<'a>(waiters: &'a WaitList, tasks: &'a [Task], task: TaskId) -> impl Iterator<Item = TaskId> + 'a {
    let preference = Preference::of(tasks[task.index()].pending.arg);
    let mine = writes(tasks, task);
    let mut passed = false;
    waiters.iter(tasks).filter(move |waiter| {
        passed |= *waiter == task;
        let earlier = !passed;
        *waiter != task
            && match (preference, mine, writes(tasks, *waiter)) {
                (Preference::Fair, ..) | (_, true, true) => earlier,
                (Preference::Readers, true, false) | (Preference::Writers, false, true) => true,
                (Preference::Readers | Preference::Writers, ..) => false,
            }
    })
}

impl Engine {
    pub(crate) fn commit_rwlock(&mut self, task: TaskId, id: ResourceId, kind: OpKind, operand: u64) -> Committed {
        let lock = &mut self.resources[id.index()];
        let write = matches!(kind, OpKind::Write | OpKind::TryWrite);
        let overtakes = Preference::of(operand) == Preference::Readers;
        let free = if write {
            lock.holders.is_empty()
        } else {
            lock.holders.exclusive().is_none() && (overtakes || lock.waiters.is_empty())
        };
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

    /// Lets in the first waiter, and with a reader all readers right behind it; of a lock that prefers one side,
    /// the first of that side.
    pub(crate) fn grant_rwlock(&mut self, id: ResourceId) {
        while let Some(next) = self.next_of_rwlock(id) {
            let write = writes(&self.tasks, next);
            let lock = &mut self.resources[id.index()];
            let free = if write { lock.holders.is_empty() } else { lock.holders.exclusive().is_none() };
            if !free {
                return;
            }
            lock.waiters.remove(next, &mut self.tasks);
            hold(lock, next, write);
            self.grant(next, outcome::OK);
        }
    }

    fn next_of_rwlock(&self, id: ResourceId) -> Option<TaskId> {
        let waiters = &self.resources[id.index()].waiters;
        let first = waiters.front()?;
        let preferred = match Preference::of(self.tasks[first.index()].pending.arg) {
            Preference::Fair => return Some(first),
            Preference::Readers => waiters.iter(&self.tasks).find(|waiter| !writes(&self.tasks, *waiter)),
            Preference::Writers => waiters.iter(&self.tasks).find(|waiter| writes(&self.tasks, *waiter)),
        };
        preferred.or(Some(first))
    }
}

fn hold(lock: &mut Resource, task: TaskId, write: bool) {
    if write {
        lock.holders.set_exclusive(Some(task));
    } else {
        lock.holders.share(task);
    }
}
