//! Auto: several strategies by turns, so that nobody has to choose.
//!
//! Execution 1 is sequential and 2 is round-robin: they catch what fails always. 3 is a random walk.
//! Then SURW, race-directed, SURW, POS, race-directed and PCT take turns; all of them learn from each
//! other's executions. A rotation and no bandit: bugs are too rare to learn from, and a rotation of m loses at
//! most a factor of m against the best of them. Which strategy an execution has follows from its number.

use std::sync::Arc;

use super::{Pct, Pos, Profile, RaceDirected, Random, RoundRobin, Sequential, Strategy, Surw, Tape, View};
use crate::finding::{Divergence, Finding};
use crate::id::TaskId;

/// Depths that PCT's share draws from: most bugs are shallow, and some are not.
const DEPTHS: &[u32] = &[2, 3, 3, 4, 6, 10];

/// Executions before the rotation begins.
const WARM_UP: u64 = 3;

/// A strategy that takes turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Sequential,
    RoundRobin,
    Random,
    Surw,
    Pos,
    RaceDirected,
    Pct,
}

const ROTATION: [Turn; 6] = [Turn::Surw, Turn::RaceDirected, Turn::Surw, Turn::Pos, Turn::RaceDirected, Turn::Pct];

impl Turn {
    fn of(number: u64) -> Turn {
        match number {
            0 => Turn::Sequential,
            1 => Turn::RoundRobin,
            2 => Turn::Random,
            _ => ROTATION[((number - WARM_UP) % ROTATION.len() as u64) as usize],
        }
    }
}

/// Several strategies by turns.
#[derive(Clone, Debug)]
pub struct Auto {
    turn: Turn,
    random: Random,
    surw: Surw,
    pos: Pos,
    race_directed: RaceDirected,
    pct: Pct,
}

impl Auto {
    /// Several strategies by turns.
    pub fn new() -> Self {
        Auto {
            turn: Turn::Sequential,
            random: Random::new(),
            surw: Surw::new(),
            pos: Pos::new(),
            race_directed: RaceDirected::new(3),
            pct: Pct::of_any(DEPTHS),
        }
    }

    /// The name of the strategy that makes the choices of execution `number`, from 0.
    pub fn turn(number: u64) -> &'static str {
        match Turn::of(number) {
            Turn::Sequential => "sequential",
            Turn::RoundRobin => "round_robin",
            Turn::Random => "random",
            Turn::Surw => "surw",
            Turn::Pos => "pos",
            Turn::RaceDirected => "race_directed",
            Turn::Pct => "pct",
        }
    }

    fn current(&self) -> &dyn Strategy {
        match self.turn {
            Turn::Sequential => &Sequential,
            Turn::RoundRobin => &RoundRobin,
            Turn::Random => &self.random,
            Turn::Surw => &self.surw,
            Turn::Pos => &self.pos,
            Turn::RaceDirected => &self.race_directed,
            Turn::Pct => &self.pct,
        }
    }

    fn active<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        match self.turn {
            Turn::Sequential => act(&mut Sequential),
            Turn::RoundRobin => act(&mut RoundRobin),
            Turn::Random => act(&mut self.random),
            Turn::Surw => act(&mut self.surw),
            Turn::Pos => act(&mut self.pos),
            Turn::RaceDirected => act(&mut self.race_directed),
            Turn::Pct => act(&mut self.pct),
        }
    }
}

impl Default for Auto {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Auto {
    fn prepare(&mut self, number: u64, profile: &Arc<Profile>) {
        self.turn = Turn::of(number);
        self.active(|turn| turn.prepare(number, profile));
    }

    fn learns(&self) -> bool {
        true
    }

    fn contested(&self) -> Option<u64> {
        self.current().contested()
    }

    fn begin(&mut self, seed: u64) {
        self.active(|turn| turn.begin(seed));
    }

    fn uniform_tape(&mut self) -> Option<Tape> {
        self.active(|turn| turn.uniform_tape())
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        self.active(|turn| turn.spawned(parent, child));
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        self.active(|turn| turn.pick(view))
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        self.active(|turn| turn.choose(outcomes, view))
    }

    fn end(&mut self, view: &View<'_>, finding: Option<&Finding>) {
        self.active(|turn| turn.end(view, finding));
    }
}
