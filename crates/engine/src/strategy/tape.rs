//! The tape: a seeded stream of draws.

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
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// One of `items` (at least one), each with the probability that its `weight` has in their sum; any
    /// of them where that is 0.
    pub fn weighted<T: Copy>(&mut self, items: &[T], weight: impl Fn(T) -> u64) -> T {
        let sum: u64 = items.iter().map(|item| weight(*item)).sum();
        if sum == 0 {
            return items[self.below(items.len() as u64) as usize];
        }
        let mut drawn = self.below(sum);
        for item in items {
            let weight = weight(*item);
            if drawn < weight {
                return *item;
            }
            drawn -= weight;
        }
        items[items.len() - 1]
    }

    /// The seed of execution number `iteration` in an exploration seeded with `seed`.
    pub fn seed_of(seed: u64, iteration: u64) -> u64 {
        // Mixed twice: neighbouring executions must not have neighbouring tapes.
        let mixed = Tape::new(seed ^ iteration.wrapping_mul(0x9E37_79B9_7F4A_7C15)).bits();
        Tape::new(mixed).bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
