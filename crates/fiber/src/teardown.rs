//! The executor's part of teardown; the module documentation of the crate has the whole design.

use drawloom_engine::{Status, TaskId};

use crate::executor::Executor;
use crate::foreign::Foreign;
use crate::runtime::{Handle, NO_FIBER};

/// How often a task may catch the panic that unwinds it before it is leaked.
pub(crate) const MAX_FORCED_UNWINDS: u32 = 100;
/// Accesses to plain cells that are let through in one teardown.
pub(crate) const MAX_CELL_ACCESSES: u32 = 10_000;

impl Executor {
    /// Unwinds what the execution has left over. Returns how many tasks had to be leaked.
    pub(crate) fn tear_down(&mut self, handle: Handle, leak: bool) -> usize {
        handle.inner().engine.begin_teardown();
        handle.inner().owed_wakes.clear();
        let mut left = leftover(handle);
        if let Some(foreign) = handle.inner().foreign {
            left.iter().for_each(|task| self.forget(handle, foreign, *task));
            handle.inner().engine.end_teardown();
            return 0;
        }
        while !left.is_empty() && !leak {
            let steps = handle.inner().engine.steps().len();
            for task in left.iter().rev() {
                let inner = handle.inner();
                inner.engine.resume_in_teardown(*task);
                self.resume(handle, *task);
                if handle.inner().left {
                    self.note_in_teardown(handle);
                }
            }
            let still = leftover(handle);
            let progress = still.len() < left.len() || handle.inner().engine.steps().len() > steps;
            left = still;
            if !progress {
                break;
            }
        }
        for task in &left {
            self.abandon(handle, *task);
        }
        handle.inner().engine.end_teardown();
        left.len()
    }

    /// Forgets a task of another language, whose stack is used again.
    fn forget(&mut self, handle: Handle, foreign: &dyn Foreign, task: TaskId) {
        foreign.abandons(task);
        let inner = handle.inner();
        inner.engine.bury(task);
        drop(inner.bodies[task.index()].take());
        let fiber = std::mem::replace(&mut inner.fiber_of[task.index()], NO_FIBER);
        if fiber != NO_FIBER {
            self.use_again(handle, fiber);
        }
    }

    /// Never touches the stack of `task` again.
    fn abandon(&mut self, handle: Handle, task: TaskId) {
        let inner = handle.inner();
        inner.engine.bury(task);
        std::mem::forget(inner.bodies[task.index()].take());
        handle.forget_locals(task);
        let inner = handle.inner();
        let fiber = std::mem::replace(&mut inner.fiber_of[task.index()], NO_FIBER);
        if fiber != NO_FIBER {
            self.leaked_fibers += 1;
        }
    }
}

impl Handle {
    /// Leaks the running task: it is never resumed to any effect. For a destructor that needs, in
    /// teardown, what no longer can be had (the result of a task that was unwound).
    pub fn leak_task(self) -> ! {
        loop {
            self.inner().resumes = TaskId::NONE;
            self.switch();
        }
    }
}

fn leftover(handle: Handle) -> Vec<TaskId> {
    let engine = &handle.inner().engine;
    (0..engine.tasks().len() as u32)
        .map(TaskId)
        .filter(|t| !engine.task(*t).environment && engine.task(*t).status != Status::Finished)
        .collect()
}
