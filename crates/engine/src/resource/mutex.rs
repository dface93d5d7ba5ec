//! Mutual exclusion: a request is granted when its predecessor unlocks.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;
use crate::resource::Resource;
use crate::task::{Status, Task};

/// What a request for a mutex came to.
#[derive(Clone, Copy)]
pub(crate) enum Request {
    /// It was free.
    Granted,
    /// The task is in the queue, and only the holder, who can run, ends its wait.
    Waits,
    /// The task is in the queue, and its wait may have closed a cycle, or has an end of its own.
    WaitsUnusually,
}

impl Resource {
    /// Gives the mutex to `task`, or makes it wait for its turn.
    #[inline(always)]
    pub(crate) fn request(&mut self, task: TaskId, tasks: &mut [Task]) -> Request {
        self.trail.write(&mut tasks[task.index()].hash);
        // Nobody's number is beyond all tasks: one comparison tells both.
        let holder = self.holders.exclusive().unwrap_or(TaskId::NONE);
        let Some(holding) = tasks.get(holder.index()) else {
            self.holders.set_exclusive(Some(task));
            return Request::Granted;
        };
        // No cycle can close while the holder can run.
        if holder == task
            || !matches!(holding.status, Status::Ready | Status::Unsettled)
            || tasks[task.index()].deadline.is_some()
        {
            self.waiters.push(task, tasks);
            return Request::WaitsUnusually;
        }
        self.waiters.push(task, tasks);
        tasks[task.index()].status = Status::Waiting;
        Request::Waits
    }
}

impl Engine {
    #[inline(always)]
    pub(crate) fn commit_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        match self.resources[id.index()].request(task, &mut self.tasks) {
            Request::Granted => Committed::Done(outcome::OK),
            Request::Waits => {
                self.remove_ready(task);
                Committed::Wait
            }
            Request::WaitsUnusually => self.wait(task),
        }
    }

    pub(crate) fn commit_try_lock(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let mutex = &mut self.resources[id.index()];
        if mutex.holders.is_empty() {
            mutex.holders.set_exclusive(Some(task));
            return Committed::Done(outcome::OK);
        }
        Committed::Done(outcome::REFUSED)
    }

    /// Whoever unlocks, the mutex is free: a guard may have been sent to another task.
    #[inline(always)]
    pub(crate) fn commit_unlock(&mut self, id: ResourceId) -> Committed {
        let mutex = &mut self.resources[id.index()];
        mutex.trail.unlock();
        let next = mutex.waiters.pop(&mut self.tasks);
        mutex.holders.set_exclusive(next);
        if let Some(next) = next {
            self.grant(next, outcome::OK);
        }
        Committed::Done(outcome::OK)
    }
}
