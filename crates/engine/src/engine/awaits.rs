//! Tasks that await a value of an atomic: they can go on while it is there.
//!
//! What they wait for is the front end's to know. A task announces an `Await` together with what it has seen
//! ([`Look`](crate::Look)). Whenever the atomic has been written to since, it is settled before the next choice, so that it looks
//! again and announces the same anew. No look is a step: a loop that looks in vain has done nothing.

use super::commit::step;
use super::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;
use crate::resource::changes;
use crate::strategy::LONGEST_GUIDED;
use crate::task::Status;
use crate::trace::Step;

/// A task that has announced an `Await`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaiter {
    task: TaskId,
    /// Steps that there were when it looked.
    known: usize,
}

impl Engine {
    /// Whether a task that awaits a value has to look [back](crate::Look::back): somebody may want to reverse races of this
    /// execution.
    pub fn wants_looks_back(&self) -> bool {
        !self.tearing_down && (self.limits.spin_rounds.is_some() || self.steps.len() <= LONGEST_GUIDED)
    }

    /// The last write to an atomic before step number `end`, and the value that it found there.
    pub fn value_before(&self, atomic: ResourceId, end: usize) -> Option<(usize, u64)> {
        let write = self.steps[..end].iter().rposition(|step| changes(step, atomic))?;
        let step = &self.steps[write];
        Some((write, step.found()))
    }

    /// `task` has looked, and announced an `Await`.
    #[inline(never)]
    pub(crate) fn begin_await(&mut self, task: TaskId) {
        let known = self.steps.len();
        let holds = self.enabled(task);
        match self.awaiting.iter_mut().find(|awaiter| awaiter.task == task) {
            None => {
                self.awaiting.push(Awaiter { task, known });
                self.may_need_care = true;
                self.leave_fast_path();
                if !holds {
                    self.disable(task);
                }
            }
            Some(awaiter) => {
                awaiter.known = known;
                self.tasks[task.index()].ready_since = known as u32;
                if !holds {
                    self.disable_now(task);
                } else if self.is_spinning(task) {
                    self.remove_ready(task);
                }
            }
        }
    }

    /// Lets those look again whose atomic has been written to since they did.
    pub(super) fn have_them_look(&mut self) {
        let made = self.steps.len();
        for at in 0..self.awaiting.len() {
            let Awaiter { task, known } = self.awaiting[at];
            let t = &self.tasks[task.index()];
            // A guard may have it do something else first.
            if !t.pending.kind.awaits() || !matches!(t.status, Status::Ready | Status::Disabled) {
                continue;
            }
            self.awaiting[at].known = made;
            let atomic = t.pending.resource;
            if self.steps[known..].iter().any(|step| changes(step, atomic)) {
                self.have_look(task);
            }
        }
    }

    pub(crate) fn have_look(&mut self, task: TaskId) {
        self.remove_ready(task);
        if self.yielded == task {
            self.yielded = TaskId::NONE;
        }
        let t = &mut self.tasks[task.index()];
        t.status = Status::Unsettled;
        t.result = outcome::LOOK_AGAIN;
        self.unsettle(task);
    }

    /// What those who await in vain would do, as steps that were refused.
    pub(crate) fn awaits_in_vain(&self) -> impl Iterator<Item = Step> {
        let waits = self.awaiting.iter().filter(|a| self.tasks[a.task.index()].status == Status::Disabled);
        waits.map(|awaiter| {
            let t = &self.tasks[awaiter.task.index()];
            Step { outcome: outcome::REFUSED as u16, ..step(awaiter.task, &t.pending, t.granted_by, false) }
        })
    }

    #[inline(never)]
    pub(crate) fn commit_await(&mut self, task: TaskId) -> Committed {
        self.awaiting.retain(|awaiter| awaiter.task != task);
        self.leave_trail_of_access();
        Committed::Done(outcome::OK)
    }
}
