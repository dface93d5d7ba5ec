//! Randomised delay bounding (Emmi, Qadeer, Rakamarić: POPL 2011; the randomised form as in Coyote).
//!
//! Tasks stand in a list, in the order of their creation, and the first that is ready goes next. A
//! *delay* moves it to the end of the list. Each execution draws 1 to b delays, at random choices among
//! the k that executions have. The systematic form has O(k^b) schedules, whatever the number of tasks,
//! and most bugs need three delays or fewer; the randomised one has no bound of its own, and is kept as
//! a baseline.
//!
//! A task that yields moves to the end of the list as well.

use super::walk::{self, Walk, at};
use super::{Strategy, View};
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::TaskId;

/// Choices assumed before an execution has been seen.
const FIRST_GUESS: u64 = 32;

/// Randomised delay bounding.
#[derive(Clone, Debug)]
pub struct DelayBounded {
    walk: Walk,
    most: u32,
    /// The choices at which somebody is delayed.
    delays: Vec<u64>,
    /// By task: 0 for those that were never moved, else when they were.
    moved: Vec<u64>,
    moves: u64,
}

impl DelayBounded {
    /// Delay bounding with at most `most` delays in each execution.
    pub fn new(most: u32) -> Self {
        DelayBounded { walk: Walk::new(), most: most.max(1), delays: Vec::new(), moved: Vec::new(), moves: 0 }
    }

    fn move_to_the_end(&mut self, task: TaskId) {
        self.moves += 1;
        *at(&mut self.moved, task) = self.moves;
    }

    fn first(&mut self) -> TaskId {
        let candidates = self.walk.candidates();
        let mut first = candidates[0];
        for &task in &candidates[1..] {
            if (*at(&mut self.moved, task), task) < (*at(&mut self.moved, first), first) {
                first = task;
            }
        }
        first
    }
}

impl Strategy for DelayBounded {
    walk::learning!();

    fn begin(&mut self, seed: u64) {
        self.walk.begin(seed);
        self.moved.clear();
        self.moves = 0;
        self.delays.clear();
        let measured = self.walk.profile().choices();
        let length = if measured == 0 { FIRST_GUESS } else { measured };
        for _ in 0..=self.walk.tape.below(u64::from(self.most)) {
            self.delays.push(1 + self.walk.tape.below(length));
        }
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if let Some(task) = self.walk.survey(view) {
            return Ok(task);
        }
        for step in self.walk.new_steps(view) {
            if step.kind.gives_way() && self.walk.heeded(step.task) {
                self.move_to_the_end(step.task);
            }
        }
        let choice = self.walk.contested();
        let mut delays = self.delays.iter().filter(|delay| **delay == choice).count();
        delays += usize::from(self.walk.starves_somebody(view));
        for _ in 0..delays {
            let first = self.first();
            self.move_to_the_end(first);
        }
        Ok(self.first())
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.walk.tape.below(outcomes))
    }

    fn end(&mut self, _view: &View<'_>, _ending: &Ending) {
        self.walk.end();
    }
}
