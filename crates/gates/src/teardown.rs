//! What an execution that fails, is cut or ends with tasks left over leaves to be unwound.

use drawloom_engine::{OpKind, Status, TaskId};

use crate::executor::Gates;

/// How often a task may carry on although it was told to unwind, before it is held for good.
pub(crate) const MAX_FORCED: u32 = 100;

/// Accesses that are let through in one teardown.
pub(crate) const MAX_ACCESSES: u32 = 10_000;

/// Whether an operation only gives something up: it never waits, and is carried out in teardown, too.
pub(crate) fn releases(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Unlock | OpKind::Release | OpKind::Unpark | OpKind::NotifyOne | OpKind::NotifyAll | OpKind::Exit
    )
}

impl Gates {
    /// Has every task that is left unwind, the youngest first. How many could not be unwound.
    pub(crate) fn tear_down(&mut self) -> usize {
        let baton = self.baton();
        baton.inner().end();
        let own = baton.inner().conductor.clone();
        let mut leaked = 0;
        let tasks = baton.inner().engine.tasks().len() as u32;
        for task in (0..tasks).rev().map(TaskId).filter(|t| *t != TaskId::CLOCK && *t != TaskId::MAIN) {
            if baton.inner().engine.task(task).status == Status::Finished {
                continue;
            }
            let begun = baton.inner().gates[task.index()].is_some();
            if !begun {
                // Nobody has seen it yet.
                drop(baton.inner().bodies[task.index()].take());
                baton.inner().engine.bury(task);
                continue;
            }
            baton.inner().engine.resume_in_teardown(task);
            baton.switch(Some(task), &own);
            let inner = baton.inner();
            if inner.engine.task(task).status != Status::Finished {
                inner.engine.bury(task);
                inner.gates[task.index()] = None;
                leaked += 1;
            }
        }
        let inner = baton.inner();
        inner.engine.bury(TaskId::MAIN);
        inner.engine.end_teardown();
        inner.leaked += leaked;
        leaked
    }
}
