//! Counting semaphore: permits are given in the order in which they were asked for.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;
use crate::resource::State;

impl Engine {
    fn permits(&mut self, id: ResourceId) -> &mut u64 {
        match &mut self.resources[id.index()].state {
            State::Permits(free) => free,
            other => unreachable!("a semaphore operation on {other:?}"),
        }
    }

    pub(crate) fn commit_acquire(&mut self, task: TaskId, id: ResourceId, wanted: u64, wait: bool) -> Committed {
        let queued = !self.resources[id.index()].waiters.is_empty();
        let free = *self.permits(id);
        self.note_value(free);
        if free >= wanted && !queued {
            *self.permits(id) -= wanted;
            return Committed::Done(outcome::OK);
        }
        if !wait {
            return Committed::Done(outcome::REFUSED);
        }
        self.resources[id.index()].waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_release(&mut self, id: ResourceId, given: u64) -> Committed {
        *self.permits(id) += given;
        self.grant_semaphore(id);
        Committed::Done(outcome::OK)
    }

    pub(crate) fn grant_semaphore(&mut self, id: ResourceId) {
        while let Some(next) = self.resources[id.index()].waiters.front() {
            let wanted = self.tasks[next.index()].pending.arg;
            let free = self.permits(id);
            if *free < wanted {
                return;
            }
            *free -= wanted;
            self.resources[id.index()].waiters.pop(&mut self.tasks);
            self.grant(next, outcome::OK);
        }
    }
}
