//! Partial order sampling (Yuan, Yang, Gu: CAV 2018).
//!
//! Every operation gets a random priority when it is announced; the operation of highest priority goes
//! next. Whoever has an operation pending that the step depends on draws a new priority: the race
//! between them is decided afresh, while steps that commute do not disturb each other.
//!
//! Not uniform over partial orders; but the paper proves for each of them a lower bound that is
//! exponentially better, in the number of independent steps, than that of the random walk. It needs no
//! profile, no depth and no length. Weak where one task must lose many times in a row.
//!
//! After a yield a task's next operation has the lowest priority: against a spinning task, whose
//! priorities are drawn again and again, the expected wait of another is infinite otherwise.

use super::walk::{self, Walk, at};
use super::{Strategy, View};
use crate::dependence::may_conflict;
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::TaskId;

/// Partial order sampling.
#[derive(Clone, Debug)]
pub struct Pos {
    pub(super) walk: Walk,
    /// By task; 0 is to be drawn.
    priorities: Vec<u64>,
}

const UNSET: u64 = 0;
/// Below every drawn priority.
const LOWEST: u64 = 1;

impl Pos {
    /// Partial order sampling.
    pub fn new() -> Self {
        Pos { walk: Walk::new(), priorities: Vec::new() }
    }

    /// Takes note of the steps since the last choice.
    pub(super) fn catch_up(&mut self, view: &View<'_>) {
        for step in self.walk.new_steps(view) {
            let yields = step.kind.gives_way() && self.walk.heeded(step.task);
            let own = if yields { LOWEST } else { UNSET };
            *at(&mut self.priorities, step.task) = own;
            for &other in view.ready() {
                let priority = at(&mut self.priorities, other);
                if *priority > LOWEST && other != step.task && may_conflict(step, view.pending(other)) {
                    *priority = UNSET;
                }
            }
        }
        if self.walk.starves_somebody(view) {
            self.priorities.fill(UNSET);
        }
    }

    /// The priority of what `task` is about to do.
    pub(super) fn priority(&mut self, task: TaskId) -> u64 {
        let priority = at(&mut self.priorities, task);
        if *priority == UNSET {
            *priority = self.walk.tape.bits() | 2;
        }
        *priority
    }
}

impl Default for Pos {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Pos {
    walk::learning!();

    fn begin(&mut self, seed: u64) {
        self.walk.begin(seed);
        self.priorities.clear();
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if let Some(task) = self.walk.survey(view) {
            return Ok(task);
        }
        self.catch_up(view);
        let mut best = (0, view.ready()[0]);
        for i in 0..self.walk.candidates().len() {
            let task = self.walk.candidates()[i];
            best = best.max((self.priority(task), task));
        }
        Ok(best.1)
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.walk.tape.below(outcomes))
    }

    fn end(&mut self, _view: &View<'_>, _ending: &Ending) {
        self.walk.end();
    }
}
