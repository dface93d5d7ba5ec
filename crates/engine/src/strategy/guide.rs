//! The guide of the first executions of `auto`: no two of them are equivalent.
//!
//! Small programs have few behaviours, and what is drawn at random shows the likely ones again and again. So
//! each of these executions begins with a prefix that makes it differ from all before: one that exhaustive
//! exploration has left. Which one, the strategy decides whose turn it is: it makes the choices from the beginning,
//! and is overruled only where its choice would lead to nothing that is left. What is left lies near what was made, so
//! that is not the same as to draw until something new comes. A program that is smaller than the number of these
//! executions is exhausted by them.
//!
//! It costs about as much as the executions themselves, so it is given up where they are long or many; and
//! where tasks yield, since then exhaustive exploration has rules of its own for what an execution is.

use super::width::is_beyond;
use super::{Strategy, View};
use crate::ending::Ending;
use crate::exhaustive::{Exhaustive, Explorer, Sharing};
use crate::id::TaskId;
use crate::trace::Step;

/// Steps of an execution beyond which it is not worth it: the cost grows faster than the length.
pub(crate) const LONGEST_GUIDED: usize = 100;
/// Outcomes of a choice beyond which it is not worth it: each would be a prefix that is left.
const MOST_OUTCOMES: u64 = 100;
/// Prefixes that are left after the first execution beyond which it is not worth it: executions hardly repeat
/// themselves then, and are better drawn afresh than near those before. After later executions there may be more.
const WIDEST: u64 = 5;
/// So many more for each execution.
const WIDER: u64 = 1;

/// Guides executions. A clone is for another worker of the same exploration.
pub struct Guide {
    explorer: Explorer,
    /// Executions that are guided, from the first on.
    executions: u64,
    number: u64,
    /// What the execution begins with; none after its end.
    leaf: Option<Exhaustive>,
    /// The execution that was guided last, counted from 1.
    guided: u64,
}

/// What the guides of all workers know.
#[derive(Default)]
pub(crate) struct Guided {
    fate: Fate,
    /// The seed of the first execution.
    first: u64,
}

/// What becomes of a guide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fate {
    /// It can go on.
    #[default]
    Alive,
    /// There are too many ways to go on. What is left to explore is known.
    Wide,
    /// Executions are too long, tasks yield, something was found, or the first execution shows at sight that there are
    /// too many ways to go on. Nothing is known.
    Unfit,
}

impl Clone for Guide {
    fn clone(&self) -> Self {
        Guide { explorer: self.explorer.clone(), executions: self.executions, number: 0, leaf: None, guided: 0 }
    }
}

impl Guide {
    /// Guides the first `executions`.
    pub fn new(sharing: Sharing, executions: u64) -> Self {
        Guide { explorer: Explorer::new(sharing, u64::MAX), executions, number: 0, leaf: None, guided: 0 }
    }

    /// Guides the first executions of another exploration, in the same memory if nobody else has it.
    pub fn renew(&mut self) {
        (self.number, self.leaf, self.guided) = (0, None, 0);
        self.explorer.renew(u64::MAX);
    }

    /// What has become of it.
    pub fn fate(&self) -> Fate {
        self.explorer.guided(|guided| guided.fate)
    }

    /// What is left to explore.
    pub fn explorer(&self) -> &Explorer {
        &self.explorer
    }

    fn give_up(&self, fate: Fate) {
        self.explorer.guided(|guided| guided.fate = fate);
    }

    pub(super) fn prepare(&mut self, number: u64) {
        self.number = number;
    }

    /// Claims a prefix for the execution that begins. An execution that is made once more, to compare, has
    /// none: what follows from it is known.
    pub(super) fn begin(&mut self, seed: u64) {
        let is_new = self.number >= self.guided && self.number < self.executions;
        if is_new && self.fate() == Fate::Alive {
            self.guided = self.number + 1;
            self.leaf = self.explorer.claim_on_the_way(seed);
        }
        if let Some(leaf) = &mut self.leaf {
            leaf.begin(seed);
        }
    }

    /// Whether the execution begins with a prefix of its own.
    pub(super) fn guides(&self) -> bool {
        self.leaf.is_some()
    }

    /// The seed whose draws the execution that begins with `seed` is to turn over: the second is the opposite of the
    /// first. Each is as likely as any other (antithetic variates: Hammersley, Morton, 1956); but where one was not
    /// what led to the bug, the other is likely to be. The first is over when the second begins, whoever makes them.
    pub(super) fn opposite(&self, seed: u64) -> Option<u64> {
        if self.number == 0 {
            self.explorer.guided(|guided| guided.first = seed);
        }
        (self.number == 1).then(|| self.explorer.guided(|guided| guided.first))
    }

    pub(super) fn spawned(&mut self, parent: TaskId, child: TaskId) {
        if let Some(leaf) = &mut self.leaf {
            leaf.spawned(parent, child);
        }
    }

    pub(super) fn numbered(&mut self, parent: TaskId, ordinal: u32) {
        if let Some(leaf) = &mut self.leaf {
            leaf.numbered(parent, ordinal);
        }
    }

    /// The prefix, if it says what step number `position` is.
    pub(super) fn at(&mut self, position: usize) -> Option<&mut Exhaustive> {
        self.leaf.as_mut().filter(|leaf| leaf.plans(position))
    }

    /// The same for the outcome of that step.
    pub(super) fn chooses(&mut self, position: usize) -> Option<&mut Exhaustive> {
        self.leaf.as_mut().filter(|leaf| leaf.is_on_the_way() || leaf.plans(position))
    }

    /// The prefix, if it has yet to be found out what it is.
    pub(super) fn on_the_way(&mut self) -> Option<&mut Exhaustive> {
        self.leaf.as_mut().filter(|leaf| leaf.is_on_the_way())
    }

    pub(super) fn end(&mut self, view: &View<'_>, ending: &Ending) {
        if matches!(ending, Ending::Abandoned(_)) {
            return; // it is made again
        }
        let Some(mut leaf) = self.leaf.take() else { return };
        // With a finding the exploration is over.
        let unfit = |step: &Step| step.kind.gives_way() || step.outcomes() > MOST_OUTCOMES;
        let is_fit = view.steps().len() <= LONGEST_GUIDED && !view.engine.has_unmovable_choice();
        if !ending.is_done() || !is_fit || view.steps().iter().any(unfit) {
            leaf.abandon();
            return self.give_up(Fate::Unfit);
        }
        if self.number == 0 && is_beyond(view, WIDEST) {
            leaf.abandon();
            return self.give_up(Fate::Unfit);
        }
        leaf.end(view, ending);
        if self.explorer.progress().pending > WIDEST + WIDER * self.number {
            self.give_up(Fate::Wide);
        }
    }
}
