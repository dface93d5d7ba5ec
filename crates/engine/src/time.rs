//! Virtual time: it moves only from timer to timer.
//!
//! Timers fire in the order of their deadlines, those of equal deadline in the order of their tasks' spawn
//! paths: in which order they were started is up to the schedule, and starting one is no step that others
//! could depend on. An outdated timer (its wait ended otherwise) stays in the heap until it surfaces.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::id::TaskId;
use crate::task::Task;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Timer {
    deadline: u64,
    rank: PathRank,
    /// Tells timers apart whose ranks do not.
    started: u64,
    task: TaskId,
    generation: u32,
}

/// Orders tasks by spawn path: exactly so for paths of up to eight tasks with less than 65,535 children each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PathRank(u128);

impl PathRank {
    pub(crate) fn of(tasks: &[Task], task: TaskId) -> PathRank {
        let mut rank = 0;
        let mut at = task;
        while let Some(task) = tasks.get(at.index()) {
            // What is nearer to the root counts for more; beyond eight, what is nearest to the task is lost.
            let ordinal = u128::from(task.ordinal.min(0xFFFE)) + 1;
            rank = (rank >> 16) | (ordinal << 112);
            at = task.parent;
        }
        PathRank(rank)
    }
}

#[derive(Default, Debug)]
pub(crate) struct Timers {
    now: u64,
    started: u64,
    heap: BinaryHeap<Reverse<Timer>>,
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

    pub(crate) fn start(&mut self, deadline: u64, task: TaskId, rank: PathRank, generation: u32) {
        self.started += 1;
        self.heap.push(Reverse(Timer { deadline, rank, started: self.started, task, generation }));
    }

    /// Drops timers from the front whose waits are over.
    pub(crate) fn forget_stale(&mut self, tasks: &[Task]) {
        while let Some(Reverse(timer)) = self.heap.peek() {
            let t = &tasks[timer.task.index()];
            if t.timer == timer.generation && t.deadline.is_some() {
                return;
            }
            self.heap.pop();
        }
    }

    /// Whether the earliest timer belongs to the present instant.
    pub(crate) fn is_due(&self) -> bool {
        self.heap.peek().is_some_and(|Reverse(timer)| timer.deadline <= self.now)
    }

    pub(crate) fn earliest(&self) -> Option<TaskId> {
        self.heap.peek().map(|Reverse(timer)| timer.task)
    }

    pub(crate) fn fire(&mut self) -> Option<TaskId> {
        let Reverse(timer) = self.heap.pop()?;
        self.now = self.now.max(timer.deadline);
        Some(timer.task)
    }
}
