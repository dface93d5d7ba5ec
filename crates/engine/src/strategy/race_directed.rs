//! Race-directed sampling: partial order sampling that lets chosen pairs of places race.
//!
//! Our own, from what remains of reads-from fuzzing (Wolff, Shi, Duck, Mathur, Roychoudhury: ASPLOS 2024)
//! without its feedback; ancestors are RaceFuzzer and CalFuzzer (Sen 2008). Earlier executions show
//! which places of the program meet at one resource. Each execution draws a few of these pairs as
//! constraints "some X before the next Y": a task that is about to do Y stays behind all others until
//! somebody has done X. Places, not tasks: a hundred identical tasks are one case.
//!
//! No bound. Where nothing is known yet, and for executions that draw no constraint, it is [`Pos`].

use std::sync::Arc;

use super::profile::Access;
use super::{Pos, Profile, Strategy, View};
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::TaskId;
use crate::operation::Operation;
use crate::trace::Step;

/// Steps after which a constraint that nobody has met is dropped.
const GIVE_UP_AFTER: usize = 256;

/// Race-directed sampling.
#[derive(Clone, Debug)]
pub struct RaceDirected {
    pos: Pos,
    most: u32,
    /// "The first before the next of the second."
    open: Vec<(Access, Access)>,
    /// Steps whose effect on constraints is known, and the number of them at the last effect.
    seen: usize,
    last_effect: usize,
}

impl RaceDirected {
    /// Race-directed sampling with at most `most` constraints in each execution.
    pub fn new(most: u32) -> Self {
        RaceDirected { pos: Pos::new(), most, open: Vec::new(), seen: 0, last_effect: 0 }
    }

    fn draw_constraints(&mut self) {
        self.open.clear();
        let (tape, profile) = self.pos.walk.tape_and_profile();
        let pairs = profile.pairs() as u64;
        if pairs == 0 {
            return;
        }
        for _ in 0..tape.below(u64::from(self.most) + 1) {
            // One draw for the pair and its order.
            let drawn = tape.below(2 * pairs);
            let pair = profile.pair((drawn / 2) as usize);
            self.open.extend(pair.map(|(x, y)| if drawn % 2 == 0 { (x, y) } else { (y, x) }));
        }
    }

    /// Closes the constraints that the steps since the last choice have met or broken.
    fn close(&mut self, view: &View<'_>) {
        for (i, step) in view.steps().iter().enumerate().skip(self.seen) {
            let open = self.open.len();
            self.open.retain(|(x, y)| !did(step, x) && !did(step, y));
            if self.open.len() < open {
                self.last_effect = i;
            }
        }
        self.seen = view.steps().len();
        if self.seen - self.last_effect > GIVE_UP_AFTER {
            self.open.clear();
        }
    }
}

fn did(step: &Step, access: &Access) -> bool {
    step.kind == access.kind && step.site == access.site
}

fn does(operation: &Operation, access: &Access) -> bool {
    operation.kind == access.kind && operation.site == access.site
}

impl Strategy for RaceDirected {
    fn prepare(&mut self, number: u64, profile: &Arc<Profile>) {
        self.pos.prepare(number, profile);
    }

    fn learns(&self) -> bool {
        true
    }

    fn contested(&self) -> Option<u64> {
        self.pos.contested()
    }

    fn begin(&mut self, seed: u64) {
        self.pos.begin(seed);
        self.seen = 0;
        self.last_effect = 0;
        self.draw_constraints();
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if self.open.is_empty() {
            return self.pos.pick(view);
        }
        if let Some(task) = self.pos.walk.survey(view) {
            return Ok(task);
        }
        self.pos.catch_up(view);
        self.close(view);
        let mut best = (false, 0, view.ready()[0]);
        for i in 0..self.pos.walk.candidates().len() {
            let task = self.pos.walk.candidates()[i];
            let pending = view.pending(task);
            let free = self.open.iter().all(|(_, y)| !does(pending, y));
            best = best.max((free, self.pos.priority(task), task));
        }
        Ok(best.2)
    }

    fn passes_over(&mut self, task: TaskId, view: &View<'_>) -> bool {
        self.pos.passes_over(task, view)
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        self.pos.choose(outcomes, view)
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) {
        self.pos.end(view, ending);
    }
}
