//! Uniform random walk (Zhao, Wolff, Mathur, Roychoudhury: ASPLOS 2025).
//!
//! Every choice goes to a task with a probability proportional to the steps that it, and the tasks that
//! it has yet to spawn, have left. If the counts are exact and nobody blocks, every interleaving has
//! the same probability; the plain random walk under-samples tasks that are short or spawned late.
//!
//! The counts are the most that earlier executions have shown, not those of a single one; where tasks yield, the
//! fewest, or a task that spins would look long. Weak where they vary.

use super::profile::is_silent;
use super::remaining::Remaining;
use super::tape::Draws;
use super::walk::{self, Walk};
use super::{Strategy, View};
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::TaskId;

/// The uniform random walk.
#[derive(Clone, Debug)]
pub struct Urw {
    walk: Walk,
    steps: Remaining,
}

impl Urw {
    /// The uniform random walk.
    pub fn new() -> Self {
        Urw { walk: Walk::new(), steps: Remaining::default() }
    }

    /// Begins an execution with draws that are the opposite of those of the tape of `seed`.
    pub(super) fn begin_opposite(&mut self, seed: u64) {
        self.begin(seed);
        self.walk.tape = Draws::opposite(seed);
    }
}

impl Default for Urw {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Urw {
    walk::learning!();

    fn begin(&mut self, seed: u64) {
        self.walk.begin(seed);
        let profile = self.walk.profile();
        let least = profile.steps_of_tasks().min().unwrap_or(1);
        self.steps.begin(profile, least, |counts| {
            counts.iter_mut().zip(profile.steps_of_tasks()).for_each(|(count, steps)| *count = steps);
        });
    }

    fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        self.steps.numbered(parent, ordinal);
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        self.steps.spawned(self.walk.profile(), parent, child);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if let Some(task) = self.walk.survey(view) {
            return Ok(task);
        }
        for step in self.walk.new_steps(view).iter().filter(|step| !is_silent(step.kind)) {
            self.steps.made(step.task);
        }
        let weight = |task: TaskId| self.steps.of(task).max(1);
        Ok(self.walk.weighted(weight))
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.walk.tape.below(outcomes))
    }

    fn end(&mut self, _view: &View<'_>, _ending: &Ending) {
        self.walk.end();
    }
}
