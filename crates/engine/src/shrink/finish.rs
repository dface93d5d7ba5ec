//! The last pass: random schedules with fewer preemptions than the best, then some without its faults.
//!
//! Edits can end in a local minimum: every single one of them spoils the failure, although a quite different
//! schedule with fewer preemptions shows it too. A schedule with few preemptions is little more than the
//! places where they are and an order of tasks, so there are not many of them, and drawing some is cheap.

use super::{Cost, Replayed, Shrinker};
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::sorted;
use crate::strategy::{Lenient, Preemptions, Strategy, Tape, View, last_runner, sequential_fill};

/// So many in a row that show nothing new, and there is nothing left to be seen.
const NOTHING_NEW: u64 = 25;

impl Shrinker<'_, '_> {
    /// Passes 7 to 9, and the others again whenever one of them has helped.
    pub(super) fn finish(&mut self, seed: u64) {
        self.draw(seed, Aim::FewerPreemptions);
        self.without_faults();
        self.draw(seed, Aim::NoFaults);
    }

    fn draw(&mut self, seed: u64, aim: Aim) {
        let (mut known, mut drawn) = (0, 0);
        while drawn < self.budget.random && known < NOTHING_NEW && aim.is_left(&self.cost) {
            if self.is_spent() {
                return;
            }
            let tape = Tape::new(Tape::seed_of(seed, drawn));
            drawn += 1;
            let wanderer = self.wanderer(tape, aim);
            let replayed = match aim {
                Aim::FewerPreemptions => self.replay(Box::new(wanderer)),
                Aim::NoFaults => self.replay_or_detour(Box::new(wanderer)),
            };
            match replayed {
                Replayed::Known => known += 1,
                Replayed::New => known = 0,
                Replayed::Better => {
                    known = 0;
                    self.edit();
                }
            }
        }
    }

    fn wanderer(&self, mut tape: Tape, aim: Aim) -> Wanderer {
        let count = match aim {
            Aim::FewerPreemptions if self.cost.preemptions == 1 => 0,
            Aim::FewerPreemptions => 1 + tape.below(self.cost.preemptions - 1),
            Aim::NoFaults => tape.below(self.cost.preemptions + 1),
        };
        let mut points: Vec<u64> = (0..count).map(|_| tape.below(self.cost.steps)).collect();
        sorted::sort_by(&mut points, |a, b| b.cmp(a));
        let preemptions = self.preemptions.clone();
        let outcomes = match aim {
            Aim::FewerPreemptions => self.best.clone(),
            Aim::NoFaults => self.faultless(),
        };
        Wanderer { tape, points, preemptions, outcomes: Lenient::new(outcomes, Preemptions::default()) }
    }
}

/// What a random schedule is to have less of than the best.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aim {
    FewerPreemptions,
    /// And no more preemptions.
    NoFaults,
}

impl Aim {
    fn is_left(self, cost: &Cost) -> bool {
        match self {
            Aim::FewerPreemptions => cost.preemptions > 0,
            Aim::NoFaults => cost.faults > 0,
        }
    }
}

/// Preempts at the first choice after each of its points, and draws who goes on when the last cannot.
struct Wanderer {
    tape: Tape,
    /// Steps, the last one first.
    points: Vec<u64>,
    preemptions: Preemptions,
    /// Choices of data come to what this script says.
    outcomes: Lenient,
}

impl Strategy for Wanderer {
    fn is_exhaustive(&self) -> bool {
        self.outcomes.is_exhaustive()
    }

    fn begin(&mut self, seed: u64) {
        self.outcomes.begin(seed);
        self.preemptions.clear();
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        let last = last_runner(view);
        let stays = view.is_ready(last);
        let due = self.points.last().is_some_and(|point| *point <= view.steps().len() as u64);
        let others = view.ready().iter().copied().filter(|task| *task != last && !view.is_environment(*task));
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
