//! Detours: what a task does for the guard before it does what it has announced.

use super::guarding::Detour;
use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation, outcome};
use crate::resource::State;
use crate::strategy::Strategy;
use crate::task::Status;

impl Engine {
    /// Before it does what it has announced, `task` does something for the guard.
    pub(super) fn make_detour(&mut self, task: TaskId, kind: OpKind, arg: u64, site: Site) {
        // Whoever shares a thread with others looks whether the lock is free.
        let turn = if kind == OpKind::Lock { self.turn_of(task) } else { ResourceId::NONE };
        let kind = if turn == ResourceId::NONE { kind } else { OpKind::TryLock };
        let Some(guarding) = &mut self.guarding else { return };
        let t = &mut self.tasks[task.index()];
        let comes_back = !guarding.of_tasks[task.index()].interrupted.is_empty();
        let detour = Detour { operation: t.pending, deadline: t.deadline(), turn, comes_back };
        t.set_deadline(None);
        t.pending = Operation::new(kind, guarding.resource, site).with_arg(arg);
        guarding.of_tasks[task.index()].detour = Some(detour);
        guarding.met = true;
    }

    /// The turn that `task` has, of the thread that it shares with others.
    fn turn_of(&self, task: TaskId) -> ResourceId {
        let has = |id: &ResourceId| {
            let resource = &self.resources[id.index()];
            resource.state == State::Turn && resource.holders.exclusive() == Some(task)
        };
        (0..self.resources_in_use as u32).map(ResourceId).find(has).unwrap_or(ResourceId::NONE)
    }

    pub(super) fn carry_out_detour(&mut self, task: TaskId, strategy: &mut dyn Strategy) {
        let operation = self.tasks[task.index()].pending;
        if let Some(guarding) = self.guarding.as_mut().filter(|guarding| guarding.resource != operation.resource) {
            guarding.made.push(self.steps.len());
        }
        if let Committed::Done(result) = self.carry_out(task, operation, strategy) {
            self.return_from_detour(task, result);
        }
    }

    /// Gives the lock back without a detour: `task` is in no position to make one.
    pub(super) fn give_back_at_once(&mut self, task: TaskId, site: Site) {
        let Some(guarding) = &self.guarding else { return };
        let mutex = guarding.resource;
        self.next_was_choice = false;
        self.record(task, &Operation::new(OpKind::Unlock, mutex, site));
        self.tasks[task.index()].note_unlock();
        self.commit_unlock(mutex);
    }

    /// Whether `task`, whose wait is over, waited on a detour: then it goes on when the guard looks next, and has nothing to settle.
    #[inline]
    pub(in crate::engine) fn was_granted_a_detour(&mut self, task: TaskId) -> bool {
        let Some(guarding) = &mut self.guarding else { return false };
        let is_on_a_detour = guarding.of_tasks.get(task.index()).is_some_and(|own| own.detour.is_some());
        if is_on_a_detour && !self.tearing_down {
            guarding.granted.push(task);
        }
        is_on_a_detour && !self.tearing_down
    }

    /// The guard has had from `task` what it wanted, which came to `result`; or wants one thing more.
    pub(super) fn return_from_detour(&mut self, task: TaskId, result: u32) {
        let Operation { kind, resource, site, .. } = self.tasks[task.index()].pending;
        let Some(guarding) = &mut self.guarding else { return };
        let lock = guarding.resource;
        let own = &mut guarding.of_tasks[task.index()];
        let Some(Detour { operation, turn, comes_back, .. }) = own.detour else { return };
        let refused = kind == OpKind::TryLock && result == outcome::REFUSED;
        let has_lock = matches!(kind, OpKind::Lock | OpKind::TryLock) && resource == lock && !refused;
        let more = match kind {
            OpKind::TryLock if refused => Some((OpKind::Unlock, turn)),
            OpKind::Unlock if resource == turn => Some((OpKind::Lock, lock)),
            OpKind::Lock if resource == lock && turn != ResourceId::NONE => Some((OpKind::Lock, turn)),
            _ => None,
        };
        if has_lock && comes_back {
            guarding.inside = task;
            guarding.open = std::mem::take(&mut own.interrupted);
        } else if has_lock {
            guarding.enter(task, operation.site);
        }
        self.tasks[task.index()].status = Status::Ready;
        if let Some((kind, resource)) = more {
            self.tasks[task.index()].pending = Operation::new(kind, resource, site);
            return;
        }
        let Some(detour) = self.guarding.as_mut().and_then(|guarding| guarding.of_tasks[task.index()].detour.take())
        else {
            return;
        };
        let t = &mut self.tasks[task.index()];
        t.pending = detour.operation;
        t.set_deadline(detour.deadline);
        // What comes after it may have to wait in turn.
        if comes_back || matches!(kind, OpKind::Release | OpKind::Unlock) {
            self.look_later(task);
            return;
        }
        self.go_on_announced(task);
    }

    /// What `task` has announced is its pending operation again: it may have to wait for that.
    pub(super) fn go_on_announced(&mut self, task: TaskId) {
        if !self.enabled(task) {
            self.disable_now(task);
        }
    }
}
