//! Randomness that a schedule repeats: inside an exploration every draw is a choice.
//!
//! [`below`], [`coin`] and [`pick`] have few outcomes, all of which an exhaustive exploration tries.
//! [`bits`], [`fill`] and `Rng` (feature `rand`) have many, and are for randomised strategies: each
//! draw is still one choice, which is replayed exactly, but to try all of its outcomes is hopeless.
//!
//! Outside an exploration the draws are really random, though not for cryptography.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use crate::rt::{self, Handle, Site};

/// A number below `limit`: each as likely as the others, or each tried.
///
/// ```
/// let die = 1 + drawloom::random::below(6);
/// assert!((1..=6).contains(&die));
/// ```
///
/// # Panics
///
/// If `limit` is 0.
#[track_caller]
pub fn below(limit: u64) -> u64 {
    assert!(limit > 0, "no number is below 0");
    match rt::current() {
        Some(rt) => rt.choose(limit, rt::here()),
        None => loop {
            // Draws beyond the last whole multiple of the limit would favour small numbers.
            let drawn = native_bits();
            if drawn <= u64::MAX - (u64::MAX % limit + 1) % limit {
                return drawn % limit;
            }
        },
    }
}

/// Heads or tails.
///
/// ```
/// let side = if drawloom::random::coin() { "heads" } else { "tails" };
/// assert!(["heads", "tails"].contains(&side));
/// ```
#[track_caller]
pub fn coin() -> bool {
    below(2) == 1
}

/// One of `items`; `None` if there are none.
///
/// ```
/// let word = drawloom::random::pick(&["one", "two"]);
/// assert!(word.is_some());
/// assert_eq!(drawloom::random::pick::<u32>(&[]), None);
/// ```
#[track_caller]
pub fn pick<T>(items: &[T]) -> Option<&T> {
    if items.is_empty() {
        return None;
    }
    items.get(below(items.len() as u64) as usize)
}

/// What `bits` chooses from inside an exploration. The choice is spread over 64 bits together with
/// the drawing task and the number of its draw, so that no two draws of an execution are equal, even
/// under a strategy that always takes the first outcome.
const VARIANTS: u64 = 1 << 16;

/// 64 random bits.
///
/// Inside an exploration one choice of 65536 outcomes: not for exhaustive exploration. Use
/// [`below`] there.
///
/// ```
/// let [one, other] = [drawloom::random::bits(), drawloom::random::bits()];
/// assert_ne!(one, other); // almost certainly
/// ```
#[track_caller]
pub fn bits() -> u64 {
    match rt::current() {
        Some(rt) => controlled_bits(rt, rt::here()),
        None => native_bits(),
    }
}

/// Fills `bytes` with random ones, by a draw of [`bits`] for every eight.
///
/// ```
/// let mut key = [0; 16];
/// drawloom::random::fill(&mut key);
/// assert_ne!(key, [0; 16]); // almost certainly
/// ```
#[track_caller]
pub fn fill(bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&bits().to_le_bytes()[..chunk.len()]);
    }
}

fn controlled_bits(rt: Handle, site: Site) -> u64 {
    let chosen = rt.choose(VARIANTS, site);
    let draw = rt.count_draw();
    scramble(u64::from(rt.running().0) << 40 | (draw & 0xFF_FFFF) << 16 | chosen)
}

/// SplitMix64's finaliser: a bijection, so different draws stay different.
fn scramble(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

fn native_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A generator for code that wants [`rand_core::RngCore`], with the draws of [`bits`].
///
/// ```
/// use rand_core::RngCore;
///
/// let mut rng = drawloom::random::Rng;
/// assert_ne!(rng.next_u64(), rng.next_u64());
/// ```
#[cfg(feature = "rand")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Rng;

#[cfg(feature = "rand")]
impl rand_core::RngCore for Rng {
    #[track_caller]
    fn next_u32(&mut self) -> u32 {
        (bits() >> 32) as u32
    }

    #[track_caller]
    fn next_u64(&mut self) -> u64 {
        bits()
    }

    #[track_caller]
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        fill(bytes);
    }
}
