//! Keys and values in eight bytes each, and the texts that they stand for.

use std::collections::HashMap;
use std::fmt;

use crate::hash::fold;
use crate::history::Value;

/// A value of a transactional history: whole numbers unchanged, everything else by the number of its text.
///
/// Atoms of one history are equal if their values are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Atom(u64);

impl Default for Atom {
    fn default() -> Atom {
        Atom::NIL
    }
}

impl Atom {
    /// `null`: what a read of a key returns that nobody has written, unless the file says otherwise.
    pub const NIL: Atom = Atom(1);

    /// One of [`WORDS`].
    pub(crate) const fn word(at: usize) -> Atom {
        Atom(((at as u64 + 1) << 1) | 1)
    }

    /// Whether it is `null`.
    pub fn is_nil(self) -> bool {
        self == Atom::NIL
    }

    /// A position in a pool, where a micro-operation has one instead of a value.
    pub(crate) fn at(position: u64) -> Atom {
        Atom(position)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }
}

/// Words that every file is full of.
pub(crate) const WORDS: [&str; 6] = ["r", "read", "w", "write", "append", "a"];

/// The texts of the atoms of a history.
#[derive(Clone, Debug)]
pub struct Atoms {
    texts: Vec<String>,
    /// Only ever asked, never walked: its order is not deterministic. By value, since different ones may look alike.
    numbers: HashMap<Value, u32>,
}

impl Default for Atoms {
    fn default() -> Self {
        let words = WORDS.iter().map(|word| Value::Text((*word).to_owned()));
        let values: Vec<Value> = [Value::Nil].into_iter().chain(words).collect();
        let texts = values.iter().map(Value::to_string).collect();
        let numbers = values.into_iter().enumerate().map(|(number, value)| (value, number as u32)).collect();
        Atoms { texts, numbers }
    }
}

impl Atoms {
    /// The atom of a whole number.
    pub fn int(&mut self, number: i64) -> Atom {
        let zigzag = ((number << 1) ^ (number >> 63)) as u64;
        match zigzag >> 63 {
            0 => Atom(zigzag << 1),
            _ => self.interned(Value::Int(number)),
        }
    }

    /// The atom of any value.
    pub fn value(&mut self, value: &Value) -> Atom {
        match value {
            Value::Int(number) => self.int(*number),
            Value::Nil => Atom::NIL,
            other => self.interned(other.clone()),
        }
    }

    /// The atom of a string.
    pub fn text(&mut self, text: &str) -> Atom {
        match WORDS.iter().position(|word| *word == text) {
            Some(at) => Atom::word(at),
            None => self.interned(Value::Text(text.to_owned())),
        }
    }

    fn interned(&mut self, value: Value) -> Atom {
        let next = self.texts.len() as u32;
        let number = *self.numbers.entry(value).or_insert_with_key(|value| {
            self.texts.push(value.to_string());
            next
        });
        Atom(u64::from(number) << 1 | 1)
    }

    /// An atom as JSON.
    pub fn show(&self, atom: Atom) -> Shown<'_> {
        Shown { atoms: self, atom }
    }
}

/// An atom that can be printed.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    atoms: &'a Atoms,
    atom: Atom,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.atom.0;
        match bits & 1 {
            0 => {
                let zigzag = bits >> 1;
                write!(f, "{}", (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
            }
            _ => f.write_str(&self.atoms.texts[(bits >> 1) as usize]),
        }
    }
}

/// A table from hashes to the numbers of things that are kept elsewhere: four bytes a slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// A number and one, or zero.
    slots: Vec<u32>,
    len: usize,
}

impl Numbers {
    pub(crate) fn with_capacity(len: usize) -> Numbers {
        Numbers { slots: vec![0; (len * 2).next_power_of_two().max(16)], len: 0 }
    }

    /// The number of the thing that `same` recognises.
    pub(crate) fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                0 => return None,
                taken if same(taken - 1) => return Some(taken - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// The number of the thing that `same` recognises; `new` becomes its number if there is none.
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        same: impl Fn(u32) -> bool,
        new: u32,
        hash_of: impl Fn(u32) -> u64,
    ) -> Result<(), u32> {
        if let Some(found) = self.find(hash, same) {
            return Err(found);
        }
        if (self.len + 1) * 2 > self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![0; (old.len() * 2).max(16)];
            old.into_iter().filter(|slot| *slot != 0).for_each(|slot| self.place(hash_of(slot - 1), slot));
        }
        self.place(hash, new + 1);
        self.len += 1;
        Ok(())
    }

    fn place(&mut self, hash: u64, slot: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

/// A hash that is the same in every run.
pub(crate) fn hash(key: u32, atom: Atom) -> u64 {
    fold(atom.bits() ^ fold(u64::from(key)))
}
