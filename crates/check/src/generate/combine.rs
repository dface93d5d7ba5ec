//! Generators that choose among operations or generators.

use super::{Draw, Generator, Next};
use crate::history::{Outcome, Process};

/// One of these operations each time, all equally likely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOf<O>(Vec<O>);

/// One of these operations each time, all equally likely. Without any it is done at once.
pub fn one_of<O: Clone>(operations: impl IntoIterator<Item = O>) -> OneOf<O> {
    OneOf(operations.into_iter().collect())
}

impl<O: Clone, R> Generator<O, R> for OneOf<O> {
    fn next(&mut self, _: Process, draw: &mut dyn Draw) -> Next<O> {
        match self.0.len() {
            0 => Next::Done,
            n => Next::Call(self.0[draw.below(n as u64) as usize].clone()),
        }
    }
}

/// One of these operations each time, by weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted<O> {
    operations: Vec<(u64, O)>,
    sum: u64,
}

/// One of these operations each time, each as often as its weight says.
pub fn weighted<O: Clone>(operations: impl IntoIterator<Item = (u64, O)>) -> Weighted<O> {
    let operations: Vec<(u64, O)> = operations.into_iter().collect();
    let sum = operations.iter().fold(0u64, |sum, (weight, _)| sum.saturating_add(*weight));
    Weighted { operations, sum }
}

impl<O: Clone, R> Generator<O, R> for Weighted<O> {
    fn next(&mut self, _: Process, draw: &mut dyn Draw) -> Next<O> {
        if self.sum == 0 {
            return Next::Done;
        }
        let mut at = draw.below(self.sum);
        for (weight, op) in &self.operations {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return Next::Call(op.clone()),
            }
        }
        Next::Done
    }
}

/// These operations in turn, over and over, for all processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle<O> {
    operations: Vec<O>,
    at: usize,
}

/// These operations in turn, over and over, for all processes.
pub fn cycle<O: Clone>(operations: impl IntoIterator<Item = O>) -> Cycle<O> {
    Cycle { operations: operations.into_iter().collect(), at: 0 }
}

impl<O: Clone, R> Generator<O, R> for Cycle<O> {
    fn next(&mut self, _: Process, _: &mut dyn Draw) -> Next<O> {
        let Some(op) = self.operations.get(self.at) else { return Next::Done };
        self.at = (self.at + 1) % self.operations.len();
        Next::Call(op.clone())
    }
}

/// One of several generators each time, all equally likely. One that is done is not asked again.
pub struct Mix<G> {
    generators: Vec<G>,
    done: Vec<bool>,
}

/// One of several generators each time, until all are done.
pub fn mix<G>(generators: impl IntoIterator<Item = G>) -> Mix<G> {
    let generators: Vec<G> = generators.into_iter().collect();
    let done = vec![false; generators.len()];
    Mix { generators, done }
}

impl<O, R, G: Generator<O, R>> Generator<O, R> for Mix<G> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        let mut waits = false;
        let mut open: Vec<usize> = (0..self.generators.len()).filter(|at| !self.done[*at]).collect();
        while !open.is_empty() {
            let at = open.swap_remove(draw.below(open.len() as u64) as usize);
            match self.generators[at].next(process, draw) {
                Next::Call(op) => return Next::Call(op),
                Next::Wait => waits = true,
                Next::Done => self.done[at] = true,
            }
        }
        if waits { Next::Wait } else { Next::Done }
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        self.generators.iter_mut().for_each(|generator| generator.ended(process, op, outcome));
    }
}
