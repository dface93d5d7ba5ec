//! Configurations that a search has been in, and need not enter again.

/// A set of short lists of words: exact, since a hash alone could call a legal history illegal.
#[derive(Debug)]
pub(crate) struct Memo {
    /// Entries one after the other: hash and length, then the words.
    entries: Vec<u64>,
    /// Tag (upper half of the hash) and place of an entry plus one, by hash; zero is free.
    table: Vec<u64>,
    used: usize,
}

const SMALLEST: usize = 32;
/// The low bits of an entry's hash hold its length.
const LENGTH: u64 = 0xFFFF;
const PLACE: u64 = 0xFFFF_FFFF;

impl Default for Memo {
    fn default() -> Self {
        Memo { entries: Vec::new(), table: vec![0; SMALLEST], used: 0 }
    }
}

impl Memo {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.table.truncate(SMALLEST);
        self.table.fill(0);
        self.used = 0;
    }

    pub fn bytes(&self) -> usize {
        8 * (self.entries.len() + self.table.len())
    }

    /// Whether there is room for an entry of so many words.
    pub fn has_room(&self, words: usize) -> bool {
        words as u64 <= LENGTH && ((self.entries.len() + words + 1) as u64) < PLACE
    }

    /// Adds a key; is `false` if it is there already. The low 16 bits of `hash` are not used.
    #[inline]
    pub fn insert(&mut self, hash: u64, key: &[u64]) -> bool {
        let head = hash & !LENGTH | key.len() as u64;
        let tag = hash & !PLACE;
        let mask = self.table.len() - 1;
        // The upper half is the tag, so that the place comes from bits that tags do not have.
        let mut at = (hash >> 16) as usize & mask;
        while self.table[at] != 0 {
            if self.table[at] & !PLACE == tag {
                let place = (self.table[at] & PLACE) as usize - 1;
                if self.entries[place] == head && self.entries[place + 1..place + 1 + key.len()] == *key {
                    return false;
                }
            }
            at = (at + 1) & mask;
        }
        self.table[at] = tag | (self.entries.len() as u64 + 1);
        self.entries.push(head);
        self.entries.extend_from_slice(key);
        self.used += 1;
        if self.used * 2 > self.table.len() {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        let size = self.table.len() * 4;
        self.table.clear();
        self.table.resize(size, 0);
        let mut place = 0;
        while place < self.entries.len() {
            let head = self.entries[place];
            let mut at = (head >> 16) as usize & (size - 1);
            while self.table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = head & !PLACE | (place as u64 + 1);
            place += 1 + (head & LENGTH) as usize;
        }
    }
}
