//! The edits that are tried, pass by pass, until none of them helps.
//!
//! A schedule may have a hundred thousand stretches, and to put an edited one together looks at all of them. So each pass ends as
//! soon as the budget is spent.

use super::Shrinker;
use crate::sorted;
use crate::strategy::{Outcomes, Script, Stretch};

impl Shrinker<'_, '_> {
    /// All passes, again and again, to a fixed point.
    pub(super) fn edit(&mut self) {
        loop {
            let before = self.cost;
            self.truncate();
            self.delete();
            self.merge();
            self.extend();
            self.lower();
            self.drop_tasks();
            if self.cost == before || self.is_spent() {
                return;
            }
        }
    }

    /// Pass 1: nothing at all, else the shortest prefix that will do, by bisection.
    fn truncate(&mut self) {
        let base = self.best.clone();
        let (mut too_short, mut enough) = (0, base.stretches.len());
        if self.attempt(base.empty()) {
            return;
        }
        while enough - too_short > 1 && !self.cut {
            let length = too_short + (enough - too_short) / 2;
            if self.attempt(base.with(base.stretches[..length].iter().copied())) {
                enough = length;
            } else {
                too_short = length;
            }
        }
    }

    /// Pass 2: without some stretches in a row, fewer and fewer of them (ddmin).
    fn delete(&mut self) {
        let mut size = self.best.stretches.len() / 2;
        while size > 0 && !self.cut {
            let mut at = 0;
            while at < self.best.stretches.len() && !self.cut {
                let kept = |(i, _): &(usize, Stretch)| *i < at || *i >= at + size;
                let shorter = self.edited(|stretches| stretches.filter(kept).map(|(_, s)| s).collect());
                if !self.attempt(shorter) {
                    at += size;
                }
            }
            size = (size / 2).min(self.best.stretches.len());
        }
    }

    /// Pass 3: a stretch together with the next one of its task, there or here.
    fn merge(&mut self) {
        let mut at = 0;
        while at < self.best.stretches.len() && !self.cut {
            let Stretch { task, count } = self.best.stretches[at];
            let later = self.best.stretches[at + 1..].iter().position(|s| s.task == task).map(|i| at + 1 + i);
            let merged = later.is_some_and(|later| {
                let theirs = self.best.stretches[later].count;
                let whole = [self.moved(later, at, theirs), self.moved(at, later, count)];
                whole.into_iter().any(|script| self.attempt(script)) || (self.polishing && self.shift(at, later))
            });
            at += usize::from(!merged);
        }
    }

    /// A step of the next stretch of a task done in this one, or the other way round; and who comes in between
    /// stops for nothing. A preemption that comes before or after a lock is held saves switches.
    fn shift(&mut self, at: usize, later: usize) -> bool {
        [(later, at), (at, later)].into_iter().any(|(from, to)| {
            let mut further = self.moved(from, to, 1);
            if let Some(between) = further.stretches.get_mut(at + 1) {
                between.count = u64::MAX;
            }
            self.attempt(self.moved(from, to, 1)) || self.attempt(further)
        })
    }

    /// The best script with so many steps moved from one stretch to another of the same task.
    fn moved(&self, from: usize, to: usize, steps: u64) -> Script {
        self.edited(|stretches| {
            let change = |(i, mut stretch): (usize, Stretch)| {
                stretch.count -= if i == from { steps } else { 0 };
                stretch.count += if i == to { steps } else { 0 };
                stretch
            };
            stretches.map(change).collect()
        })
    }

    /// Pass 4: a stretch that goes on until its task waits, yields or exits.
    fn extend(&mut self) {
        let mut at = 0;
        while at < self.best.stretches.len() && !self.cut {
            let longer = self.edited(|stretches| {
                stretches.map(|(i, s)| Stretch { count: if i == at { u64::MAX } else { s.count }, ..s }).collect()
            });
            self.attempt(longer);
            at += 1;
        }
    }

    /// Pass 5: choices that come to their first outcome, or at least to a smaller one.
    fn lower(&mut self) {
        let first = self.outcomes().iter().map(|own| vec![0; own.len()]).collect();
        if self.attempt_with(first) {
            return;
        }
        let places = |(task, own): (usize, &Vec<u64>)| (0..own.len()).map(move |at| (task, at)).collect::<Vec<_>>();
        for (task, at) in self.outcomes().iter().enumerate().flat_map(places).collect::<Vec<_>>() {
            // 0, the half, three quarters …: what a choice must come to is often a bound.
            let mut lower = 0;
            while let Some(outcome) = self.outcomes().get(task).and_then(|own| own.get(at)).copied() {
                if lower >= outcome || self.cut {
                    break;
                }
                let mut outcomes = self.outcomes().to_vec();
                outcomes[task][at] = lower;
                if !self.attempt_with(outcomes) {
                    lower += (outcome - lower).div_ceil(2);
                }
            }
        }
    }

    fn outcomes(&self) -> &[Vec<u64>] {
        match &self.best.outcomes {
            Outcomes::ByTask(all) => all,
            // Only a token's script is so, and the best one is always that of an execution.
            Outcomes::InOrder(_) => &[],
        }
    }

    fn attempt_with(&mut self, outcomes: Vec<Vec<u64>>) -> bool {
        self.attempt(Script { outcomes: Outcomes::ByTask(outcomes), ..self.best.clone() })
    }

    /// Pass 6: without one task, which then runs when nobody else can.
    fn drop_tasks(&mut self) {
        let mut tasks: Vec<u32> = self.best.stretches.iter().map(|stretch| stretch.task).collect();
        sorted::sort(&mut tasks);
        tasks.dedup();
        for task in tasks {
            if self.cut {
                return;
            }
            let without = self.edited(|stretches| stretches.filter(|(_, s)| s.task != task).map(|(_, s)| s).collect());
            self.attempt(without);
        }
    }

    /// The best script with its stretches changed.
    fn edited(&self, edit: impl FnOnce(&mut dyn Iterator<Item = (usize, Stretch)>) -> Vec<Stretch>) -> Script {
        self.best.with(edit(&mut self.best.stretches.iter().copied().enumerate()))
    }
}
