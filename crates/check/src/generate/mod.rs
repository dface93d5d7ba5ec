//! Generators of operations: pure values, so that what a client does next is a function of a seed and of what has
//! happened.
//!
//! A [`Generator`] answers "what does this process do next?" and learns the result. Randomness comes from outside, a
//! number at a time ([`Draw`]), so that inside an exploration the choice of operations replays with the schedule.

mod combine;
mod flow;

pub use combine::{Cycle, Mix, OneOf, Weighted, cycle, mix, one_of, weighted};
pub use flow::{Phases, React, Route, Stagger, Take, Until, phases, react, route, stagger};

use crate::history::{Outcome, Process};

/// Where randomness comes from.
pub trait Draw {
    /// A number below `n`, which is at least one.
    fn below(&mut self, n: u64) -> u64;
}

impl<F: FnMut(u64) -> u64> Draw for F {
    fn below(&mut self, n: u64) -> u64 {
        self(n)
    }
}

/// Numbers from a seed: the same ones every time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeded(u64);

impl Seeded {
    /// Numbers that this seed stands for.
    pub fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }
}

impl Draw for Seeded {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        // The upper half of a product is as even as 64 bits allow, and never calls for another try.
        ((u128::from(crate::hash::scatter(self.0)) * u128::from(n.max(1))) >> 64) as u64
    }
}

/// The next operation of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<O> {
    /// Call this.
    Call(O),
    /// Nothing now; ask again after something has happened.
    Wait,
    /// Nothing any more.
    Done,
}

/// Says what each process does next. All methods of all generators are deterministic.
pub trait Generator<O, R> {
    /// What the process does next.
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O>;

    /// An operation of a process ended.
    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        let _ = (process, op, outcome);
    }

    /// This generator, for so many operations in all.
    fn take(self, operations: usize) -> Take<Self>
    where
        Self: Sized,
    {
        Take { inner: self, left: operations }
    }

    /// This generator, until an operation ends in a certain way.
    fn until<F>(self, stop: F) -> Until<Self, F>
    where
        Self: Sized,
        F: FnMut(&O, &Outcome<R>) -> bool,
    {
        Until { inner: self, stop, over: false }
    }
}

impl<O, R, G: Generator<O, R> + ?Sized> Generator<O, R> for Box<G> {
    fn next(&mut self, process: Process, draw: &mut dyn Draw) -> Next<O> {
        (**self).next(process, draw)
    }

    fn ended(&mut self, process: Process, op: &O, outcome: &Outcome<R>) {
        (**self).ended(process, op, outcome);
    }
}

/// What every process does, up to so many operations each: for scenarios that are written down before they are run.
///
/// ```
/// use drawloom_check::generate::{Generator, Seeded, scenario, weighted};
///
/// let mut operations = weighted([(3, "read"), (1, "write")]);
/// let scenario = scenario::<_, ()>(&mut operations, 2, 4, &mut Seeded::new(7));
/// assert_eq!(scenario.len(), 2);
/// assert!(scenario.iter().all(|process| process.len() == 4));
/// ```
pub fn scenario<O, R>(
    generator: &mut dyn Generator<O, R>,
    processes: usize,
    operations: usize,
    draw: &mut dyn Draw,
) -> Vec<Vec<O>> {
    let mut lists: Vec<Vec<O>> = (0..processes).map(|_| Vec::with_capacity(operations)).collect();
    for _ in 0..operations {
        for (process, list) in lists.iter_mut().enumerate() {
            if let Next::Call(op) = generator.next(Process(process as u64), draw) {
                list.push(op);
            }
        }
    }
    lists
}
