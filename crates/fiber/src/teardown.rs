//! The executor's part of teardown; the module documentation of the crate has the whole design.

use drawloom_engine::{Status, TaskId};

use crate::executor::Executor;
use crate::runtime::{Handle, NO_FIBER};

/// How often a task may catch the panic that unwinds it before it is leaked.
pub(crate) const MAX_FORCED_UNWINDS: u32 = 100;

impl Executor {
    /// Unwinds what the execution has left over. Returns how many tasks had to be leaked.
    pub(crate) fn tear_down(&mut self, handle: Handle, leak: bool) -> usize {
        handle.inner().engine.begin_teardown();
        let mut left = leftover(handle);
        while !left.is_empty() && !leak {
            for task in left.iter().rev() {
                let inner = handle.inner();
                inner.engine.resume_in_teardown(*task);
                self.resume(handle, *task);
            }
            let still = leftover(handle);
            if still.len() == left.len() {
                break;
            }
            left = still;
        }
        left.retain(|t| handle.inner().engine.task(*t).status != Status::Finished);
        for task in &left {
            self.abandon(handle, *task);
        }
        left.len()
    }

    /// Never touches the stack of `task` again.
    fn abandon(&mut self, handle: Handle, task: TaskId) {
        let inner = handle.inner();
        inner.engine.bury(task);
        std::mem::forget(inner.bodies[task.index()].take());
        let fiber = std::mem::replace(&mut inner.fiber_of[task.index()], NO_FIBER);
        if fiber != NO_FIBER {
            self.leaked_fibers += 1;
        }
    }
}

fn leftover(handle: Handle) -> Vec<TaskId> {
    let engine = &handle.inner().engine;
    (0..engine.tasks().len() as u32)
        .map(TaskId)
        .filter(|t| *t != TaskId::CLOCK && engine.task(*t).status != Status::Finished)
        .collect()
}
