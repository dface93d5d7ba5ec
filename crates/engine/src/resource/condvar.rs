//! Condition variable: a wait gives the mutex back and queues; a notification ends the wait. The
//! woken task then requests the mutex again by an ordinary `Lock` step of its own, so that the order
//! of that request among others is a choice.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;

impl Engine {
    pub(crate) fn commit_cond_wait(&mut self, task: TaskId, id: ResourceId, mutex: ResourceId) -> Committed {
        self.commit_unlock(mutex);
        self.resources[id.index()].waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    /// Wakes up to `limit` waiters, longest waiting first; says whether there was any.
    pub(crate) fn commit_notify(&mut self, id: ResourceId, limit: usize) -> Committed {
        let mut woken = 0;
        while woken < limit {
            let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) else { break };
            self.grant(next, outcome::OK);
            woken += 1;
        }
        Committed::Done(if woken == 0 { outcome::REFUSED } else { outcome::OK })
    }
}
