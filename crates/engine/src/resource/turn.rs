//! Giving way: a task tells the scheduler that nothing can be gained by running on.

use super::room::{Facts, Room, Traits, not_here};
use crate::engine::{Committed, Engine};
use crate::id::TaskId;
use crate::operation::{OpKind, Operation};
use crate::strategy::Strategy;

pub(crate) const fn facts(kind: OpKind) -> Facts {
    match kind {
        OpKind::Yield => Facts::of("yield", &[Traits::GIVES_WAY]),
        other => not_here(other),
    }
}

impl OpKind {
    /// Whether it lets others go first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn gives_way(self) -> bool {
        matches!(self, OpKind::Yield)
    }
}

/// The rules of yields.
pub(crate) struct Rules;

impl Room for Rules {
    fn commit(&self, engine: &mut Engine, task: TaskId, _: &Operation, strategy: &mut dyn Strategy) -> Committed {
        engine.commit_yield(task, strategy)
    }
}
