//! Orders that are forced: where every read names the write that it saw.
//!
//! Program order and reads-from hold in any order that explains the history. If another write to the same place comes before
//! the read, it comes before the write that was read; if it comes after that write, it comes after the read. What
//! follows from that is added until nothing is new; an operation before itself refutes the history (Zennou et al.,
//! Gradual consistency checking, 2019).

use std::collections::HashMap;

use crate::history::{History, Outcome};
use crate::model::{Access, Model, Shape, Token};

/// Larger histories are left to the search: the relation takes a bit for every pair.
const LARGEST: usize = 2048;

/// Whether no order can explain the history. `false` says nothing.
pub(super) fn refutes<M: Model>(model: &M, history: &History<M::Op, M::Ret>) -> bool {
    let Shape::Register(init) = model.shape() else { return false };
    // Operation 0 is the write of all initial values.
    let mut places: Vec<Option<Token<'_>>> = vec![None];
    let mut accesses = vec![Access::Write(init)];
    // Whose operation it is, and whether it completed: only then it comes before what its process does next.
    let mut processes = vec![(None, false)];
    for (_, operation) in history.iter() {
        let ret = match &operation.outcome {
            Outcome::Ok(ret) => Some(ret),
            Outcome::Fail => continue,
            Outcome::Info | Outcome::Pending if model.observer(&operation.op, None) => continue,
            Outcome::Info | Outcome::Pending => None,
        };
        accesses.push(model.access(&operation.op, ret));
        places.push(model.partition(&operation.op));
        processes.push((Some(operation.process), ret.is_some()));
        if accesses.len() > LARGEST || accesses.last() == Some(&Access::Other) {
            return false;
        }
    }
    let mut writers: HashMap<(Option<Token<'_>>, Token<'_>), usize> = HashMap::new();
    for (at, access) in accesses.iter().enumerate().skip(1) {
        if let Access::Write(value) = access {
            if *value == init || writers.insert((places[at], *value), at).is_some() {
                return false;
            }
        }
    }
    let mut relation = Relation::new(accesses.len());
    for (at, (process, _)) in processes.iter().enumerate().skip(1) {
        relation.add(0, at);
        if let Some(before) = processes[..at].iter().rposition(|other| *other == (*process, true)) {
            relation.add(before, at);
        }
    }
    let mut reads = Vec::new();
    for (at, access) in accesses.iter().enumerate() {
        if let Access::Read(value) = access {
            let writer = if *value == init { Some(0) } else { writers.get(&(places[at], *value)).copied() };
            let Some(writer) = writer else { return true };
            relation.add(writer, at);
            reads.push((at, writer));
        }
    }
    let writes: Vec<usize> = (1..accesses.len()).filter(|at| matches!(accesses[*at], Access::Write(_))).collect();
    loop {
        if relation.has_cycle() {
            return true;
        }
        let mut changed = false;
        for (read, writer) in &reads {
            for other in writes.iter().filter(|other| *other != writer && places[**other] == places[*read]) {
                if relation.has(*other, *read) {
                    changed |= relation.add(*other, *writer);
                }
                if relation.has(*writer, *other) {
                    changed |= relation.add(*read, *other);
                }
            }
        }
        if !changed {
            return false;
        }
    }
}

/// A transitive relation: a row of bits for what comes after an operation.
struct Relation {
    size: usize,
    words: usize,
    after: Vec<u64>,
}

impl Relation {
    fn new(size: usize) -> Relation {
        let words = size.div_ceil(64);
        Relation { size, words, after: vec![0; size * words] }
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.after[a * self.words + b / 64] >> (b % 64) & 1 != 0
    }

    /// Adds a pair and what follows from it; is `false` if it was there.
    fn add(&mut self, a: usize, b: usize) -> bool {
        if self.has(a, b) {
            return false;
        }
        let mut row = self.after[b * self.words..(b + 1) * self.words].to_vec();
        row[b / 64] |= 1 << (b % 64);
        for before in (0..self.size).filter(|before| *before == a || self.has(*before, a)).collect::<Vec<_>>() {
            for (word, more) in self.after[before * self.words..].iter_mut().zip(&row) {
                *word |= more;
            }
        }
        true
    }

    fn has_cycle(&self) -> bool {
        (0..self.size).any(|at| self.has(at, at))
    }
}
