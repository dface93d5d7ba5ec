//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: ASPLOS 2010), with
//! its iterative and its fair form.
//!
//! Tasks have random priorities, and the ready task of highest priority goes next. At d − 1 random
//! choices the task that goes is demoted. The depth of a bug is the least number of ordering
//! constraints between steps that suffice for it. **A bug of depth d is found by an execution with
//! probability at least 1/(n·k^(d−1))**, for n tasks and k choices.
//!
//! Two things are part of the proof and easily lost. The change points are *labelled*: the task at change
//! point i gets priority i, below all initial ones, and the points are not sorted, so that the order
//! among demoted tasks is random. ("Always the lowest" never finds some bugs at all; a test shows one.)
//! And k must be measured: a limit instead makes change points that never come. Here k is 1.2 times the
//! most choices seen, and when it is exceeded nevertheless, the change points are drawn anew behind it.
//! Only choices with two or more tasks in question count. They are few where a long task was demoted early,
//! and change points among a few would demote it early again, so that k would hardly grow: therefore the
//! first of every sixteen executions has no change points, and measures.
//!
//! A task that yields gets the lowest priority of all, or those that wait for it would never run.

use std::sync::Arc;

use super::walk::{Walk, at};
use super::{Profile, Strategy, View};
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::TaskId;

/// Choices assumed before an execution has been seen.
const FIRST_GUESS: u64 = 32;

/// One of so many executions has no change points, and measures how many choices there can be.
const MEASURE_EVERY: u64 = 16;

/// The label of change point 0. What has a priority below it has yielded.
const LABELS: u64 = 1 << 32;
/// Initial priorities lie above all labels.
const INITIAL: u64 = 1 << 63;

/// Probabilistic concurrency testing.
#[derive(Clone, Debug)]
pub struct Pct {
    walk: Walk,
    depths: Depths,
    /// The depth of this execution.
    depth: u32,
    /// By task; 0 is to be drawn.
    priorities: Vec<u64>,
    /// The choice at which each label is given.
    change_points: Vec<u64>,
    /// The choices that change points were drawn from end here.
    length: u64,
    yielded: u64,
    /// Choices after which it becomes a random walk.
    unfair: u64,
    fair: bool,
    /// This execution has no change points.
    measures: bool,
}

/// How each execution gets its depth.
#[derive(Clone, Debug)]
enum Depths {
    Fixed(u32),
    Rotating(u32, u32),
    Drawn(&'static [u32]),
}

impl Pct {
    /// PCT for bugs of `depth`.
    pub fn new(depth: u32) -> Self {
        Self::with(Depths::Fixed(depth))
    }

    /// idPCT: execution i has depth `shallowest` + i modulo their number. For every depth in the range the
    /// bound is that of PCT divided by the number of depths.
    pub fn iterative(shallowest: u32, deepest: u32) -> Self {
        Self::with(Depths::Rotating(shallowest, deepest.max(shallowest)))
    }

    /// PCT whose depth is drawn from `depths`, which must not be empty.
    pub(super) fn of_any(depths: &'static [u32]) -> Self {
        Self::with(Depths::Drawn(depths))
    }

    /// Fair PCT: PCT up to twice the length of the longest execution that ended by itself, then a random
    /// walk, for programs that spin without telling. The bound holds for bugs within that length.
    pub fn fair(depth: u32) -> Self {
        Pct { fair: true, ..Self::new(depth) }
    }

    /// One of so many executions only measures, and its bound does not hold for it.
    pub const fn measures_one_in() -> u64 {
        MEASURE_EVERY
    }

    fn with(depths: Depths) -> Self {
        Pct {
            walk: Walk::new(),
            depths,
            depth: 1,
            priorities: Vec::new(),
            change_points: Vec::new(),
            length: 0,
            yielded: 0,
            unfair: 0,
            fair: false,
            measures: false,
        }
    }

    /// Draws the change points among the `length` choices after choice `after`.
    fn draw_change_points(&mut self, after: u64, length: u64) {
        self.change_points.clear();
        let points = if self.measures { 0 } else { self.depth.saturating_sub(1) };
        for _ in 0..points {
            self.change_points.push(after + 1 + self.walk.tape.below(length));
        }
        self.length = after + length;
    }

    fn priority(&mut self, task: TaskId) -> u64 {
        let priority = at(&mut self.priorities, task);
        if *priority == 0 {
            *priority = self.walk.tape.bits() | INITIAL;
        }
        *priority
    }
}

impl Strategy for Pct {
    fn prepare(&mut self, number: u64, profile: &Arc<Profile>) {
        self.walk.prepare(profile);
        // Where others take turns with it, they measure.
        self.measures = number % MEASURE_EVERY == 0 && !matches!(self.depths, Depths::Drawn(_));
        match self.depths {
            Depths::Fixed(depth) => self.depth = depth,
            Depths::Rotating(from, to) => self.depth = from + (number % u64::from(to - from + 1)) as u32,
            Depths::Drawn(_) => {}
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn contested(&self) -> Option<u64> {
        Some(self.walk.contested())
    }

    fn begin(&mut self, seed: u64) {
        self.walk.begin(seed);
        self.priorities.clear();
        self.yielded = 0;
        match self.depths {
            Depths::Drawn(depths) => self.depth = depths[self.walk.tape.below(depths.len() as u64) as usize],
            Depths::Fixed(depth) => self.depth = depth,
            Depths::Rotating(..) => {}
        }
        let measured = self.walk.profile().choices();
        self.unfair = 2 * measured.max(FIRST_GUESS);
        let length = if measured == 0 { FIRST_GUESS } else { measured + measured / 5 };
        self.draw_change_points(0, length);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if let Some(task) = self.walk.survey(view) {
            return Ok(task);
        }
        for step in self.walk.new_steps(view) {
            if step.kind.gives_way() && self.walk.heeded(step.task) {
                self.yielded += 1;
                *at(&mut self.priorities, step.task) = LABELS.saturating_sub(self.yielded).max(1);
            }
        }
        if self.walk.starves_somebody(view) {
            self.priorities.fill(0);
        }
        let choice = self.walk.contested();
        if self.fair && choice > self.unfair {
            let among = self.walk.candidates().len() as u64;
            let drawn = self.walk.tape.below(among) as usize;
            return Ok(self.walk.candidates()[drawn]);
        }
        if choice > self.length {
            self.draw_change_points(choice - 1, self.length);
        }
        let mut best = (0, view.ready()[0]);
        for i in 0..self.walk.candidates().len() {
            let task = self.walk.candidates()[i];
            best = best.max((self.priority(task), task));
        }
        if let Some(label) = self.change_points.iter().position(|point| *point == choice) {
            *at(&mut self.priorities, best.1) = LABELS + label as u64;
        }
        Ok(best.1)
    }

    fn passes_over(&mut self, task: TaskId, view: &View<'_>) -> bool {
        self.walk.heed(task, view)
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.walk.tape.below(outcomes))
    }

    fn end(&mut self, _view: &View<'_>, _ending: &Ending) {
        self.walk.end();
    }
}
