//! Auto: several strategies by turns, so that nobody has to choose.
//!
//! The first executions are URW's: as long as nothing is known, that is a random walk, and likely bugs are best found
//! by what draws all interleavings alike. Then SURW and race-directed alternate, and then all of them, with POS and
//! PCT, take turns; they learn from each other's executions. A rotation and no bandit: bugs are too rare to learn from,
//! and a rotation of m loses at most a factor of m against the best of them. Which strategy an execution has follows
//! from its number and from what is known by then.
//!
//! The first executions have a [`Guide`]: each goes a way that no earlier one is equivalent to, and the second draws the
//! opposite of what the first has drawn.

use std::sync::Arc;

use super::{Guide, Pct, Pos, Profile, RaceDirected, Strategy, Surw, Urw, View};
use crate::ending::Ending;
use crate::finding::Divergence;
use crate::id::TaskId;

/// Depths that PCT's share draws from: most bugs are shallow, and some are not.
const DEPTHS: &[u32] = &[2, 3, 3, 4, 6, 10];

/// With more tasks than this, or tasks that yield, the counts that URW follows mean nothing.
const FEW_TASKS: u64 = 16;

/// A strategy that takes turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Urw,
    Surw,
    Pos,
    RaceDirected,
    Pct,
}

/// Whose turn it is in the first executions.
const FIRST: [Turn; 9] = [
    Turn::Urw,
    Turn::Urw,
    Turn::Urw,
    Turn::Surw,
    Turn::RaceDirected,
    Turn::Surw,
    Turn::RaceDirected,
    Turn::Surw,
    Turn::RaceDirected,
];

/// And from then on.
const ROTATION: [Turn; 7] =
    [Turn::Urw, Turn::Surw, Turn::RaceDirected, Turn::Pos, Turn::Surw, Turn::RaceDirected, Turn::Pct];

impl Turn {
    fn of(number: u64) -> Turn {
        let first = FIRST.len() as u64;
        match number.checked_sub(first) {
            None => FIRST[number as usize],
            Some(later) => ROTATION[(later % ROTATION.len() as u64) as usize],
        }
    }
}

/// Several strategies by turns.
pub struct Auto {
    turn: Turn,
    guide: Option<Guide>,
    urw: Urw,
    surw: Surw,
    pos: Pos,
    race_directed: RaceDirected,
    pct: Pct,
}

impl Auto {
    /// Several strategies by turns, in executions that do not know of each other.
    pub fn new() -> Self {
        Auto {
            turn: Turn::Urw,
            guide: None,
            urw: Urw::new(),
            surw: Surw::new(),
            pos: Pos::new(),
            race_directed: RaceDirected::new(3),
            pct: Pct::of_any(DEPTHS),
        }
    }

    /// The same, the first executions of which are no two equivalent.
    pub fn guided(guide: Guide) -> Self {
        Auto { guide: Some(guide), ..Self::new() }
    }

    /// Takes turns in another exploration, in the same memory, with this guide or none.
    pub fn renew(&mut self, guide: Option<Guide>) {
        self.turn = Turn::Urw;
        self.guide = guide;
    }

    /// Whether the choices of execution `number`, from 0, are POS's, unless a guide has made some of them.
    pub fn is_turn_of_pos(number: u64) -> bool {
        Turn::of(number) == Turn::Pos
    }

    fn current(&self) -> &dyn Strategy {
        match self.turn {
            Turn::Urw => &self.urw,
            Turn::Surw => &self.surw,
            Turn::Pos => &self.pos,
            Turn::RaceDirected => &self.race_directed,
            Turn::Pct => &self.pct,
        }
    }

    fn active<R>(&mut self, act: impl FnOnce(&mut dyn Strategy) -> R) -> R {
        match self.turn {
            Turn::Urw => act(&mut self.urw),
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
        if self.turn == Turn::Urw && (profile.yields() || profile.tasks() > FEW_TASKS) {
            self.turn = Turn::RaceDirected;
        }
        if let Some(guide) = &mut self.guide {
            guide.prepare(number);
        }
        self.active(|turn| turn.prepare(number, profile));
    }

    fn learns(&self) -> bool {
        true
    }

    fn contested(&self) -> Option<u64> {
        self.current().contested()
    }

    fn begin(&mut self, seed: u64) {
        if let Some(guide) = &mut self.guide {
            guide.begin(seed);
        }
        match self.guide.as_ref().and_then(|guide| guide.opposite(seed)) {
            Some(first) if self.turn == Turn::Urw => self.urw.begin_opposite(first),
            _ => self.active(|turn| turn.begin(seed)),
        }
    }

    fn is_exhaustive(&self) -> bool {
        self.guide.as_ref().is_some_and(Guide::guides)
    }

    fn spawned(&mut self, parent: TaskId, child: TaskId) {
        if let Some(guide) = &mut self.guide {
            guide.spawned(parent, child);
        }
        self.active(|turn| turn.spawned(parent, child));
    }

    fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        if let Some(guide) = &mut self.guide {
            guide.numbered(parent, ordinal);
        }
        self.active(|turn| turn.numbered(parent, ordinal));
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        if let Some(leaf) = self.guide.as_mut().and_then(|guide| guide.at(view.steps().len())) {
            return leaf.pick(view);
        }
        let proposed = self.active(|turn| turn.pick(view))?;
        match self.guide.as_mut().and_then(Guide::on_the_way) {
            Some(leaf) => leaf.descend(view, Some(proposed)),
            None => Ok(proposed),
        }
    }

    fn passes_over(&mut self, task: TaskId, view: &View<'_>) -> bool {
        self.active(|turn| turn.passes_over(task, view))
    }

    fn choose(&mut self, outcomes: u64, view: &View<'_>) -> Result<u64, Box<Divergence>> {
        // The step itself has been recorded already.
        match self.guide.as_mut().and_then(|guide| guide.chooses(view.steps().len() - 1)) {
            Some(leaf) => leaf.choose(outcomes, view),
            None => self.active(|turn| turn.choose(outcomes, view)),
        }
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) {
        self.active(|turn| turn.end(view, ending));
        if let Some(guide) = &mut self.guide {
            guide.end(view, ending);
        }
    }
}
