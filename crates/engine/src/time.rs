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

/// A timer that was started, and the step by which it was: what is known of it where every timer fires
/// ([`Engine::every_timer_fires`](crate::Engine::every_timer_fires)).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    pub(crate) task: TaskId,
    pub(crate) deadline: u64,
    pub(crate) rank: PathRank,
    /// The position of the step that read the clock for it.
    pub(crate) read: usize,
    generation: u32,
}

#[derive(Default, Debug)]
pub(crate) struct Timers {
    now: u64,
    started: u64,
    heap: BinaryHeap<Reverse<Timer>>,
    /// All timers of the execution, where every timer fires; else none.
    all: Vec<Started>,
}

impl Timers {
    pub(crate) fn clear(&mut self) {
        self.now = 0;
        self.started = 0;
        self.heap.clear();
        self.all.clear();
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

    /// As [`start`](Self::start), where every timer fires: by the step at `read`.
    pub(crate) fn start_by(&mut self, read: usize, deadline: u64, task: TaskId, rank: PathRank, generation: u32) {
        self.start(deadline, task, rank, generation);
        self.all.push(Started { task, deadline, rank, read, generation });
    }

    /// All timers, in the order in which they were started; none unless every timer fires.
    pub(crate) fn all(&self) -> &[Started] {
        &self.all
    }

    /// Whether the timer of this wait of `task` has been started.
    pub(crate) fn has(&self, task: TaskId, generation: u32) -> bool {
        self.all.iter().rev().any(|started| (started.task, started.generation) == (task, generation))
    }

    /// The earliest timer, and whether the wait that it belongs to is over.
    pub(crate) fn front(&self, tasks: &[Task]) -> Option<(&Started, bool)> {
        let Reverse(timer) = self.heap.peek()?;
        let t = &tasks[timer.task.index()];
        let over = t.timer != timer.generation || !t.is_limited();
        Some((self.all.get(timer.started as usize - 1)?, over))
    }

    /// Takes out the earliest timer, whose wait is over: no time passes.
    pub(crate) fn drop_front(&mut self) {
        self.heap.pop();
    }

    /// Drops timers from the front whose waits are over.
    pub(crate) fn forget_stale(&mut self, tasks: &[Task]) {
        while let Some(Reverse(timer)) = self.heap.peek() {
            let t = &tasks[timer.task.index()];
            if t.timer == timer.generation && t.is_limited() {
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
