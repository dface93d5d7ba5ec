//! The last pass: random schedules with fewer preemptions than the best.
//!
//! Edits can end in a local minimum: every single one of them spoils the failure, although a quite different
//! schedule with fewer preemptions shows it too. A schedule with few preemptions is little more than the
//! places where they are and an order of tasks, so there are not many of them, and drawing some is cheap.

use super::{Replayed, Shrinker};
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::strategy::{Lenient, Preemptions, Strategy, Tape, View, last_runner, sequential_fill};

/// So many in a row that show nothing new, and there is nothing left to be seen.
const NOTHING_NEW: u64 = 25;

impl Shrinker<'_, '_> {
    /// Pass 7, and the others again whenever it has helped.
    pub(super) fn finish(&mut self, seed: u64) {
        let (mut known, mut drawn) = (0, 0);
        while drawn < self.budget.random && known < NOTHING_NEW && self.cost.preemptions > 0 {
            if self.is_spent() {
                return;
            }
            let tape = Tape::new(Tape::seed_of(seed, drawn));
            drawn += 1;
            match self.replay(Box::new(self.wanderer(tape))) {
                Replayed::Known => known += 1,
                Replayed::New => known = 0,
                Replayed::Better => {
                    known = 0;
                    self.edit();
                }
            }
        }
    }

    fn wanderer(&self, mut tape: Tape) -> Wanderer {
        let fewer = self.cost.preemptions - 1;
        let count = if fewer == 0 { 0 } else { 1 + tape.below(fewer) };
        let mut points: Vec<u64> = (0..count).map(|_| tape.below(self.cost.steps)).collect();
        points.sort_unstable_by_key(|point| std::cmp::Reverse(*point));
        let (preemptions, outcomes) = (self.preemptions.clone(), self.best.clone());
        Wanderer { tape, points, preemptions, outcomes: Lenient::new(outcomes, Preemptions::default()) }
    }
}

/// Preempts at the first choice after each of its points, and draws who goes on when the last cannot.
struct Wanderer {
    tape: Tape,
    /// Steps, the last one first.
    points: Vec<u64>,
    preemptions: Preemptions,
    /// Choices of data come to what they came to in the best schedule.
    outcomes: Lenient,
}

impl Strategy for Wanderer {
    fn begin(&mut self, seed: u64) {
        self.outcomes.begin(seed);
        self.preemptions.clear();
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        let last = last_runner(view);
        let stays = view.is_ready(last);
        let due = self.points.last().is_some_and(|point| *point <= view.steps().len() as u64);
        let others = view.ready().iter().copied().filter(|task| *task != TaskId::CLOCK && *task != last);
        let count = others.clone().count() as u64;
        if stays && (!due || count == 0) {
            return Ok(last);
        }
        if stays {
            self.points.pop();
        }
        let drawn = if count == 0 { None } else { others.clone().nth(self.tape.below(count) as usize) };
        let task = drawn.unwrap_or_else(|| sequential_fill(view));
        self.preemptions.note(task, view);
        Ok(task)
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        self.outcomes.choose(outcomes, view)
    }
}
