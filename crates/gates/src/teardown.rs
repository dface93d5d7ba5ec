//! What an execution that fails, is cut or ends with tasks left over leaves to be unwound.

use drawloom_engine::{Status, TaskId};

use crate::executor::Gates;
use crate::runtime::Baton;

/// How often a task may carry on although it was told to unwind, before it is held for good.
pub(crate) const MAX_FORCED: u32 = 100;

/// Accesses that are let through in one teardown.
pub(crate) const MAX_ACCESSES: u32 = 10_000;

/// Instructions of frameworks that are. They put in order what outlasts the execution: connections, locks. That takes
/// thousands of instructions, and whoever is stopped in the midst of it leaves a lock taken for good.
pub(crate) const MAX_OF_FRAMEWORKS: u32 = 1_000_000;

impl Baton {
    /// Lets the others unwind first, since one of them holds what the running task cannot unwind without. Comes back
    /// when there is hope that this has helped; false if there is nobody who could be told to wait.
    pub fn let_others_unwind(self) -> bool {
        let inner = self.inner();
        let me = inner.running;
        if me == TaskId::MAIN {
            return false;
        }
        inner.giving_way.push(me);
        let own = inner.own_gate(me);
        self.switch(None, &own);
        self.inner().running = me;
        true
    }
}

impl Gates {
    /// Has every task that is left unwind, the youngest first; those that give way to others after them. How many could
    /// not be unwound.
    pub(crate) fn tear_down(&mut self) -> usize {
        let baton = self.baton();
        baton.hear_of_waits();
        baton.inner().end();
        let mut leaked = 0;
        loop {
            baton.inner().giving_way.clear();
            let before = self.left();
            leaked += self.unwind_each();
            let left = self.left();
            if left == 0 || left == before {
                break;
            }
        }
        let inner = baton.inner();
        for task in std::mem::take(&mut inner.giving_way) {
            inner.engine.bury(task);
            inner.gates[task.index()] = None;
            leaked += 1;
        }
        inner.engine.bury(TaskId::MAIN);
        inner.engine.end_teardown();
        inner.leaked += leaked;
        leaked
    }

    /// How many tasks have not ended, main and the environment aside.
    fn left(&self) -> usize {
        let engine = self.shared.engine();
        let others = |t: &TaskId| *t != TaskId::MAIN && !engine.task(*t).environment;
        let tasks = (0..engine.tasks().len() as u32).map(TaskId).filter(others);
        tasks.filter(|task| engine.task(*task).status != Status::Finished).count()
    }

    /// Has every task that is left unwind. How many neither did so nor gave way.
    fn unwind_each(&mut self) -> usize {
        let baton = self.baton();
        let own = baton.inner().conductor.clone();
        let mut leaked = 0;
        let tasks = baton.inner().engine.tasks().len() as u32;
        for task in (0..tasks).rev().map(TaskId).filter(|t| *t != TaskId::MAIN) {
            let t = baton.inner().engine.task(task);
            if t.environment || t.status == Status::Finished {
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
            if inner.engine.task(task).status != Status::Finished && !inner.giving_way.contains(&task) {
                inner.engine.bury(task);
                inner.gates[task.index()] = None;
                leaked += 1;
            }
        }
        leaked
    }
}
