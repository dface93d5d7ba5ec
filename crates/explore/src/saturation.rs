//! Saturation: when sampling shows hardly anything new.
//!
//! Of the last executions, few have shown a behaviour that no other one has: by Good and Turing's
//! estimate, that share of all further executions is one that shows something new. Blocks of executions
//! are looked at in order, whoever was ready first, so that the result is that of one OS thread.

use std::collections::{HashMap, VecDeque};

use drawloom_engine::sorted::Map;

/// Executions that are looked back at.
const WINDOW: usize = 500;
/// Executions that are made in any case.
const LEAST: u64 = 200;
/// Less than one in so many shows a behaviour that no other one has.
const ONE_IN: usize = 100;

/// Counts behaviours in the order of executions.
#[derive(Default)]
pub(super) struct Saturation {
    /// Blocks that came too early, by their first execution.
    early: Map<u64, Vec<u64>>,
    next: u64,
    times: HashMap<u64, u32>,
    window: VecDeque<u64>,
}

impl Saturation {
    /// Adds the behaviours of the executions from `first` on. The number of executions after which
    /// there was hardly anything new, if that is known now.
    pub(super) fn add(&mut self, first: u64, behaviours: &[u64]) -> Option<u64> {
        self.early.insert(first, behaviours.to_vec());
        while let Some(block) = self.early.remove(&self.next) {
            self.next += block.len() as u64;
            for behaviour in block {
                *self.times.entry(behaviour).or_default() += 1;
                self.window.push_back(behaviour);
            }
            while self.window.len() > WINDOW {
                self.window.pop_front();
            }
            let once = self.window.iter().filter(|behaviour| self.times[behaviour] == 1).count();
            if self.next >= LEAST && once * ONE_IN < self.window.len() {
                return Some(self.next);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_saturates_and_the_order_of_blocks_does_not_matter() {
        let mut one = Saturation::default();
        let mut other = Saturation::default();
        let block: Vec<u64> = (0..100).map(|i| i % 10).collect();
        assert_eq!(one.add(0, &block), None);
        assert_eq!(one.add(100, &block), Some(200));
        assert_eq!(other.add(100, &block), None);
        assert_eq!(other.add(0, &block), Some(200));
    }

    #[test]
    fn what_is_always_new_never_saturates() {
        let mut saturation = Saturation::default();
        for first in (0..5000).step_by(100) {
            let block: Vec<u64> = (first..first + 100).collect();
            assert_eq!(saturation.add(first, &block), None);
        }
    }
}
