//! Tables that are only ever looked up: by place in the program, say.
//!
//! Places are addresses, so the order of such a table differs from run to run. Nobody may walk through one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};

use crate::mix::Mix;

/// A number for each key, given out by whoever asks.
#[derive(Clone, Debug)]
pub(super) struct Lookup<K>(HashMap<K, u32, BuildHasherDefault<Mix>>);

impl<K> Lookup<K> {
    /// Without any key.
    pub(super) const fn new() -> Self {
        Lookup(HashMap::with_hasher(BuildHasherDefault::new()))
    }
}

impl<K> Default for Lookup<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Hash + Eq> Lookup<K> {
    /// The number of `key`; `new` if it had none.
    #[inline]
    pub(super) fn number(&mut self, key: K, new: u32) -> u32 {
        *self.0.entry(key).or_insert(new)
    }

    /// Counts `key` once more, and says how often that was.
    #[inline]
    pub(super) fn count(&mut self, key: K) -> u32 {
        let count = self.0.entry(key).or_default();
        *count += 1;
        *count
    }

    /// Whether `key` has no number; it has one then.
    #[inline]
    pub(super) fn is_new(&mut self, key: K) -> bool {
        self.0.insert(key, 0).is_none()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
