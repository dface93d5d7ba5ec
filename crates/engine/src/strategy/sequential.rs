//! Sequential: a task runs until it can go on no more.
//!
//! The current task keeps running; when it cannot, the ready task of the lowest spawn path goes on.
//! After a yield it is the next one in cyclic order: the lowest would let two spinners starve a third.

use super::{Strategy, View};
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::operation::OpKind;

/// Runs each task as long as it can.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Strategy for Sequential {
    fn begin(&mut self, _seed: u64) {}

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        Ok(fill(view))
    }
}

/// The sequential choice; also what replay falls back to when its schedule is at an end.
pub(crate) fn fill(view: &View<'_>) -> TaskId {
    let current = view.current();
    if current != TaskId::CLOCK && view.is_ready(current) {
        return current;
    }
    let yielded = view.steps().last().is_some_and(|s| s.kind == OpKind::Yield);
    if yielded {
        return after(view, current);
    }
    lowest(view, |_| true).unwrap_or(view.ready()[0])
}

/// The next ready task after `current` in cyclic order of spawn paths.
pub(super) fn after(view: &View<'_>, current: TaskId) -> TaskId {
    let path = view.path(current);
    lowest(view, |t| view.path(t) > path).or_else(|| lowest(view, |_| true)).unwrap_or(view.ready()[0])
}

/// The ready task of lowest spawn path that satisfies `wanted`. The clock comes last: it fires early
/// only where that is asked for.
fn lowest(view: &View<'_>, wanted: impl Fn(TaskId) -> bool) -> Option<TaskId> {
    let candidates = view.ready().iter().copied().filter(|t| *t != TaskId::CLOCK && wanted(*t));
    candidates.reduce(|a, b| if is_before(view, a, b) { a } else { b })
}

/// Whether `a` has a lower spawn path than `b`, without spelling out those of parents and siblings: a
/// parent comes before its children, and these are numbered in their order.
fn is_before(view: &View<'_>, a: TaskId, b: TaskId) -> bool {
    let (parent_of_a, parent_of_b) = (view.task(a).parent, view.task(b).parent);
    if parent_of_a == parent_of_b || parent_of_a == b || parent_of_b == a {
        return a < b;
    }
    view.path(a) < view.path(b)
}
