//! What executions came to, in numbers that can be added up and stored.

use std::collections::BTreeSet;

use crate::schedule::{Reader, put};
use crate::sorted::Map;

/// What some executions came to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// How many there were.
    pub executions: u64,
    /// Steps, in all of them together.
    pub steps: u64,
    /// Executions that were cut, as asked for, before they were over.
    pub cut: u64,
    /// Others that were made in vain by a frugal exploration.
    pub redundant: u64,
    /// Tasks whose stacks had to be leaked.
    pub leaked_tasks: u64,
    /// Whether a spin loop was cut in any of them.
    pub spins_cut: bool,
    /// Whether there was anything to choose in any of them.
    pub had_choice: bool,
    /// Their behaviour hashes, where behaviours are counted.
    pub behaviours: BTreeSet<u64>,
    /// By cause, those that failed.
    pub failures: Map<String, Witness>,
}

/// An execution that failed, for all that failed by the same cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// How many they are.
    pub occurrences: u64,
    /// Its number, from 0.
    pub iteration: u64,
    /// Switches away from a task that could have gone on.
    pub preemptions: u64,
    /// Its number of steps.
    pub steps: u64,
    /// Its schedule.
    pub token: String,
}

impl Witness {
    /// Less is simpler.
    fn simplicity(&self) -> (u64, u64, &str) {
        (self.preemptions, self.steps, &self.token)
    }
}

impl Tally {
    /// Adds what other executions came to; of each cause the simplest witness stays.
    pub fn add(&mut self, other: Tally) {
        self.executions += other.executions;
        self.steps += other.steps;
        self.cut += other.cut;
        self.redundant += other.redundant;
        self.leaked_tasks += other.leaked_tasks;
        self.spins_cut |= other.spins_cut;
        self.had_choice |= other.had_choice;
        self.behaviours.extend(other.behaviours);
        for (cause, witness) in other.failures {
            match self.failures.get_mut(&cause) {
                None => drop(self.failures.insert(cause, witness)),
                Some(known) => {
                    let occurrences = known.occurrences + witness.occurrences;
                    if witness.simplicity() < known.simplicity() {
                        *known = witness;
                    }
                    known.occurrences = occurrences;
                }
            }
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        for number in [self.executions, self.steps, self.cut, self.redundant, self.leaked_tasks] {
            put(bytes, number);
        }
        put(bytes, u64::from(self.had_choice) | u64::from(self.spins_cut) << 1);
        put(bytes, self.behaviours.len() as u64);
        self.behaviours.iter().for_each(|behaviour| bytes.extend(behaviour.to_le_bytes()));
        put(bytes, self.failures.len() as u64);
        for (cause, witness) in self.failures.iter() {
            put_text(bytes, cause);
            for number in [witness.occurrences, witness.iteration, witness.preemptions, witness.steps] {
                put(bytes, number);
            }
            put_text(bytes, &witness.token);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Tally> {
        let mut tally = Tally {
            executions: reader.number()?,
            steps: reader.number()?,
            cut: reader.number()?,
            redundant: reader.number()?,
            leaked_tasks: reader.number()?,
            ..Tally::default()
        };
        let flags = reader.number()?;
        (tally.had_choice, tally.spins_cut) = (flags & 1 != 0, flags & 2 != 0);
        for _ in 0..reader.count()? {
            let (behaviour, rest) = reader.bytes.split_first_chunk()?;
            reader.bytes = rest;
            tally.behaviours.insert(u64::from_le_bytes(*behaviour));
        }
        for _ in 0..reader.count()? {
            let cause = text(reader)?;
            let witness = Witness {
                occurrences: reader.number()?,
                iteration: reader.number()?,
                preemptions: reader.number()?,
                steps: reader.number()?,
                token: text(reader)?,
            };
            tally.failures.insert(cause, witness);
        }
        Some(tally)
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

fn text(reader: &mut Reader<'_>) -> Option<String> {
    let length = reader.count()?;
    let (text, rest) = reader.bytes.split_at_checked(length)?;
    reader.bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}
