//! Sequential: a task runs until it can go on no more.
//!
//! The current task keeps running; when it cannot, the ready task of the lowest spawn path goes on.
//! After a yield it is the next one in cyclic order: the lowest would let two spinners starve a third.

use super::{Strategy, View};
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::task::Task;

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
    fill_with(view, |_| 0)
}

/// The same, but when the current task cannot go on, those of a lower `rank` come first.
#[inline]
pub(crate) fn fill_with(view: &View<'_>, rank: impl Fn(&Task) -> u8) -> TaskId {
    let current = view.current();
    if view.is_ready(current) && !view.is_environment(current) {
        return current;
    }
    let yielded = view.steps().last().is_some_and(|s| s.kind.gives_way());
    if yielded {
        return after(view, current);
    }
    lowest(view, |_, task| rank(task)).unwrap_or(view.ready()[0])
}

/// The next ready task after `current` in cyclic order of spawn paths.
pub(super) fn after(view: &View<'_>, current: TaskId) -> TaskId {
    let path = view.path(current);
    lowest(view, |t, _| u8::from(view.path(t) <= path)).unwrap_or(view.ready()[0])
}

/// The ready task of the lowest rank and, of these, of the lowest spawn path. The
/// environment comes after the program, and the clock last: it fires early only where that is asked for.
#[inline]
fn lowest(view: &View<'_>, rank: impl Fn(TaskId, &Task) -> u8) -> Option<TaskId> {
    let (mut lowest, mut its_parent, mut its_rank) = (TaskId::NONE, TaskId::NONE, u8::MAX);
    for &task in view.ready() {
        let its = view.task(task);
        let parent = its.parent;
        // What is met most: the next of its siblings, which come after it.
        if its_rank == 0 && parent == its_parent && task > lowest {
            continue;
        }
        let rank = match its.environment {
            true => u8::MAX - 1 - u8::from(parent != TaskId::NONE),
            false => rank(task, its),
        };
        if rank > its_rank {
            continue;
        }
        // Without spelling out the paths of parents and siblings: a parent comes before its children, and
        // these are numbered in their order; everybody comes before nobody.
        let is_simple = parent == its_parent || lowest == TaskId::NONE || parent == lowest || its_parent == task;
        let is_lower = || if is_simple { task < lowest } else { view.path(task) < view.path(lowest) };
        if rank < its_rank || is_lower() {
            (lowest, its_parent, its_rank) = (task, parent, rank);
        }
    }
    (lowest != TaskId::NONE).then_some(lowest)
}
