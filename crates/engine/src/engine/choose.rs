//! Announcing and choosing: who is ready, and which of them goes next.

use super::{Engine, Next};
use crate::budget::Budget;
use crate::ending::Stop;
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::operation::{OpKind, Operation};
use crate::resource::Traits;
use crate::strategy::{Strategy, View};
use crate::task::{NOT_READY, Status};

impl Engine {
    /// Takes note of what `task` does next.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn announce(&mut self, task: TaskId, operation: Operation) {
        self.tasks[task.index()].pending = operation;
        if operation.kind.is(Traits::NEEDS_ENABLING) {
            self.announce_wait(task, operation.kind);
        }
        // Else it is in the ready list already, from its own step or from its settling; unless that
        // step was a yield.
        debug_assert!(self.may_announce(task), "a task that announces is ready, or has yielded");
    }

    pub(super) fn may_announce(&self, task: TaskId) -> bool {
        self.tasks[task.index()].ready_at != NOT_READY
            || self.tasks[task.index()].status == Status::Disabled
            || self.yielded == task
            || self.is_spinning(task)
            || self.tearing_down
    }

    #[inline(never)]
    fn announce_wait(&mut self, task: TaskId, kind: OpKind) {
        kind.room().announce(self, task);
    }

    /// Gives the wait that `task` is about to enter an end at virtual instant `deadline`.
    pub fn set_deadline(&mut self, task: TaskId, deadline: Option<u64>) {
        self.tasks[task.index()].set_deadline(deadline);
        if self.every_timer_fires() {
            self.limit_wait(task);
        }
    }

    /// The virtual instant that ends the wait of `task`, if it has one.
    pub fn deadline(&self, task: TaskId) -> Option<u64> {
        self.tasks[task.index()].deadline()
    }

    /// Whether what `task` has announced can be carried out now.
    pub(super) fn enabled(&self, task: TaskId) -> bool {
        let kind = self.tasks[task.index()].pending.kind;
        !kind.is(Traits::NEEDS_ENABLING) || kind.room().is_enabled(self, task)
    }

    #[cold]
    pub(crate) fn disable(&mut self, task: TaskId) {
        // The guard may have something to do before, and comes back to it.
        if self.guarding.is_none() || self.tearing_down {
            self.disable_now(task);
        }
    }

    pub(super) fn disable_now(&mut self, task: TaskId) {
        let operation = self.tasks[task.index()].pending;
        self.remove_ready(task);
        if self.yielded == task {
            self.yielded = TaskId::NONE;
        }
        self.tasks[task.index()].status = Status::Disabled;
        operation.kind.room().begin_wait(self, task);
        self.start_timer(task);
        self.look_for_cycle(task);
    }

    /// Decides what happens now. Call it after every announcement, wait and exit.
    #[inline]
    pub fn next(&mut self, strategy: &mut dyn Strategy) -> Next {
        if self.steps.len() >= self.fast_until {
            return self.next_in_full(strategy);
        }
        self.next_ready(strategy)
    }

    /// What [`next`](Self::next) would say to run, if that can be told without asking anybody: nothing
    /// unusual is pending, and there is no choice, every choice is a uniform draw, or the current task goes on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn next_at_once(&mut self) -> Option<TaskId> {
        if self.steps.len() >= self.fast_until {
            return None;
        }
        if self.ready.len() > 1 {
            let Some(tape) = &mut self.uniform else { return self.go_on_at_once() };
            let task = self.ready[tape.below(self.ready.len() as u64) as usize];
            self.next_was_choice = true;
            self.current = task;
            return Some(task);
        }
        let task = *self.ready.first()?;
        self.next_was_choice = false;
        self.current = task;
        Some(task)
    }

    /// The current task, if it goes on unasked.
    #[inline(never)]
    fn go_on_at_once(&mut self) -> Option<TaskId> {
        let task = self.current;
        if (task, true) != (self.goes_on.0, self.steps.len() < self.goes_on.1) {
            return None;
        }
        let goes_on = self.tasks[task.index()].ready_at != NOT_READY;
        self.next_was_choice = goes_on;
        goes_on.then_some(task)
    }

    /// One of the ready tasks.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next_ready(&mut self, strategy: &mut dyn Strategy) -> Next {
        let task = match self.ready[..] {
            [] => return self.next_unusual(strategy),
            [only] => {
                self.next_was_choice = false;
                only
            }
            _ => match self.pick(strategy) {
                Ok(task) => {
                    debug_assert!(self.ready.contains(&task), "a strategy picked a task that is not ready");
                    self.next_was_choice = true;
                    task
                }
                Err(divergence) => return self.diverge(divergence),
            },
        };
        self.current = task;
        Next::Run(task)
    }

    /// Asks the strategy.
    #[inline]
    pub(super) fn pick(&mut self, strategy: &mut dyn Strategy) -> Result<TaskId, Box<Divergence>> {
        if let Some(tape) = &mut self.uniform {
            return Ok(self.ready[tape.below(self.ready.len() as u64) as usize]);
        }
        let picked = strategy.pick(&View { engine: self, ready: &self.ready, current: self.current })?;
        self.goes_on = (picked, strategy.goes_on_until());
        Ok(picked)
    }

    /// As [`next`](Self::next), when something is pending: mostly a task that is to be settled.
    #[inline(never)]
    pub(super) fn next_in_full(&mut self, strategy: &mut dyn Strategy) -> Next {
        match self.settle_at_once() {
            Some(task) => Next::Settle(task),
            None if self.doomed.is_empty() => self.next_with_care(strategy),
            None => self.next_among_doomed(strategy),
        }
    }

    /// What [`next`](Self::next) would say to settle, if that can be told without asking anybody.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn settle_at_once(&mut self) -> Option<TaskId> {
        let task = self.settles;
        let t = self.tasks.get_mut(task.index())?;
        self.settles = TaskId::NONE;
        self.fast_until = self.next_periodic_check as usize;
        debug_assert_eq!(t.ready_at, NOT_READY, "a waiting task is not ready");
        t.status = Status::Ready;
        let at = self.ready.len();
        self.ready.push(task);
        t.ready_at = at as u32;
        Some(task)
    }

    /// As [`next`](Self::next), when something unusual is pending or a periodic check is due.
    #[inline(never)]
    pub(super) fn next_with_care(&mut self, strategy: &mut dyn Strategy) -> Next {
        if let Some(next) = self.next_before_all() {
            return next;
        }
        if self.steps.len() as u64 >= self.next_periodic_check {
            if let Some(next) = self.periodic_checks(strategy) {
                return next;
            }
        }
        if self.timers_may_fire() {
            return self.next_unusual(strategy);
        }
        self.enter_fast_path();
        self.next_ready(strategy)
    }

    /// What comes before anybody is picked.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next_before_all(&mut self) -> Option<Next> {
        if self.cut {
            self.stop(Stop::OutOfTime);
        }
        if self.is_over() {
            return Some(Next::Stop);
        }
        if !self.awaiting.is_empty() {
            self.have_them_look();
        }
        if let Some(task) = self.next_unsettled() {
            return Some(Next::Settle(task));
        }
        self.return_yielded();
        if std::mem::take(&mut self.time_may_pass) {
            self.fire_timers();
        }
        if !self.doomed.is_empty() {
            self.doom();
        }
        None
    }

    /// A task that is to run up to its next announcement. Nobody picks before it has made it, so it
    /// is counted among the ready ones already.
    pub(super) fn next_unsettled(&mut self) -> Option<TaskId> {
        self.leave_fast_path();
        self.settles = self.unsettled.pop(&mut self.tasks)?;
        let task = self.settle_at_once();
        if self.unsettled.is_empty() {
            self.enter_fast_path();
        } else {
            self.leave_fast_path();
        }
        task
    }

    /// `task` is to be settled before the next choice.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn unsettle(&mut self, task: TaskId) {
        if self.fast_until == 0 {
            self.leave_fast_path();
            if !self.was_granted_a_detour(task) {
                self.unsettled.push(task, &mut self.tasks);
            }
            return;
        }
        self.settle_next(task);
    }

    /// As [`unsettle`](Self::unsettle), where nothing else is pending.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn settle_next(&mut self, task: TaskId) {
        debug_assert!(self.settles == TaskId::NONE && self.unsettled.is_empty(), "nobody else is to be settled");
        self.fast_until = 0;
        self.settles = task;
    }

    /// Makes the next call of [`next`](Self::next) look beyond the ready list.
    #[inline]
    pub(super) fn leave_fast_path(&mut self) {
        self.fast_until = 0;
        let settles = std::mem::replace(&mut self.settles, TaskId::NONE);
        if settles != TaskId::NONE {
            self.unsettled.push(settles, &mut self.tasks);
        }
    }

    /// Nothing unusual is pending, unless timers take part in every choice.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn enter_fast_path(&mut self) {
        let careful = self.may_need_care
            && (self.timers_may_fire()
                || self.every_timer_fires() && self.timers.pending()
                || !self.spinning.is_empty()
                || !self.awaiting.is_empty()
                || !self.doomed.is_empty()
                || self.yielded != TaskId::NONE);
        self.fast_until = if careful { 0 } else { self.next_periodic_check as usize };
    }

    #[inline]
    pub(super) fn timers_may_fire(&self) -> bool {
        match self.every_timer_fires() {
            true => self.racing_timer_may_fire(),
            false => self.left[Budget::EarlyFires] > 0 && self.timers.pending(),
        }
    }

    /// Nobody is ready, or timers take part in the choice.
    #[cold]
    pub(super) fn next_unusual(&mut self, strategy: &mut dyn Strategy) -> Next {
        loop {
            let race = self.timers_race();
            if !race {
                self.timers.forget_stale(&self.tasks);
            }
            // Who yields lets the others run, but can go on itself: time does not pass before.
            if self.ready.is_empty() {
                if self.yielded != TaskId::NONE {
                    let task = std::mem::replace(&mut self.yielded, TaskId::NONE);
                    self.make_ready(task);
                }
                self.release_spinners();
                if self.ready.is_empty() && !self.timers.pending() && self.end_service() {
                    return self.next_with_care(strategy);
                }
            }
            let early = !self.ready.is_empty();
            if early && !self.timers_may_fire() {
                return self.next_with_care(strategy);
            }
            if !self.timers.pending() || (!early && !race && self.only_daemons_are_left()) {
                return self.nobody_can_go_on(strategy);
            }
            if early {
                self.doom();
                match self.pick_with_clock(strategy) {
                    Err(divergence) => return self.diverge(divergence),
                    Ok(None) => {
                        self.next_was_choice = true;
                        if !race {
                            self.left.take(Budget::EarlyFires);
                        }
                    }
                    Ok(Some(task)) => {
                        self.next_was_choice = true;
                        self.current = task;
                        return Next::Run(task);
                    }
                }
            } else {
                self.next_was_choice = false;
            }
            match race {
                true => self.fire_racing_timer(),
                false => self.fire_timers(),
            }
            if let Some(task) = self.next_unsettled() {
                return Next::Settle(task);
            }
        }
    }
}
