//! Detours: what a task does for the guard before it does what it has announced.

use super::guarding::Detour;
use crate::engine::{Committed, Engine};
use crate::id::{Site, TaskId};
use crate::operation::{OpKind, Operation};
use crate::strategy::Strategy;
use crate::task::Status;

impl Engine {
    /// Before it does what it has announced, `task` does something for the guard.
    pub(super) fn make_detour(&mut self, task: TaskId, kind: OpKind, arg: u64, site: Site) {
        let Some(guarding) = &mut self.guarding else { return };
        let t = &mut self.tasks[task.index()];
        let detour = Detour { operation: t.pending, deadline: t.deadline() };
        t.set_deadline(None);
        t.pending = Operation::new(kind, guarding.resource, site).with_arg(arg);
        guarding.of_tasks[task.index()].detour = Some(detour);
        guarding.met = true;
    }

    pub(super) fn carry_out_detour(&mut self, task: TaskId, strategy: &mut dyn Strategy) {
        let operation = self.tasks[task.index()].pending;
        let waiting = self.waiting_for_the_guard();
        if let Committed::Done(_) = self.carry_out(task, operation, strategy) {
            self.return_from_detour(task);
        }
        self.return_from_detours(&waiting);
    }

    /// Gives the lock back without a detour: `task` is in no position to make one.
    pub(super) fn give_back_at_once(&mut self, task: TaskId, site: Site) {
        let Some(guarding) = &self.guarding else { return };
        let mutex = guarding.resource;
        self.next_was_choice = false;
        self.record(task, &Operation::new(OpKind::Unlock, mutex, site));
        self.tasks[task.index()].note_unlock();
        let waiting = self.waiting_for_the_guard();
        self.commit_unlock(mutex);
        self.return_from_detours(&waiting);
    }

    /// Those who wait for what the guard gives.
    fn waiting_for_the_guard(&self) -> Vec<TaskId> {
        let Some(guarding) = &self.guarding else { return Vec::new() };
        self.resources[guarding.resource.index()].waiters.iter(&self.tasks).collect()
    }

    /// Those of `waiting` who were granted what they waited for go on: they are settled already.
    fn return_from_detours(&mut self, waiting: &[TaskId]) {
        for task in waiting {
            if self.tasks[task.index()].status == Status::Unsettled {
                self.unsettled.remove(*task, &mut self.tasks);
                self.make_ready(*task);
                self.return_from_detour(*task);
            }
        }
    }

    /// The guard has had from `task` what it wanted.
    fn return_from_detour(&mut self, task: TaskId) {
        let kind = self.tasks[task.index()].pending.kind;
        let Some(guarding) = &mut self.guarding else { return };
        let Some(detour) = guarding.of_tasks[task.index()].detour.take() else { return };
        let t = &mut self.tasks[task.index()];
        t.status = Status::Ready;
        t.pending = detour.operation;
        t.set_deadline(detour.deadline);
        match kind {
            OpKind::Lock if !guarding.of_tasks[task.index()].interrupted.is_empty() => {
                guarding.inside = task;
                guarding.open = std::mem::take(&mut guarding.of_tasks[task.index()].interrupted);
                guarding.fresh.push(task);
                return;
            }
            OpKind::Lock => guarding.enter(task, detour.operation.site),
            // What comes after it may have to wait in turn.
            OpKind::Release | OpKind::Unlock => {
                guarding.fresh.push(task);
                return;
            }
            _ => {}
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
