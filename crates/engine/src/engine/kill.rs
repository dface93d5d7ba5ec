//! Killing tasks while the others go on; the rules are in the room ([`crate::resource`], `kill.rs`).

use super::{Engine, Next};
use crate::id::{ResourceId, Site, TaskId};
use crate::operation::{OpKind, Operation};
use crate::strategy::Strategy;
use crate::task::{NOT_READY, Status};

impl Engine {
    /// Puts `task`, which was spawned by the last step, into a group of tasks that can be killed as a whole. Its children will
    /// belong to it, too.
    pub fn set_group(&mut self, task: TaskId, group: u16) {
        self.tasks[task.index()].group = group;
    }

    /// The group that a task is in; 0, if it is in none.
    pub fn group(&self, task: TaskId) -> u16 {
        self.tasks[task.index()].group
    }

    /// The member of `group` that is killed after `last`, or first: by the order of spawn paths, so that it is the same in all
    /// orders of steps that commute. Those that have ended count, for whether they have is no step of the one who kills.
    ///
    /// Ask when the last kill has been made, and kill whom it names, until there is nobody left. Nobody but a member may
    /// spawn members meanwhile.
    pub fn next_member(&self, group: u16, last: Option<TaskId>) -> Option<TaskId> {
        let last = last.map(|task| self.path(task));
        let members = (0..self.tasks.len() as u32).map(TaskId).filter(|t| self.tasks[t.index()].group == group);
        let named = members.map(|task| (self.path(task), task)).filter(|(path, _)| Some(path) > last.as_ref());
        named.min().map(|(_, task)| task)
    }

    /// The operation by which all members of `group` are killed, for a task of the environment.
    pub fn kill_of_group(group: u16, site: Site) -> Operation {
        Operation::new(OpKind::Kill, ResourceId::NONE, site).with_arg(OF_GROUP | u64::from(group))
    }

    /// The kill that follows `last` where `operation` is that of a group; every other operation is itself, and the only one.
    pub(super) fn kill_in_turn(&self, operation: Operation, last: Option<TaskId>) -> Option<Operation> {
        let Some(group) = group_of(&operation) else { return last.is_none().then_some(operation) };
        let member = self.next_member(group, last)?;
        Some(operation.with_arg(u64::from(member.0)))
    }

    /// From its next step on `task` does nothing more, and nobody waits for it in the end.
    pub(crate) fn kill(&mut self, task: TaskId) {
        let t = &mut self.tasks[task.index()];
        if t.killed || t.status == Status::Finished {
            return;
        }
        t.killed = true;
        t.daemon = true;
        self.doomed.push(task);
        self.may_need_care = true;
        self.leave_fast_path();
    }

    /// `task` has made its last step. It is left where it stands until the execution is over.
    pub(crate) fn lay_down(&mut self, task: TaskId) {
        self.remove_ready(task);
        self.tasks[task.index()].status = Status::Disabled;
        self.doomed.retain(|doomed| *doomed != task);
    }

    /// Whether `task` was killed and has not made its last step.
    pub(crate) fn is_doomed(&self, task: TaskId) -> bool {
        self.doomed.contains(&task)
    }

    /// Whoever was killed and could make a step now can only be killed.
    pub(super) fn doom(&mut self) {
        for task in &self.doomed {
            let t = &mut self.tasks[task.index()];
            if t.status == Status::Ready && t.ready_at != NOT_READY && t.pending.kind.can_be_killed() {
                t.pending = t.pending.killed();
            }
        }
    }

    /// Makes the last steps of tasks that were killed, as long as it is they who are picked: nobody resumes them.
    #[cold]
    pub(super) fn next_among_doomed(&mut self, strategy: &mut dyn Strategy) -> Next {
        let mut next = self.next_with_care(strategy);
        while let Next::Run(task) = next {
            let kind = self.tasks[task.index()].pending.kind;
            if !kind.is_killed() {
                break;
            }
            self.commit(task, kind, strategy);
            next = self.next_with_care(strategy);
        }
        next
    }
}

/// The operand of a kill that names a group, and no task.
const OF_GROUP: u64 = 1 << 32;

fn group_of(operation: &Operation) -> Option<u16> {
    let names_group = operation.kind.kills() && operation.arg & OF_GROUP != 0;
    names_group.then_some(operation.arg as u16)
}
