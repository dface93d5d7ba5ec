//! Keys with values, copied without taking memory.

use std::fmt;
use std::hash::{Hash, Hasher};

/// Written keys with their values, sorted by key.
///
/// Searches copy states all the time. Entries that are no longer used are kept, with what they own, for later copies.
pub struct Pairs<K, V> {
    entries: Vec<Entry<K, V>>,
    used: usize,
}

struct Entry<K, V> {
    key: K,
    value: V,
}

impl<K, V> Default for Pairs<K, V> {
    fn default() -> Self {
        Pairs { entries: Vec::new(), used: 0 }
    }
}

impl<K, V> Pairs<K, V> {
    fn entries(&self) -> &[Entry<K, V>] {
        &self.entries[..self.used]
    }

    fn find(&self, key: &K) -> Result<usize, usize>
    where
        K: Ord,
    {
        self.entries().binary_search_by(|entry| entry.key.cmp(key))
    }

    /// The value of a key, if it was written.
    pub fn get(&self, key: &K) -> Option<&V>
    where
        K: Ord,
    {
        self.find(key).ok().map(|at| &self.entries[at].value)
    }

    /// The value of a key, to be changed: `init` if it was not written.
    pub(super) fn slot(&mut self, key: &K, init: &V) -> &mut V
    where
        K: Ord + Clone,
        V: Clone,
    {
        let at = self.find(key).unwrap_or_else(|at| {
            match self.entries.get_mut(self.used) {
                Some(entry) => {
                    entry.key.clone_from(key);
                    entry.value.clone_from(init);
                }
                None => self.entries.push(Entry { key: key.clone(), value: init.clone() }),
            }
            self.entries[at..=self.used].rotate_right(1);
            self.used += 1;
            at
        });
        &mut self.entries[at].value
    }

    pub(super) fn heap(&self) -> usize {
        self.entries.len() * (size_of::<(K, V)>() + 64)
    }
}

impl<K: Clone, V: Clone> Clone for Pairs<K, V> {
    fn clone(&self) -> Self {
        let copy = |entry: &Entry<K, V>| Entry { key: entry.key.clone(), value: entry.value.clone() };
        Pairs { entries: self.entries().iter().map(copy).collect(), used: self.used }
    }

    fn clone_from(&mut self, source: &Self) {
        for (at, from) in source.entries().iter().enumerate() {
            match self.entries.get_mut(at) {
                Some(entry) => {
                    entry.key.clone_from(&from.key);
                    entry.value.clone_from(&from.value);
                }
                None => self.entries.push(Entry { key: from.key.clone(), value: from.value.clone() }),
            }
        }
        self.used = source.used;
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Pairs<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.entries().iter().map(|e| (&e.key, &e.value)).eq(other.entries().iter().map(|e| (&e.key, &e.value)))
    }
}

impl<K: Eq, V: Eq> Eq for Pairs<K, V> {}

impl<K: Hash, V: Hash> Hash for Pairs<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.used.hash(state);
        self.entries().iter().for_each(|entry| (&entry.key, &entry.value).hash(state));
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Pairs<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries().iter().map(|entry| (&entry.key, &entry.value))).finish()
    }
}
