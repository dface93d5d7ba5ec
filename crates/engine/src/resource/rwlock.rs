//! Reader–writer lock. First come, first served unless it prefers one side: a reader that comes after a
//! waiting writer waits behind it, as with std's own lock, so that a re-entrant read can deadlock here as
//! it can there.
//!
//! Whom a lock prefers is an operand of its operations, so that the dependence table sees it. A fair queue
//! has every outcome that a preference has: who is preferred is one whose request came earlier. What it does
//! not have is a writer that is passed over for ever, and a re-entrant read that is let in.

use super::room::{Blocker, Facts, Room, Traits, not_here, refused_if};
use crate::behaviour::Trail;
use crate::causality::{Change, Grant, History, Place, Words};
use crate::dependence::{Label, Relation};
use crate::engine::{Committed, Engine};
use crate::exhaustive::{Made, There};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::race::{Flow, Row};
use crate::resource::Resource;
use crate::strategy::Strategy;
use crate::task::{Task, WaitList};
use crate::trace::Step;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    use Traits as T;
    const ON: ResourceKind = ResourceKind::RwLock;
    const TRIES: T = T::TELLS_OUTCOME.with(T::LEARNS_IF_OK);
    const TAKES: T = T::COMPETES.with(T::LOCKS).with(T::HOLDS);
    const GIVES: T = T::GIVES.with(T::TELLS);
    match kind {
        OpKind::Read => Facts::on(ON, "read", &[TAKES, T::LOOKS, T::SEES, T::SHARES, T::REQUESTS, T::LEARNS]),
        OpKind::Write => Facts::on(ON, "write", &[TAKES, T::REQUESTS, T::LEARNS]),
        OpKind::TryRead => Facts::on(ON, "try_read", &[TAKES, TRIES, T::LOOKS, T::SEES]),
        OpKind::TryWrite => Facts::on(ON, "try_write", &[TAKES, TRIES]),
        OpKind::ReadUnlock => Facts::on(ON, "unlock read", &[GIVES, T::SHARES, T::ONLY_RELEASES, T::UNLOCKS]),
        OpKind::WriteUnlock => Facts::on(ON, "unlock write", &[GIVES, T::ONLY_RELEASES, T::UNLOCKS]),
        OpKind::Downgrade => Facts::on(ON, "downgrade", &[GIVES]),
        other => not_here(other),
    }
}

/// The rules of reader–writer locks.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, operation: &Operation, _: &mut dyn Strategy) -> Committed {
        let id = operation.resource;
        match operation.kind {
            OpKind::ReadUnlock => engine.commit_rwlock_unlock(task, id, false),
            OpKind::WriteUnlock => engine.commit_rwlock_unlock(task, id, true),
            OpKind::Downgrade => engine.commit_downgrade(id),
            kind => engine.commit_rwlock(task, id, kind, operation.arg),
        }
    }

    fn withdraw(&self, engine: &mut Engine, request: &Operation) {
        engine.grant_rwlock(request.resource);
    }

    fn give_back(&self, engine: &mut Engine, task: TaskId, request: &Operation, _: u32) {
        engine.commit_rwlock_unlock(task, request.resource, request.kind == OpKind::Write);
    }

    fn blocker(&self, _: &Engine, _: &Operation) -> Blocker {
        Blocker::Several
    }

    /// A reader never waits for another reader, but for a writer that waits before it.
    fn blockers(&self, engine: &Engine, task: TaskId) -> Vec<(TaskId, Site)> {
        engine.who_is_before(task, engine.tasks[task.index()].pending.kind != OpKind::Read)
    }

    fn relation(&self, a: &Label, b: &Label) -> Relation {
        use OpKind::{Downgrade, Read, ReadUnlock, TryRead, TryWrite, WriteUnlock};
        if a.arg != 0 || b.arg != 0 {
            // Of a lock that prefers one side: who asks before somebody leaves may be let in by that.
            return if (a.kind, b.kind) == (Read, Read) { Relation::Independent } else { Relation::Dependent };
        }
        let is_unlock = |k| matches!(k, ReadUnlock | WriteUnlock | Downgrade);
        let is_try = |k| matches!(k, TryRead | TryWrite);
        let failed = |l: &Label| is_try(l.kind) && l.outcome == outcome::REFUSED;
        if is_try(a.kind) || is_try(b.kind) {
            return if failed(a) && failed(b) { Relation::Independent } else { Relation::Dependent };
        }
        match (a.kind, b.kind) {
            // No reader ever waits for another one to leave.
            (Read | ReadUnlock, Read | ReadUnlock) => Relation::Independent,
            (x, y) if is_unlock(x) || is_unlock(y) => Relation::Granting,
            _ => Relation::Dependent,
        }
    }

    fn moved(&self, mut label: Label, there: &There<'_>) -> Option<Label> {
        // Of a lock that prefers one side, what it comes to makes no difference to the table.
        if matches!(label.kind, OpKind::TryRead | OpKind::TryWrite) && label.arg == 0 {
            let (writing, reading) = in_use(|kinds| there.count(kinds));
            label.outcome = refused_if(writing || (label.kind == OpKind::TryWrite && reading));
        }
        Some(label)
    }

    fn fold(&self, trail: &mut Trail, hash: u64, step: &Step) -> u64 {
        match step.kind {
            // Of a lock that prefers one side: only reads commute, and only with each other.
            OpKind::Read if step.arg != 0 => trail.commuting(hash),
            _ if step.arg != 0 => trail.ordered(hash),
            OpKind::Write => trail.request(hash),
            OpKind::Read => trail.share(hash),
            OpKind::TryRead | OpKind::TryWrite => trail.attempt(hash, step.is_ok()),
            _ => trail.release(hash, false),
        }
    }

    fn note_grant(
        &self,
        place: &mut Place,
        j: usize,
        step: &Step,
        clock: &[Words],
        history: &mut History,
    ) -> Option<Change> {
        match step.kind {
            OpKind::WriteUnlock | OpKind::Downgrade => Some(place.give_up(j, history)),
            OpKind::ReadUnlock => Some(place.stop_sharing(clock, history)),
            _ => None,
        }
    }

    fn granted_by(&self, place: &Place, _: usize, request: &Step, _: Option<OpKind>) -> Grant {
        Grant { by: place.exclusive, all_shared: request.kind == OpKind::Write }
    }

    fn acquire(&self, flow: &mut Flow, request: &Step, mine: Row) {
        match request.kind {
            OpKind::Read | OpKind::TryRead => flow.learn_of_releases(request.resource, mine),
            OpKind::Write | OpKind::TryWrite => {
                flow.learn_of_releases(request.resource, mine);
                flow.learn_of_shared(request.resource, mine);
            }
            _ => {}
        }
    }

    fn release(&self, flow: &mut Flow, step: &Step, mine: Row) {
        match step.kind {
            OpKind::WriteUnlock | OpKind::Downgrade => flow.release(step.resource, mine),
            OpKind::ReadUnlock => flow.release_shared(step.resource, mine),
            _ => {}
        }
    }

    fn could_complete(&self, request: &Label, made: &Made<'_>) -> bool {
        let (writing, reading) = in_use(|kinds| made.count(kinds));
        !writing && (request.kind == OpKind::Read || !reading)
    }
}

/// Whether somebody holds the lock for writing, and for reading, as far as counting tells.
fn in_use(count: impl Fn(&[OpKind]) -> u64) -> (bool, bool) {
    let downgrades = count(&[OpKind::Downgrade]);
    let writing = count(&[OpKind::Write, OpKind::TryWrite]) > count(&[OpKind::WriteUnlock]) + downgrades;
    let reading = count(&[OpKind::Read, OpKind::TryRead]) + downgrades > count(&[OpKind::ReadUnlock]);
    (writing, reading)
}

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

    /// A task that a reader–writer lock has passed over for all of the last `steps` steps, while it let others in. The
    /// schedule is not to blame if everybody who could has gone on meanwhile.
    pub(crate) fn passed_over_for(&self, steps: usize) -> Option<TaskId> {
        let recent = &self.steps[self.steps.len().checked_sub(steps)?..];
        let idle = |task: &TaskId| recent.iter().all(|step| step.task != *task);
        let passed_over = |task: &TaskId| {
            let Operation { kind, arg, resource, .. } = self.tasks[task.index()].pending;
            let asks = |kind| matches!(kind, OpKind::Read | OpKind::Write);
            asks(kind)
                && Preference::of(arg) != Preference::Fair
                && self.is_waiting(*task)
                && idle(task)
                && recent.iter().any(|step| step.resource == resource && asks(step.kind))
        };
        let starved = (0..self.tasks.len() as u32).map(TaskId).find(passed_over)?;
        (!self.ready().iter().any(idle)).then_some(starved)
    }
}

fn hold(lock: &mut Resource, task: TaskId, write: bool) {
    if write {
        lock.holders.set_exclusive(Some(task));
    } else {
        lock.holders.share(task);
    }
}
