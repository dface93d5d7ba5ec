//! The tape: a seeded stream of draws.

use super::Recipe;

/// A stream of draws that is a function of its seed alone.
///
/// A counter and one wide multiplication (wyrand): a draw costs six instructions, there is no state
/// beyond the counter, and the stream can be reproduced in any language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    state: u64,
}

impl Tape {
    /// The tape of `seed`.
    pub fn new(seed: u64) -> Self {
        Tape { state: seed }
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xA076_1D64_78BD_642F);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xE703_7ED1_A0B4_28DB);
        (product as u64) ^ (product >> 64) as u64
    }

    /// The next number below `n`, all nearly equally likely (the bias is below n / 2^64).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        below(self.bits(), n)
    }

    /// One of `items` (at least one), each with the probability that its `weight` has in their sum; any
    /// of them where that is 0.
    pub fn weighted<T: Copy>(&mut self, items: &[T], weight: impl Fn(T) -> u64) -> T {
        weighted(items, weight, |n| self.below(n))
    }

    /// The seed of execution number `iteration` in an exploration seeded with `seed`.
    pub fn seed_of(seed: u64, iteration: u64) -> u64 {
        // Mixed twice: neighbouring executions must not have neighbouring tapes.
        let mixed = Tape::new(seed ^ iteration.wrapping_mul(0x9E37_79B9_7F4A_7C15)).bits();
        Tape::new(mixed).bits()
    }
}

/// A tape some of whose draws are given: those of a [`Recipe`].
#[derive(Clone, Debug)]
pub(super) struct Draws {
    tape: Tape,
    /// Draws so far.
    made: u64,
    /// Those that are given, the next one last.
    given: Vec<(u64, u64)>,
    /// The number of the next one that is given.
    next_given: u64,
    /// Bits of what is drawn that are turned over: none, or all.
    turned: u64,
}

impl Draws {
    /// The tape of `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Draws { tape: Tape::new(seed), made: 0, given: Vec::new(), next_given: u64::MAX, turned: 0 }
    }

    /// The tape of `seed` turned over: where that draws a small number, this draws a large one.
    pub(super) fn opposite(seed: u64) -> Self {
        Draws { turned: u64::MAX, ..Draws::new(seed) }
    }

    /// Begins anew, with the draws of `recipe`.
    pub(super) fn follow(&mut self, recipe: &Recipe) {
        self.tape = Tape::new(recipe.seed);
        self.made = 0;
        self.given.clear();
        self.given.extend(recipe.given.iter().rev().map(|(at, bits)| (u64::from(*at), *bits)));
        self.next_given = self.given.last().map_or(u64::MAX, |(at, _)| *at);
    }

    /// Draws so far.
    pub(super) fn made(&self) -> u64 {
        self.made
    }

    /// As [`Tape::bits`].
    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        let bits = self.tape.bits();
        self.made += 1;
        if self.made > self.next_given { self.take_given() } else { bits ^ self.turned }
    }

    #[cold]
    fn take_given(&mut self) -> u64 {
        let given = self.given.pop();
        self.next_given = self.given.last().map_or(u64::MAX, |(at, _)| *at);
        given.map_or(0, |(_, bits)| bits)
    }

    /// As [`Tape::below`].
    #[inline]
    pub(super) fn below(&mut self, n: u64) -> u64 {
        below(self.bits(), n)
    }

    /// As [`Tape::weighted`].
    pub(super) fn weighted<T: Copy>(&mut self, items: &[T], weight: impl Fn(T) -> u64) -> T {
        weighted(items, weight, |n| self.below(n))
    }
}

#[inline]
fn below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

fn weighted<T: Copy>(items: &[T], weight: impl Fn(T) -> u64, mut below: impl FnMut(u64) -> u64) -> T {
    let sum: u64 = items.iter().map(|item| weight(*item)).sum();
    if sum == 0 {
        return items[below(items.len() as u64) as usize];
    }
    let mut drawn = below(sum);
    for item in items {
        let weight = weight(*item);
        if drawn < weight {
            return *item;
        }
        drawn -= weight;
    }
    items[items.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_replaces_single_draws() {
        let plain: Vec<u64> = (0..10).scan(Draws::new(7), |draws, _| Some(draws.bits())).collect();
        let mut draws = Draws::new(0);
        draws.follow(&Recipe { seed: 7, given: vec![(0, 11), (4, 12), (9, 13)] });
        let edited: Vec<u64> = (0..10).map(|_| draws.bits()).collect();
        let differ: Vec<usize> = (0..10).filter(|i| plain[*i] != edited[*i]).collect();
        assert_eq!((differ, edited[0], edited[4], edited[9]), (vec![0, 4, 9], 11, 12, 13));
    }

    #[test]
    fn opposite_draws_are_large_where_the_others_are_small() {
        let (mut draws, mut opposite) = (Draws::new(7), Draws::opposite(7));
        assert!((0..100).all(|_| draws.below(10) + opposite.below(10) == 9));
    }

    #[test]
    fn draws_are_a_function_of_the_seed() {
        let draw = |seed| {
            let mut tape = Tape::new(seed);
            (0..100).map(|_| tape.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(3).iter().all(|d| *d < 7));
    }
}
