//! Waiting and granting, and the list of those who are ready.

use super::{Committed, Engine};
use crate::id::TaskId;
use crate::operation::outcome;
use crate::task::{NOT_READY, Status, Task};

impl Engine {
    /// `task` has taken its ticket and waits. (Its place in a queue is the caller's business.)
    #[inline(never)]
    pub(crate) fn wait(&mut self, task: TaskId) -> Committed {
        self.remove_ready(task);
        let t = &mut self.tasks[task.index()];
        t.status = Status::Waiting;
        if t.is_limited() {
            self.start_timer(task);
        } else {
            self.look_for_cycle(task);
        }
        Committed::Wait
    }

    /// Ends the wait of `task`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn grant(&mut self, task: TaskId, result: u32) {
        self.tasks[task.index()].take_grant(result, self.steps.len());
        self.unsettle(task);
    }

    /// What the operation of a task that is resumed has come to.
    #[inline]
    pub fn result(&self, task: TaskId) -> u32 {
        // No bounds check that panics: who does not need the result does not pay for it.
        self.tasks.get(task.index()).map_or(outcome::OK, |t| t.result)
    }

    /// Keeps what an operation that was carried out on behalf of `task` has come to.
    #[inline]
    pub fn set_result(&mut self, task: TaskId, result: u32) {
        if let Some(t) = self.tasks.get_mut(task.index()) {
            t.result = result;
        }
    }

    /// Whether `task` still waits.
    pub fn is_waiting(&self, task: TaskId) -> bool {
        matches!(self.tasks[task.index()].status, Status::Waiting | Status::Disabled)
    }

    /// What `task` announced can be carried out now.
    pub(crate) fn enable(&mut self, task: TaskId) {
        let t = &mut self.tasks[task.index()];
        t.status = Status::Ready;
        t.set_deadline(None);
        t.timer = t.timer.wrapping_add(1);
        if self.spinning.is_empty() || !self.is_spinning(task) {
            self.make_ready(task);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn make_ready(&mut self, task: TaskId) {
        let t = &mut self.tasks[task.index()];
        if t.ready_at == NOT_READY {
            t.ready_at = self.ready.len() as u32;
            t.ready_since = self.steps.len() as u32;
            self.ready.push(task);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn remove_ready(&mut self, task: TaskId) {
        let at = std::mem::replace(&mut self.tasks[task.index()].ready_at, NOT_READY);
        if (at as usize) < self.ready.len() {
            close_gap(&mut self.ready, at as usize, &mut self.tasks);
        }
    }

    /// Records what the last step read, wrote, sent or chose.
    #[inline]
    pub fn note_value(&mut self, value: u64) {
        if let Some(step) = self.steps.last_mut() {
            step.value = value;
        }
    }

    /// Records what the last step left behind in an atomic; of a store, what it found there instead,
    /// since what it left is its value. Exhaustive exploration needs both.
    #[inline]
    pub fn note_other_value(&mut self, value: u64) {
        if let Some(step) = self.steps.last_mut() {
            step.arg = value;
        }
    }

    /// Records that the last step's comparison failed.
    #[inline]
    pub fn note_refused(&mut self) {
        if let Some(step) = self.steps.last_mut() {
            step.outcome = outcome::REFUSED as u16;
        }
        self.leave_trail_of_refused();
    }
}

/// Whoever is last among the `ready` takes the place of the one at `at`, who is not ready any more.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn close_gap(ready: &mut Vec<TaskId>, at: usize, tasks: &mut [Task]) {
    let Some(last) = ready.pop() else { return };
    if let Some(place) = ready.get_mut(at) {
        *place = last;
        tasks[last.index()].ready_at = at as u32;
    }
}
