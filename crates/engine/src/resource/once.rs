//! One-time initialiser: the first to enter runs it, the others wait; if it panics, the next in the
//! queue may try.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::outcome;
use crate::resource::State;

/// How far an initialiser has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnceState {
    /// Nobody has entered.
    New,
    /// A task runs it.
    Running,
    /// It has run.
    Done,
    /// It has panicked.
    Poisoned,
}

impl Engine {
    fn once_state(&mut self, id: ResourceId) -> &mut OnceState {
        match &mut self.resources[id.index()].state {
            State::Once(state) => state,
            other => unreachable!("a once operation on {other:?}"),
        }
    }

    pub(crate) fn commit_once_enter(&mut self, task: TaskId, id: ResourceId) -> Committed {
        let state = self.once_state(id);
        let before = *state;
        match before {
            OnceState::Done => Committed::Done(outcome::OK),
            OnceState::New | OnceState::Poisoned => {
                *state = OnceState::Running;
                self.resources[id.index()].holders.set_exclusive(Some(task));
                Committed::Done(if before == OnceState::New { outcome::RUN } else { outcome::RUN_AFTER_PANIC })
            }
            OnceState::Running => {
                self.resources[id.index()].waiters.push(task, &mut self.tasks);
                self.wait(task)
            }
        }
    }

    pub(crate) fn commit_once_finish(&mut self, id: ResourceId, succeeded: bool) -> Committed {
        self.resources[id.index()].holders.clear();
        if succeeded {
            *self.once_state(id) = OnceState::Done;
            while let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
                self.grant(next, outcome::OK);
            }
        } else {
            *self.once_state(id) = OnceState::Poisoned;
            if let Some(next) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
                *self.once_state(id) = OnceState::Running;
                self.resources[id.index()].holders.set_exclusive(Some(next));
                self.grant(next, outcome::RUN_AFTER_PANIC);
            }
        }
        Committed::Done(outcome::OK)
    }

    pub(crate) fn commit_once_check(&mut self, id: ResourceId) -> Committed {
        let done = *self.once_state(id) == OnceState::Done;
        Committed::Done(if done { outcome::OK } else { outcome::REFUSED })
    }
}
