//! Carrying out: what each kind of operation does. The rules of primitives are in [`crate::resource`].

use super::{Committed, Engine};
use crate::finding::FindingKind;
use crate::id::TaskId;
use crate::operation::{OpKind, Operation, outcome};
use crate::strategy::{Strategy, View};
use crate::task::Status;
use crate::trace::Step;

/// Tasks that only yield to each other wait for somebody who sleeps: after so many yields time passes.
const YIELDS_UNTIL_TIME_PASSES: u64 = 64;

/// The step that carries out `operation`, before anything is known of what it came to.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn step(task: TaskId, operation: &Operation, after: u32, was_choice: bool) -> Step {
    Step {
        site: operation.site,
        arg: operation.arg,
        value: 0,
        resource: operation.resource,
        task,
        after,
        outcome: outcome::OK as u16,
        kind: operation.kind,
        was_choice,
    }
}

impl Engine {
    /// Carries out what `task` announced, as far as it is the engine's to carry out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn commit(&mut self, task: TaskId, kind: OpKind, strategy: &mut dyn Strategy) -> Committed {
        let operation = self.tasks[task.index()].pending;
        debug_assert_eq!(operation.kind, kind, "a task carries out the announced operation");
        self.carry_out(task, operation, strategy)
    }

    /// As [`commit`](Self::commit), for a caller that still has in registers what `task` announced.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn carry_out(&mut self, task: TaskId, operation: Operation, strategy: &mut dyn Strategy) -> Committed {
        self.record(task, &operation);
        self.commit_in_room(task, &operation, strategy)
    }

    /// Takes note of what a front end has carried out by itself, and knows all of: what was read or written, or done to a
    /// queue, and what it came to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn commit_told(&mut self, task: TaskId, access: Operation, value: u64, outcome: u32) {
        debug_assert!(access.kind.is_told());
        if access.kind.is_of_queue() {
            return self.commit_of_queue(task, &access, value, outcome);
        }
        if !access.kind.is_access() {
            return self.commit_use(task, &access, value, outcome);
        }
        let t = &mut self.tasks[task.index()];
        self.resources[access.resource.index()].trail.access(&mut t.hash, access.kind, outcome);
        let after = std::mem::take(&mut t.granted_by);
        self.steps.push(Step { value, outcome: outcome as u16, ..step(task, &access, after, self.next_was_choice) });
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn commit_of_queue(&mut self, task: TaskId, operation: &Operation, value: u64, outcome: u32) {
        let after = std::mem::take(&mut self.tasks[task.index()].granted_by);
        let step = Step { value, outcome: outcome as u16, ..step(task, operation, after, self.next_was_choice) };
        self.steps.push(step);
        self.leave_trail_at_queue(&step);
    }

    #[inline(never)]
    fn commit_use(&mut self, task: TaskId, operation: &Operation, value: u64, outcome: u32) {
        self.record(task, operation);
        if let Some(step) = self.steps.last_mut() {
            (step.value, step.outcome) = (value, outcome as u16);
        }
        self.leave_trail();
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn record(&mut self, task: TaskId, operation: &Operation) {
        let after = std::mem::take(&mut self.tasks[task.index()].granted_by);
        self.steps.push(step(task, operation, after, self.next_was_choice));
    }

    /// The task that yielded may be picked again once another one has made a step.
    pub(super) fn return_yielded(&mut self) {
        let by_other = |last: &Step| !last.kind.fires() && last.task != self.yielded;
        if self.yielded != TaskId::NONE && self.steps.last().is_some_and(by_other) {
            let task = std::mem::replace(&mut self.yielded, TaskId::NONE);
            self.make_ready(task);
        }
    }

    /// Whoever waits in vain has hope again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn progress(&mut self, commit: impl FnOnce(&mut Self) -> Committed) -> Committed {
        self.yields_since_progress = 0;
        commit(self)
    }

    pub(crate) fn commit_choose(&mut self, task: TaskId, outcomes: u64, strategy: &mut dyn Strategy) -> Committed {
        let left = self.outcomes_left(task, outcomes);
        self.forget_mishap(task);
        if let Some(step) = self.steps.last_mut() {
            step.arg = left;
        }
        let chosen = self.chosen_of(task, left, strategy);
        self.note_value(chosen);
        Committed::Done(outcome::OK)
    }

    /// What the strategy chooses for `task`.
    pub(super) fn chosen_of(&mut self, task: TaskId, outcomes: u64, strategy: &mut dyn Strategy) -> u64 {
        if outcomes < 2 || self.tearing_down {
            return 0;
        }
        let chosen = match &mut self.uniform {
            Some(tape) => Ok(tape.below(outcomes)),
            None => strategy.choose(outcomes, &View { engine: self, ready: &self.ready, current: task }),
        };
        match chosen {
            Ok(chosen) => chosen,
            Err(divergence) => {
                self.diverge(divergence);
                0
            }
        }
    }

    pub(crate) fn commit_yield(&mut self, task: TaskId, strategy: &mut dyn Strategy) -> Committed {
        self.yields_since_progress += u64::from(self.yields_fairly(task));
        if self.yields_since_progress > self.limits.progress_bound {
            self.fail(FindingKind::Livelock, task);
        }
        if let Some(rounds) = self.limits.spin_rounds {
            self.spin(task, rounds);
            return Committed::Done(outcome::OK);
        }
        if self.yields_since_progress % YIELDS_UNTIL_TIME_PASSES == 0 && self.timers.pending() {
            self.time_may_pass = true;
            self.leave_fast_path();
        }
        self.return_yielded();
        if self.is_passed_over(task, strategy) {
            self.remove_ready(task);
            self.yielded = task;
            self.may_need_care = true;
            self.leave_fast_path();
        }
        Committed::Done(outcome::OK)
    }

    /// Whether the yield that `task` has just made shows that nobody gets on: not if others could have gone on since its last
    /// one, and have not been let.
    fn yields_fairly(&mut self, task: TaskId) -> bool {
        let made = self.steps.len();
        let (by, before) = std::mem::replace(&mut self.last_yield, (task, made));
        by != task || self.ready.len() < 2 || self.steps[before..made].iter().any(|step| step.task != task)
    }

    /// Whether `task`, which has just yielded, is passed over until another one has made a step.
    fn is_passed_over(&mut self, task: TaskId, strategy: &mut dyn Strategy) -> bool {
        if self.tearing_down {
            return true;
        }
        match &mut self.uniform {
            Some(tape) => tape.below(2) == 0,
            None => strategy.passes_over(task, &View { engine: self, ready: &self.ready, current: task }),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn commit_exit(&mut self, task: TaskId) -> Committed {
        self.remove_ready(task);
        if self.yielded == task {
            self.yielded = TaskId::NONE;
        }
        let t = &mut self.tasks[task.index()];
        t.status = Status::Finished;
        let mut joiners = t.joiners;
        self.finished += 1;
        while let Some(joiner) = joiners.pop(&mut self.tasks) {
            self.enable(joiner);
        }
        self.tasks[task.index()].joiners = joiners;
        Committed::Done(outcome::OK)
    }
}
