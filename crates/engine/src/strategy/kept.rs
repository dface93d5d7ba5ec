//! What a corpus keeps: recipes of executions that have shown something new.
//!
//! New is a pair of places of which one came right after the other at some resource, in another task; or a
//! place that reads what another has written. Which executions are kept depends on the order in which they are
//! looked at, so that is the order of their numbers.

use super::lookup::Lookup;
use super::profile::{is_access, is_read};
use super::{Recipe, Tape};
use crate::engine::Engine;
use crate::id::{Site, TaskId};
use crate::operation::OpKind;
use crate::resource::Traits;

/// Recipes that are kept in one exploration, at most.
const MOST: usize = 1_024;
/// Changes of a recipe without anything new, after which others are changed instead.
const PATIENCE: u32 = 64;

/// How the last execution was drawn, as a strategy tells it.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its recipe.
    pub recipe: Recipe,
    /// The number of the kept recipe that it is a change of.
    pub parent: Option<u32>,
    /// Draws that it made.
    pub draws: u32,
}

/// Recipes, and what their executions have shown.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// What earlier explorations have kept; each is made once more before anything else.
    stored: Vec<Recipe>,
    /// Differs with what is stored, so that new executions do.
    salt: u64,
    shown: Lookup<Pair>,
    entries: Vec<Entry>,
    /// Changes of kept recipes since the last profile, and whether they have shown anything new.
    tried: Vec<(u32, bool)>,
}

/// A kept recipe.
#[derive(Clone, Debug)]
struct Entry {
    recipe: Recipe,
    draws: u32,
    /// The draws, about, after which it showed nothing new any more.
    fruitful: u32,
    /// What it was the first to show.
    shows: Vec<Pair>,
    /// Changes of it since one has shown something new.
    in_vain: u32,
}

/// Two operations of the program, and what they have to do with each other.
type Pair = (bool, Place, Place);
type Place = (u8, usize);

fn place(kind: OpKind, site: Site) -> Place {
    (kind as u8, site.0)
}

impl Kept {
    /// To begin with what earlier explorations have kept.
    pub fn from_stored(stored: Vec<Recipe>) -> Self {
        let bytes = stored.iter().flat_map(|recipe| recipe.to_string().into_bytes());
        let mix = |salt: u64, byte: u8| (salt ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        let salt = if stored.is_empty() { 0 } else { bytes.fold(0xCBF2_9CE4_8422_2325, mix) };
        Kept { stored, salt, ..Kept::default() }
    }

    /// What is to be stored after so many executions, the oldest first: what was stored before and not looked at
    /// yet, then what was kept.
    pub fn to_store(&self, executions: u64) -> impl Iterator<Item = &Recipe> {
        let seen = usize::try_from(executions).unwrap_or(usize::MAX);
        self.stored.iter().skip(seen).chain(self.entries.iter().map(|entry| &entry.recipe))
    }

    pub(super) fn stored(&self, number: u64) -> Option<&Recipe> {
        self.stored.get(usize::try_from(number).ok()?)
    }

    pub(super) fn salt(&self) -> u64 {
        self.salt
    }

    /// Recipes that are worth a change, by their numbers: those whose changes still show something new, or all.
    pub(super) fn parents(&self) -> Vec<u32> {
        let numbered = || (0..).zip(&self.entries).filter(|(_, entry)| entry.recipe.can_change());
        let patient: Vec<u32> = numbered().filter(|(_, e)| e.in_vain < PATIENCE).map(|(number, _)| number).collect();
        if patient.is_empty() { numbered().map(|(number, _)| number).collect() } else { patient }
    }

    /// A change of the recipe of that number. Every other one leaves alone what led to something new.
    pub(super) fn changed(&self, number: u32, tape: &mut Tape) -> Recipe {
        let entry = &self.entries[number as usize];
        let first = if tape.below(2) == 0 { entry.fruitful } else { 0 };
        entry.recipe.changed(first..entry.draws, tape)
    }

    /// Keeps the execution that `engine` has made, if it has shown something new.
    pub(super) fn learn(&mut self, engine: &Engine, drawn: &Drawn) {
        let mut shows = Vec::new();
        let mut last: Vec<Option<(Place, TaskId)>> = vec![None; engine.resources().len()];
        let mut written: Vec<Option<Place>> = vec![None; engine.resources().len()];
        let mut fruitful = 0;
        for (i, step) in engine.steps().iter().enumerate().filter(|(_, step)| is_access(step.kind)) {
            let known = shows.len();
            let at = step.resource.index();
            if at >= last.len() {
                continue;
            }
            let here = place(step.kind, step.site);
            if let Some((before, _)) = last[at].filter(|(_, task)| *task != step.task) {
                shows.extend(self.shown.is_new((false, before, here)).then_some((false, before, here)));
            }
            if let Some(from) = written[at].filter(|_| reads(step.kind)) {
                shows.extend(self.shown.is_new((true, from, here)).then_some((true, from, here)));
            }
            last[at] = Some((here, step.task));
            if !is_read(step.kind) {
                written[at] = Some(here);
            }
            if shows.len() > known {
                fruitful = i as u64 + 1;
            }
        }
        // Steps and draws do not go hand in hand, but nearly.
        let fruitful = (fruitful * u64::from(drawn.draws) / engine.steps().len().max(1) as u64) as u32;
        self.add(drawn, shows, fruitful);
    }

    fn add(&mut self, drawn: &Drawn, shows: Vec<Pair>, fruitful: u32) {
        if let Some(parent) = drawn.parent {
            self.tried.push((parent, !shows.is_empty()));
            self.settle(parent, !shows.is_empty());
        }
        if !shows.is_empty() && self.entries.len() < MOST {
            let recipe = drawn.recipe.clone();
            self.entries.push(Entry { recipe, draws: drawn.draws, fruitful, shows, in_vain: 0 });
        }
    }

    fn settle(&mut self, parent: u32, new: bool) {
        if let Some(entry) = self.entries.get_mut(parent as usize) {
            entry.in_vain = if new { 0 } else { entry.in_vain.saturating_add(1) };
        }
    }

    /// Adds what a part of the same round has kept, which did not know of this.
    pub(super) fn merge(&mut self, other: &Kept) {
        other.tried.iter().for_each(|(parent, new)| self.settle(*parent, *new));
        for entry in &other.entries {
            let shows: Vec<Pair> = entry.shows.iter().copied().filter(|pair| self.shown.is_new(*pair)).collect();
            if !shows.is_empty() && self.entries.len() < MOST {
                self.entries.push(Entry { shows, ..entry.clone() });
            }
        }
    }
}

/// Whether an operation sees what was written.
fn reads(kind: OpKind) -> bool {
    kind.is(Traits::SEES)
}
