//! Every state that a search has met, once.

use std::hash::Hash;

use crate::hash::hash_of;

/// States with numbers. The memory of states of an earlier search is used again.
#[derive(Debug)]
pub(crate) struct States<S> {
    slots: Vec<S>,
    hashes: Vec<u64>,
    /// Numbers of states plus one, by hash; zero is free.
    table: Vec<u32>,
    bytes: usize,
}

const SMALLEST: usize = 16;

impl<S> Default for States<S> {
    fn default() -> Self {
        States { slots: Vec::new(), hashes: Vec::new(), table: vec![0; SMALLEST], bytes: 0 }
    }
}

impl<S: Clone + Eq + Hash> States<S> {
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.table.truncate(SMALLEST);
        self.table.fill(0);
        self.bytes = 0;
    }

    pub fn get(&self, number: u32) -> &S {
        &self.slots[number as usize]
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of a state. A new state is swapped in, and `state` holds something old afterwards.
    #[inline]
    pub fn intern(&mut self, state: &mut S, heap: impl FnOnce(&S) -> usize) -> u32 {
        let hash = hash_of(state);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at] != 0 {
            let number = self.table[at] - 1;
            if self.hashes[number as usize] == hash && self.slots[number as usize] == *state {
                return number;
            }
            at = (at + 1) & mask;
        }
        let number = self.hashes.len() as u32;
        self.table[at] = number + 1;
        self.bytes += size_of::<S>() + 16 + heap(state);
        self.hashes.push(hash);
        match self.slots.get_mut(number as usize) {
            Some(slot) => std::mem::swap(slot, state),
            None => self.slots.push(state.clone()),
        }
        if self.hashes.len() * 2 > self.table.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let size = self.table.len() * 4;
        self.table.clear();
        self.table.resize(size, 0);
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut at = *hash as usize & (size - 1);
            while self.table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = number as u32 + 1;
        }
    }
}
