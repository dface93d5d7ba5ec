//! What an operation would come to in another place.
//!
//! Whether a compare-exchange succeeds, a try-lock is refused or a notification finds somebody depends
//! on where it stands, and the dependence table distinguishes these. So when a step is moved, its
//! outcome is computed anew, from the steps that would then be before it: no user code is needed, for
//! all of *these* steps come to what they came to in the execution.

use super::execution::Execution;
use crate::dependence::Label;
use crate::engine::begin_of_wait;
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, outcome};
use crate::resource::{State, Traits};
use crate::trace::Step;

/// The label of `moved` if it came right after the steps at the positions that `is_before` accepts, all of
/// them before `end`; `at` is where these leave the order of the execution. `None` if it could not be made there.
#[inline]
pub(super) fn label_after(
    execution: &Execution<'_>,
    moved: Label,
    at: usize,
    end: usize,
    is_before: impl Fn(usize) -> bool,
) -> Option<Label> {
    if moved.kind.is(Traits::SAME_ANYWHERE) {
        return Some(moved);
    }
    label_that_depends(&There { execution, at, end, is_before: &is_before, moved })
}

#[inline(never)]
fn label_that_depends(there: &There<'_>) -> Option<Label> {
    there.moved.kind.room().moved(there.moved, there)
}

/// Steps after which another one is to be made: those at the positions that `is_before` accepts, all of them before `end`.
pub(crate) struct There<'a> {
    execution: &'a Execution<'a>,
    /// Where they leave the order of the execution.
    at: usize,
    end: usize,
    is_before: &'a dyn Fn(usize) -> bool,
    moved: Label,
}

impl There<'_> {
    fn made(&self) -> impl Iterator<Item = (usize, &Step)> {
        self.execution.steps[..self.end].iter().enumerate().filter(|(i, _)| (self.is_before)(*i))
    }

    /// All of them.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.made().map(|(_, step)| step)
    }

    /// Those on the resource of the step that is moved. Who has given up waiting is as if it had never asked.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Step> {
        let on_it = self.made().filter(|(_, s)| s.resource == self.moved.resource && !s.kind.fires());
        on_it.filter(|(i, _)| !(self.execution.has_timers && self.gave_up(*i))).map(|(_, step)| step)
    }

    /// Those on the resource of the step that is moved, where no step is a request: who waited in vain afterwards has made them all
    /// the same.
    pub(crate) fn all_here(&self) -> impl Iterator<Item = &Step> {
        self.steps().filter(|step| step.resource == self.moved.resource)
    }

    /// How many of these kinds have succeeded there.
    pub(crate) fn count(&self, kinds: &[OpKind]) -> u64 {
        self.here().filter(|s| kinds.contains(&s.kind) && s.is_ok()).count() as u64
    }

    /// Those on `resource` from where they leave the order of the execution.
    pub(crate) fn beyond(&self, resource: ResourceId) -> impl Iterator<Item = &Step> {
        self.made().filter(move |(i, s)| *i >= self.at && s.resource == resource).map(|(_, step)| step)
    }

    /// The execution before they leave its order, and from there on.
    pub(crate) fn parting(&self) -> (&[Step], &[Step]) {
        self.execution.steps.split_at(self.at)
    }

    /// What was in a resource at first.
    pub(crate) fn initial(&self, resource: ResourceId) -> State {
        self.execution.resources[resource.index()].initial
    }

    /// What another operation would come to there, in place of the step that is moved. What an access would find is not known:
    /// it stays as it is.
    pub(crate) fn instead(&self, moved: Label) -> Option<Label> {
        let as_it_is = moved.kind.is(Traits::SAME_ANYWHERE) || moved.kind.is_told();
        if as_it_is { Some(moved) } else { moved.kind.room().moved(moved, &There { moved, ..*self }) }
    }

    /// Whether the wait after the step at `at` was ended by its timer, as one of these steps.
    fn gave_up(&self, at: usize) -> bool {
        let steps = self.execution.steps;
        let task = steps[at].task;
        let is_next = |s: &Step| s.task == task || (s.kind.fires() && s.arg == u64::from(task.0) && !s.is_refused());
        let next = (at + 1..self.end).find(|i| is_next(&steps[*i]) && (self.is_before)(*i));
        next.is_some_and(|next| steps[next].task != task)
    }

    /// Whether the time limit of the park that is moved was over before it began.
    pub(crate) fn was_over_at_once(&self, park: &Label) -> bool {
        let all = self.execution.steps;
        let is_own = |step: &Step| step.task == park.task;
        let own = self.steps().filter(|step| is_own(step)).count();
        let mut all_own = (0..all.len()).filter(|i| is_own(&all[*i]));
        let Some(read) = own.checked_sub(1).and_then(|last| all_own.nth(last)) else { return false };
        // All timers that fired before that step are among these steps, whatever they are: it depends on them.
        let fires = all[..read].iter().filter(|step| step.kind.fires() && !step.is_refused());
        let now = fires.map(|fire| fire.value).max().unwrap_or(0);
        self.execution.timers().iter().any(|timer| timer.read == read && timer.deadline <= now)
    }

    /// The clock's next step: the timer that is the earliest after these steps.
    pub(crate) fn earliest_timer(&self, moved: Label) -> Option<Label> {
        let (steps, timers) = (self.execution.steps, self.execution.timers());
        if timers.is_empty() {
            return Some(moved);
        }
        let is_before = self.is_before;
        let fired = |begun: usize| {
            let fires = self.made().filter(|(_, s)| s.kind.fires());
            fires.map(|(_, s)| s.after as usize).any(|after| after == begun + 1)
        };
        let started = timers.iter().filter(|timer| timer.read < self.end && is_before(timer.read));
        let waits = started.map(|timer| (timer, begin_of_wait(steps, timer.read, timer.task)));
        let left = waits.filter(|(_, (begun, _))| !fired(*begun));
        let (timer, (begun, resource)) = left.min_by_key(|(timer, _)| (timer.deadline, timer.rank, timer.read))?;
        let is_same = (u64::from(timer.task.0), timer.deadline, resource) == (moved.arg, moved.value, moved.resource);
        let outcome = match is_same && moved.outcome != outcome::OK {
            true => moved.outcome,
            // A park or a sleep becomes a step when it is over, and is not yet.
            false if begun != timer.read && is_over(steps, begun, timer.task, is_before) => outcome::REFUSED,
            false => outcome::TIMED_OUT,
        };
        let (arg, value) = (u64::from(timer.task.0), timer.deadline);
        (begun < self.end && is_before(begun)).then_some(Label { arg, value, resource, outcome, ..moved })
    }
}

/// Whether the wait that `task` began at `begun` is over after these steps, without its timer: or never was one.
fn is_over(steps: &[Step], begun: usize, task: TaskId, is_before: impl Fn(usize) -> bool) -> bool {
    let next = (begun + 1..steps.len()).find(|i| steps[*i].task == task);
    next.is_some_and(|next| is_before(next) || steps[next].after.checked_sub(1).is_none_or(|by| is_before(by as usize)))
}
