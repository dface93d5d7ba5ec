//! Hashing that is quick and the same in every run.

use std::hash::{Hash, Hasher};

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Folds words by multiplication. Not for keys that an adversary chooses: equality is always checked as well.
#[derive(Default)]
pub(crate) struct Fold(u64);

pub(crate) fn fold(word: u64) -> u64 {
    let product = u128::from(word ^ 0x5851_F42D_4C95_7F2D) * u128::from(MULTIPLIER);
    (product >> 64) as u64 ^ product as u64
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = fold(self.0.rotate_left(23) ^ value);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = Fold::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A fixed random word for a number.
pub(crate) fn scatter(number: u64) -> u64 {
    let word = number.wrapping_add(1).wrapping_mul(MULTIPLIER);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
