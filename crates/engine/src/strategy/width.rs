//! How wide a program is, at sight: how many prefixes its first execution leaves to exhaustive exploration.
//!
//! There is one for each time that a task touches what another one has touched last, and not both of them only look, where
//! nothing has put the one after the other before. [`Causality`](crate::causality) tells that exactly, and takes as long as
//! the execution itself. Here who learns of a step learns all that its task knows by now, which may be more than it knew
//! then: so there may be a few more prefixes than are counted, and hardly ever less.

use super::View;
use super::profile::{is_access, is_read};
use crate::id::TaskId;

/// Whether more than `most` prefixes are left after the execution, as far as that shows at sight.
pub fn is_beyond(view: &View<'_>, most: u64) -> bool {
    let (steps, tasks) = (view.steps(), view.engine.tasks().len());
    if changes_of_hands(view) <= most {
        return false;
    }
    let mut last: Vec<Option<usize>> = vec![None; view.resources().len()];
    let mut known = vec![0; tasks * tasks];
    // Whether it is new to a task that it comes after step `j` of another one.
    let mut learn = |task: usize, of: usize, j: usize| {
        let is_new = known[task * tasks + of] <= j;
        if is_new {
            for other in 0..tasks {
                known[task * tasks + other] = known[task * tasks + other].max(known[of * tasks + other]);
            }
            known[task * tasks + of] = j + 1;
        }
        is_new
    };
    let mut meetings = 0;
    for (i, step) in steps.iter().enumerate() {
        let me = step.task.index();
        if let Some(granted_by) = step.after.checked_sub(1) {
            learn(me, steps[granted_by as usize].task.index(), granted_by as usize);
        }
        if step.kind.joins() {
            learn(me, step.arg as usize, i);
        } else if step.kind.unparks() {
            learn(step.arg as usize, me, i);
        }
        let Some(before) = last.get_mut(step.resource.index()) else { continue };
        let Some(j) = before.replace(i) else { continue };
        let meets = steps[j].task != step.task && !(is_read(steps[j].kind) && is_read(step.kind));
        meetings += u64::from(meets && learn(me, steps[j].task.index(), j) && is_access(step.kind));
        if meetings > most {
            return true;
        }
    }
    false
}

/// How often a task touches what another one has touched last: at least as often as counts above, and quickly told.
fn changes_of_hands(view: &View<'_>) -> u64 {
    let mut last = vec![TaskId::NONE; view.resources().len()];
    let mut changes = 0;
    for step in view.steps() {
        let Some(before) = last.get_mut(step.resource.index()) else { continue };
        let before = std::mem::replace(before, step.task);
        changes += u64::from(before != step.task && before != TaskId::NONE && is_access(step.kind));
    }
    changes
}
