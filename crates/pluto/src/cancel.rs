//! Tasks that are asked to end.
//!
//! Such a task ends at its next operation: that does nothing, and raises `task cancelled`. So the code that the compiler has
//! written for errors runs, and gives back the senders that the task has. One that waits already goes on waiting as long as others
//! can do anything; then it is told.
//!
//! To look costs a step, which tests need not pay in which nobody is asked to end. Whether somebody is shows in a first execution, or
//! in any later one: then the exploration is made again.
//!
//! Who waits is told by a time limit that no test reaches: it is over when nothing else can happen. Who was not asked to end
//! waits on.

use drawloom_capi as capi;

use crate::collector;
use crate::foreign::{pending, raise};
use crate::state::CANCELS;
use crate::task::Task;

use capi::drawloom_status;

pub(crate) const MESSAGE: &str = "task cancelled";

/// Longer than any test sleeps, in nanoseconds: 36 years.
const LONG: u64 = 1 << 60;

/// What a wait came to.
pub(crate) enum Waited {
    Done(drawloom_status),
    /// The task was asked to end; the error is raised.
    Cancelled,
}

/// The running task, if it is not main.
fn running() -> Option<Task> {
    let task = pending().task;
    (task != 0).then_some(Task(task as *mut i64))
}

/// Whether `task` was asked to end, as a step says.
pub(crate) fn was_asked(task: Task, at: *const capi::drawloom_loc) -> bool {
    CANCELS.get() && capi::drawloom_task_is_cancelled(task.handle(), at) == drawloom_status::DRAWLOOM_CANCELLED
}

/// Whether the running task was asked to end: then the error is raised.
pub(crate) fn is_over(at: *const capi::drawloom_loc) -> bool {
    let over = CANCELS.get() && running().is_some_and(|task| was_asked(task, at));
    if over {
        raise(MESSAGE);
    }
    over
}

/// Waits, for so many nanoseconds at most, unless the task is asked to end.
pub(crate) fn wait(mut wait: impl FnMut(u64) -> drawloom_status) -> Waited {
    let Some(me) = running().filter(|_| CANCELS.get()) else { return Waited::Done(wait(u64::MAX)) };
    loop {
        match wait(LONG) {
            drawloom_status::DRAWLOOM_TIMED_OUT if me.is_cancelled() => {
                raise(MESSAGE);
                return Waited::Cancelled;
            }
            // Whoever ends now may ask this one to.
            drawloom_status::DRAWLOOM_TIMED_OUT if collector::kept().any(Task::is_cancelled) => {}
            drawloom_status::DRAWLOOM_TIMED_OUT => return Waited::Done(wait(u64::MAX)),
            status => return Waited::Done(status),
        }
    }
}
