//! The guide of the first executions of `auto`: no two of them are equivalent.
//!
//! Small programs have few behaviours, and what is drawn at random shows the likely ones again and again. So
//! each of these executions begins with a prefix that makes it differ from all before: one that exhaustive
//! exploration has left, drawn at random. After the prefix the strategy whose turn it is makes the choices.
//! A program that is smaller than the number of these executions is exhausted by them.
//!
//! It costs about as much as the executions themselves, so it is given up where they are long or many; and
//! where tasks yield, since then exhaustive exploration has rules of its own for what an execution is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{Strategy, View};
use crate::exhaustive::{Exhaustive, Explorer};
use crate::finding::{Finding, FindingKind};
use crate::id::TaskId;
use crate::operation::OpKind;
use crate::trace::Step;

/// Steps of an execution beyond which it is not worth it: the cost grows faster than the length.
const LONGEST: usize = 400;
/// The same for the number of prefixes that are left to choose from: executions hardly repeat themselves then.
const WIDEST: u64 = 64;

/// Guides executions. A clone is for another worker of the same exploration.
pub struct Guide {
    explorer: Explorer,
    /// Executions that are guided, from the first on.
    executions: u64,
    fate: Arc<AtomicU8>,
    number: u64,
    /// What the execution begins with; none after its end.
    leaf: Option<Exhaustive>,
    /// The execution that was guided last, counted from 1.
    guided: u64,
}

/// What becomes of a guide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It can go on.
    Alive,
    /// There are too many ways to go on. What is left to explore is known.
    Wide,
    /// Executions are too long, tasks yield, or something was found. Nothing is known.
    Unfit,
}

impl Clone for Guide {
    fn clone(&self) -> Self {
        Guide {
            explorer: self.explorer.clone(),
            executions: self.executions,
            fate: Arc::clone(&self.fate),
            number: 0,
            leaf: None,
            guided: 0,
        }
    }
}

impl Guide {
    /// Guides the first `executions`.
    pub fn new(executions: u64) -> Self {
        let fate = Arc::new(AtomicU8::new(Fate::Alive as u8));
        Guide { explorer: Explorer::default(), executions, fate, number: 0, leaf: None, guided: 0 }
    }

    /// What has become of it.
    pub fn fate(&self) -> Fate {
        let fate = self.fate.load(Ordering::Relaxed);
        [Fate::Alive, Fate::Wide].into_iter().find(|known| *known as u8 == fate).unwrap_or(Fate::Unfit)
    }

    /// What is left to explore.
    pub fn explorer(&self) -> &Explorer {
        &self.explorer
    }

    fn give_up(&self, fate: Fate) {
        self.fate.store(fate as u8, Ordering::Relaxed);
    }

    pub(super) fn prepare(&mut self, number: u64) {
        self.number = number;
    }

    /// Claims the prefix of the execution that begins. An execution that is made once more, to compare, has
    /// none: what follows from it is known.
    pub(super) fn begin(&mut self, seed: u64) {
        let is_new = self.number >= self.guided && self.number < self.executions;
        if is_new && self.fate() == Fate::Alive {
            self.guided = self.number + 1;
            self.leaf = self.explorer.claim_anywhere(seed);
        }
        if let Some(leaf) = &mut self.leaf {
            leaf.begin(seed);
        }
    }

    pub(super) fn spawned(&mut self, parent: TaskId, child: TaskId) {
        if let Some(leaf) = &mut self.leaf {
            leaf.spawned(parent, child);
        }
    }

    /// The prefix, if it says what step number `position` is.
    pub(super) fn at(&mut self, position: usize) -> Option<&mut Exhaustive> {
        self.leaf.as_mut().filter(|leaf| leaf.plans(position))
    }

    pub(super) fn end(&mut self, view: &View<'_>, finding: Option<&Finding>) {
        if finding.is_some_and(|finding| finding.kind == FindingKind::Interference) {
            return; // it is run again
        }
        let Some(mut leaf) = self.leaf.take() else { return };
        // With a finding the exploration is over.
        let yields = |step: &Step| step.kind == OpKind::Yield;
        if finding.is_some() || view.steps().len() > LONGEST || view.steps().iter().any(yields) {
            return self.give_up(Fate::Unfit);
        }
        leaf.end(view, finding);
        if self.explorer.progress().pending > WIDEST {
            self.give_up(Fate::Wide);
        }
    }
}
