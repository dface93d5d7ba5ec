//! Virtual time: it moves only from timer to timer.
//!
//! Timers fire in the order of their deadlines, those of equal deadline in the order in which they
//! were started. An outdated timer (its wait ended otherwise) stays in the heap until it surfaces.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::id::TaskId;
use crate::task::Task;

#[derive(Default, Debug)]
pub(crate) struct Timers {
    now: u64,
    started: u64,
    heap: BinaryHeap<Reverse<(u64, u64, TaskId, u32)>>,
}

impl Timers {
    pub(crate) fn clear(&mut self) {
        self.now = 0;
        self.started = 0;
        self.heap.clear();
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    pub(crate) fn pending(&self) -> bool {
        !self.heap.is_empty()
    }

    pub(crate) fn start(&mut self, deadline: u64, task: TaskId, generation: u32) {
        self.started += 1;
        self.heap.push(Reverse((deadline, self.started, task, generation)));
    }

    /// Drops timers from the front whose waits are over.
    pub(crate) fn forget_stale(&mut self, tasks: &[Task]) {
        while let Some(Reverse((_, _, task, generation))) = self.heap.peek() {
            let t = &tasks[task.index()];
            if t.timer == *generation && t.deadline.is_some() {
                return;
            }
            self.heap.pop();
        }
    }

    /// Whether the earliest timer belongs to the present instant.
    pub(crate) fn is_due(&self) -> bool {
        self.heap.peek().is_some_and(|Reverse((deadline, ..))| *deadline <= self.now)
    }

    pub(crate) fn earliest(&self) -> Option<TaskId> {
        self.heap.peek().map(|Reverse((_, _, task, _))| *task)
    }

    pub(crate) fn fire(&mut self) -> Option<TaskId> {
        let Reverse((deadline, _, task, _)) = self.heap.pop()?;
        self.now = self.now.max(deadline);
        Some(task)
    }
}
