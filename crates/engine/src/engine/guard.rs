//! The guards around every strategy: step limit, starvation, deadlock.

use super::{Engine, Next};
use crate::ending::{Abandoned, Ending, Stop};
use crate::finding::{Deadlock, Divergence, Finding, FindingKind};
use crate::id::TaskId;
use crate::resource::Blocker;
use crate::strategy::{Strategy, View};
use crate::task::Status;

impl Engine {
    /// The step limit, and the starvation guard: a task that was ready for `starvation_bound` steps
    /// without being let run is let run now, whatever the strategy thinks.
    ///
    /// Under a virtual guard it is always due: that is how such an execution is told from all others.
    #[cold]
    pub(super) fn periodic_checks(&mut self, strategy: &mut dyn Strategy) -> Option<Next> {
        match self.guarding {
            Some(_) => Some(self.next_guarded(strategy)),
            None => self.check_limits(),
        }
    }

    pub(super) fn check_limits(&mut self) -> Option<Next> {
        let now = self.steps.len() as u64;
        if now >= self.limits.max_steps {
            self.fail(FindingKind::StepLimit, self.current);
            return Some(Next::Stop);
        }
        let bound = self.limits.starvation_bound;
        if let Some(task) = self.passed_over_for(bound as usize) {
            let blocked = vec![self.describe_blocked(task)];
            self.fail(FindingKind::Deadlock(Box::new(Deadlock { blocked, ..Deadlock::default() })), task);
            return Some(Next::Stop);
        }
        self.check_again_at(now.saturating_add(bound).min(self.limits.max_steps));
        let recent = &self.steps[now.saturating_sub(bound) as usize..];
        let starved = self
            .ready
            .iter()
            .copied()
            .filter(|t| self.tasks[t.index()].ready_since().saturating_add(bound) <= now)
            .filter(|t| recent.iter().all(|step| step.task != *t))
            .min_by_key(|t| self.tasks[t.index()].ready_since())?;
        if self.ready.len() < 2 {
            return None;
        }
        self.next_was_choice = true;
        self.current = starved;
        Some(Next::Run(starved))
    }

    /// The execution has failed because of `kind`, with `task` at fault.
    #[cold]
    pub fn fail(&mut self, kind: FindingKind, task: TaskId) {
        self.end_with(Ending::Failed(Finding { kind, task, step: self.steps.len() as u64 }));
    }

    /// Gives the execution up: it is to be made again.
    #[cold]
    pub fn abandon(&mut self, why: Abandoned) {
        self.end_with(Ending::Abandoned(why));
    }

    /// Gives the execution up, and the exploration with it.
    #[cold]
    pub fn stop(&mut self, why: Stop) {
        self.end_with(Ending::Stopped(why));
    }

    /// What comes first stands.
    fn end_with(&mut self, ending: Ending) {
        if self.ending.is_done() && !self.tearing_down {
            self.ending = ending;
            self.leave_fast_path();
        }
    }

    /// Whether nobody makes a step any more; others may go on after what somebody has failed by.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        match &self.ending {
            Ending::Done => false,
            Ending::Failed(finding) => !self.limits.run_on || finding.kind.ends_execution(),
            Ending::Abandoned(_) | Ending::Stopped(_) => true,
        }
    }

    /// `task` ends by a panic, which somebody may receive.
    pub fn panicked(&mut self, task: TaskId, message: &str) {
        if let Some(task) = self.tasks.get_mut(task.index()) {
            task.panic = Some(Box::new(message.into()));
        }
    }

    /// Ends the execution before its next step, since the time is over. May be called at any moment, in the middle of
    /// whatever the engine does, and again if that was in vain.
    pub fn cut(&mut self) {
        self.cut = true;
        self.fast_until = 0;
    }

    /// Says something besides what has gone wrong. What is said first stands.
    #[cold]
    pub fn mention(&mut self, aside: &str) {
        self.aside.get_or_insert_with(|| aside.into());
    }

    pub(super) fn diverge(&mut self, divergence: Box<Divergence>) -> Next {
        self.fail(FindingKind::Divergence(divergence), self.current);
        Next::Stop
    }

    pub(super) fn nobody_can_go_on(&mut self, strategy: &mut dyn Strategy) -> Next {
        if !self.ending.is_done() {
            return Next::Stop;
        }
        if self.finished < self.tasks.len() && !self.only_daemons_are_left() {
            let blocked = self.blocked_now();
            self.fail(FindingKind::Deadlock(Box::new(blocked)), self.current);
            return Next::Stop;
        }
        let view = View { engine: self, ready: &self.ready, current: self.current };
        match strategy.finish(&view) {
            Ok(()) => Next::Stop,
            Err(divergence) => self.diverge(divergence),
        }
    }

    /// Whether all that have not exited need not.
    pub(super) fn only_daemons_are_left(&self) -> bool {
        let mut left = self.tasks.iter().filter(|t| !t.environment && t.status != Status::Finished);
        left.all(|task| task.daemon)
    }

    pub(super) fn look_for_cycle(&mut self, task: TaskId) {
        if self.leads_nowhere(task) || self.tearing_down {
            return;
        }
        if let Some(cycle) = self.cycle_through(task) {
            let mut blocked = self.blocked_now();
            blocked.cycle = cycle;
            self.fail(FindingKind::Deadlock(Box::new(blocked)), task);
        }
    }

    /// Whether following the one holder of each lock, from the one that `task` waits for, ends at a
    /// task that can still run, or that waits for nobody in particular: the common case, told without
    /// building the graph.
    fn leads_nowhere(&self, task: TaskId) -> bool {
        let mut at = task;
        for _ in 0..self.tasks.len() {
            let t = &self.tasks[at.index()];
            if !matches!(t.status, Status::Waiting | Status::Disabled) || t.is_limited() {
                return true;
            }
            at = match t.pending.kind.room().blocker(self, &t.pending) {
                Blocker::One(task) => task,
                // The graph knows.
                Blocker::Several => return false,
                Blocker::Anybody => return true,
            };
        }
        false
    }
}
