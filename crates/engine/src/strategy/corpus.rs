//! Corpus: partial order sampling that changes what has shown something new.
//!
//! After Fest (Li, Desai, Padhye: NSDI 2026) and the feedback of reads-from fuzzing (Wolff, Shi, Duck, Mathur,
//! Roychoudhury: ASPLOS 2024). An execution is kept, as the [`Recipe`] of its draws, if places of the program
//! met in it as never before; then others are made of it, with one to five draws changed. A quarter of all
//! executions is fresh. So rare events that come one after the other need not all happen by one draw of luck.
//!
//! It pays where executions are long and what they have in common matters; on small programs plain sampling
//! is better, so nobody gets it without asking. No bound: executions depend on each other.

use std::sync::Arc;

use super::{Drawn, Pos, Profile, Recipe, Strategy, Tape, View};
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::TaskId;

/// One of so many executions is fresh.
const FRESH_ONE_IN: u64 = 4;
/// Of the kept ones the last so many are changed as often as all others.
const RECENT: usize = 8;

/// Partial order sampling with a memory.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    pos: Pos,
    number: u64,
    recipe: Recipe,
    parent: Option<u32>,
}

impl Corpus {
    /// Partial order sampling with a memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the execution is drawn by: something stored, something fresh, or a change of what was kept.
    fn draw(&mut self, seed: u64) {
        self.parent = None;
        let profile = self.pos.walk.shared_profile();
        let Some(kept) = profile.as_ref().and_then(|profile| profile.kept()) else {
            self.recipe = Recipe::fresh(seed);
            return;
        };
        if let Some(stored) = kept.stored(self.number) {
            self.recipe = stored.clone();
            return;
        }
        let mut tape = Tape::new(seed ^ kept.salt());
        let fresh = tape.below(FRESH_ONE_IN) == 0;
        let parents = kept.parents();
        if fresh || parents.is_empty() {
            self.recipe = Recipe::fresh(tape.bits());
            return;
        }
        let recent = &parents[parents.len().saturating_sub(RECENT)..];
        let among = if tape.below(2) == 0 { recent } else { &parents[..] };
        let parent = among[tape.below(among.len() as u64) as usize];
        self.recipe = kept.changed(parent, &mut tape);
        self.parent = Some(parent);
    }
}

impl Strategy for Corpus {
    fn prepare(&mut self, number: u64, profile: &Arc<Profile>) {
        self.number = number;
        self.pos.prepare(number, profile);
    }

    fn learns(&self) -> bool {
        true
    }

    fn contested(&self) -> Option<u64> {
        self.pos.contested()
    }

    fn drawn(&self) -> Option<Drawn> {
        let draws = u32::try_from(self.pos.walk.tape.made()).unwrap_or(u32::MAX);
        Some(Drawn { recipe: self.recipe.clone(), parent: self.parent, draws })
    }

    fn begin(&mut self, seed: u64) {
        self.draw(seed);
        self.pos.begin(seed);
        self.pos.walk.tape.follow(&self.recipe);
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        self.pos.spawned(parent, child);
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        self.pos.pick(view)
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
