//! Generators that follow what happens: limits, phases, routes, reactions.

use super::{Draw, Generator, Next};
use crate::history::{Outcome, Process};

/// A generator for so many operations in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take<G> {
    pub(super) inner: G,
    pub(super) left: usize,
}

impl<O, R, G: Generator<O, R>> Generator<O, R> for Take<G> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        if self.left == 0 {
            return Next::Done;
        }
        let next = self.inner.next(process, draw);
        self.left -= usize::from(matches!(next, Next::Call(_)));
        next
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        self.inner.ended(process, op, outcome);
    }
}

/// A generator until an operation ends in a certain way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Until<G, F> {
    pub(super) inner: G,
    pub(super) stop: F,
    pub(super) over: bool,
}

impl<O, R, G: Generator<O, R>, F: FnMut(&O, &Outcome<R>) -> bool> Generator<O, R> for Until<G, F> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        if self.over { Next::Done } else { self.inner.next(process, draw) }
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        self.over |= (self.stop)(op, outcome);
        self.inner.ended(process, op, outcome);
    }
}

/// Generators one after the other.
pub struct Phases<G> {
    generators: Vec<G>,
    at: usize,
    open: usize,
}

/// Generators one after the other: one begins when the one before is done and all its operations have ended, such as
/// load, heal, and final reads.
pub fn phases<G>(generators: impl IntoIterator<Item = G>) -> Phases<G> {
    Phases { generators: generators.into_iter().collect(), at: 0, open: 0 }
}

impl<O, R, G: Generator<O, R>> Generator<O, R> for Phases<G> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        while let Some(generator) = self.generators.get_mut(self.at) {
            match generator.next(process, draw) {
                Next::Call(op) => {
                    self.open += 1;
                    return Next::Call(op);
                }
                Next::Wait => return Next::Wait,
                Next::Done if self.open > 0 => return Next::Wait,
                Next::Done => self.at += 1,
            }
        }
        Next::Done
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        self.open = self.open.saturating_sub(1);
        if let Some(generator) = self.generators.get_mut(self.at) {
            generator.ended(process, op, outcome);
        }
    }
}

/// A generator whose operations come with pauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stagger<G> {
    inner: G,
    every: u64,
}

/// A generator that makes a process wait, on average, `every` - 1 times before each operation. Time is counted in events, so
/// that it replays.
pub fn stagger<G>(every: u64, inner: G) -> Stagger<G> {
    Stagger { inner, every: every.max(1) }
}

impl<O, R, G: Generator<O, R>> Generator<O, R> for Stagger<G> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        if draw.below(self.every) == 0 { self.inner.next(process, draw) } else { Next::Wait }
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        self.inner.ended(process, op, outcome);
    }
}

/// A generator for each kind of process.
pub struct Route<G, F> {
    generators: Vec<G>,
    which: F,
}

/// Different generators for different processes: `which` says the number of each one's. A process without one is done.
pub fn route<G, F: FnMut(Process) -> usize>(generators: impl IntoIterator<Item = G>, which: F) -> Route<G, F> {
    Route { generators: generators.into_iter().collect(), which }
}

impl<O, R, G: Generator<O, R>, F: FnMut(Process) -> usize> Generator<O, R> for Route<G, F> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        let at = (self.which)(process);
        self.generators.get_mut(at).map_or(Next::Done, |generator| generator.next(process, draw))
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        let at = (self.which)(process);
        if let Some(generator) = self.generators.get_mut(at) {
            generator.ended(process, op, outcome);
        }
    }
}

/// A generator whose processes react to results.
pub struct React<O, G, F> {
    inner: G,
    reaction: F,
    waiting: Vec<(Process, O)>,
}

/// A generator that also does what `reaction` says when an operation ends: the same process does it next. For example, it releases an
/// acquired lock, or retries a failed operation.
pub fn react<O, R, G, F>(inner: G, reaction: F) -> React<O, G, F>
where
    F: FnMut(&O, &Outcome<R>) -> Option<O>,
{
    React { inner, reaction, waiting: Vec::new() }
}

impl<O, R, G, F> Generator<O, R> for React<O, G, F>
where
    G: Generator<O, R>,
    F: FnMut(&O, &Outcome<R>) -> Option<O>,
{
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        match self.waiting.iter().position(|(who, _)| *who == process) {
            Some(at) => Next::Call(self.waiting.remove(at).1),
            None => self.inner.next(process, draw),
        }
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        self.waiting.extend((self.reaction)(op, outcome).map(|next| (process, next)));
        self.inner.ended(process, op, outcome);
    }
}
