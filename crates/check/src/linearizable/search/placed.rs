//! The operations that are placed: put on and taken back, as a search goes down and up.

use super::Search;
use crate::hash::scatter;

impl<S: Clone + Eq + std::hash::Hash> Search<S> {
    /// The word and the bit of an operation in `placed`.
    #[inline]
    fn bit(&self, op: u32) -> (usize, u64) {
        let (op, completed) = (op as usize, self.instance.completed);
        match op.checked_sub(completed) {
            None => (op / 64, 1 << (op % 64)),
            Some(crashed) => (self.crashed_words + crashed / 64, 1 << (crashed % 64)),
        }
    }

    pub(super) fn is_placed(&self, op: u32) -> bool {
        let (word, bit) = self.bit(op);
        self.placed[word] & bit != 0
    }

    #[inline]
    pub(super) fn place(&mut self, op: u32) {
        let (word, bit) = self.bit(op);
        self.placed[word] |= bit;
        self.hash ^= scatter(u64::from(op));
        self.instance.unlink(op);
        self.trail.push(op);
        if (op as usize) < self.instance.completed {
            self.left -= 1;
            while self.first_word < self.crashed_words && self.placed[self.first_word] == u64::MAX {
                self.first_word += 1;
            }
        }
    }

    /// Takes back placements until so many are left.
    #[inline]
    pub(super) fn undo(&mut self, placed: usize) {
        if placed < self.trail.len() {
            self.most_placed = self.most_placed.max(self.trail.len());
        }
        while self.trail.len() > placed {
            let Some(op) = self.trail.pop() else { return };
            let (word, bit) = self.bit(op);
            self.placed[word] &= !bit;
            self.hash ^= scatter(u64::from(op));
            self.instance.relink(op);
            if (op as usize) < self.instance.completed {
                self.left += 1;
                self.first_word = self.first_word.min(word);
            }
        }
    }
}
