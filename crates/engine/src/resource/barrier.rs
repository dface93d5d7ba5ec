//! Barrier: the last to arrive releases all, is the leader, and the count starts anew.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;
use crate::resource::State;

impl Engine {
    pub(crate) fn commit_arrive(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let barrier = &mut self.resources[id.index()];
        let State::Barrier { size, arrived } = &mut barrier.state else {
            unreachable!("a barrier operation on {:?}", barrier.state)
        };
        *arrived += 1;
        if *arrived < *size {
            barrier.waiters.push(task, &mut self.tasks);
            return self.wait(task);
        }
        *arrived = 0;
        while let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
            self.grant(next, outcome::OK);
        }
        Committed::Done(outcome::LEADER)
    }

    /// A task gave up waiting at a barrier.
    pub(crate) fn take_back_arrival(&mut self, id: ResourceId) {
        if let State::Barrier { arrived, .. } = &mut self.resources[id.index()].state {
            *arrived -= 1;
        }
    }
}
