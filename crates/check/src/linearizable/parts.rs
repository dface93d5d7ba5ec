//! Histories fall into parts that can be checked one by one (Horn & Kroening, Faster linearizability checking via
//! P-compositionality, 2015).

use crate::hash::hash_of;
use crate::history::History;
use crate::model::Model;

/// The operations of each part, in the order of their calls; parts in the order of their first calls.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Operations, part after part.
    members: Vec<u32>,
    /// Where each part ends in `members`.
    ends: Vec<u32>,
    of: Vec<u32>,
    firsts: Vec<u32>,
    /// Numbers of parts plus one, by the hash of what they are about; zero is free.
    table: Vec<u32>,
}

impl Parts {
    /// Divides a history. One operation without a part, and everything is one part.
    pub fn divide<M: Model>(&mut self, model: &M, history: &History<M::Op, M::Ret>) {
        let operations = history.operations();
        let n = operations.len();
        self.members.clear();
        self.ends.clear();
        self.of.clear();
        self.firsts.clear();
        let whole = |parts: &mut Parts| {
            parts.members.clear();
            parts.members.extend(0..n as u32);
            parts.ends.clear();
            parts.ends.push(n as u32);
        };
        if operations.first().is_none_or(|first| model.partition(&first.op).is_none()) {
            return whole(self);
        }
        self.table.clear();
        self.table.resize((2 * n).next_power_of_two(), 0);
        let mask = self.table.len() - 1;
        for (index, operation) in operations.iter().enumerate() {
            let Some(token) = model.partition(&operation.op) else {
                return whole(self);
            };
            let mut at = hash_of(&token) as usize & mask;
            let part = loop {
                match self.table[at] {
                    0 => {
                        self.firsts.push(index as u32);
                        self.ends.push(0);
                        self.table[at] = self.firsts.len() as u32;
                        break self.firsts.len() as u32 - 1;
                    }
                    part => {
                        let first = &operations[self.firsts[part as usize - 1] as usize].op;
                        if model.partition(first) == Some(token) {
                            break part - 1;
                        }
                    }
                }
                at = (at + 1) & mask;
            };
            self.of.push(part);
            self.ends[part as usize] += 1;
        }
        // From sizes to ends, and every operation to its place.
        let mut start = 0;
        for end in &mut self.ends {
            (*end, start) = (start, start + *end);
        }
        self.members.resize(n, 0);
        for (index, part) in self.of.iter().enumerate() {
            let at = &mut self.ends[*part as usize];
            self.members[*at as usize] = index as u32;
            *at += 1;
        }
    }

    /// Makes the given operations the only part.
    pub fn only(&mut self, members: &[u32]) {
        self.members.clear();
        self.members.extend_from_slice(members);
        self.ends.clear();
        self.ends.push(members.len() as u32);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn members(&self, part: usize) -> &[u32] {
        let start = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.members[start as usize..self.ends[part] as usize]
    }
}
