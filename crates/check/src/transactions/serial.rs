//! Looks for a serial order of a register history whose order of versions is not known.
//!
//! First the order in which transactions ended, which is what most stores that are serializable show; then, for small
//! histories, all orders: depth first, never past a version that somebody still has to read, and never twice through
//! the same transactions with the same versions. Serializability is NP-complete, so there is a budget.

use std::collections::HashSet;

use super::history::{End, Kind};
use super::registers::{INITIAL, Registers};
use super::{Model, Report};

/// More transactions than this are not searched.
const LARGEST: usize = 128;
/// Attempts to place a transaction.
const MOST_STEPS: u64 = 300_000;

/// Adds to a report what serial orders prove, or that there is none.
pub(super) fn decide(registers: &Registers<'_>, report: &mut Report) {
    if registers.dirty.is_some() {
        return;
    }
    let mut search = Search::new(registers);
    if search.order_of_ends() {
        report.proven.push(Model::StrictSerializable);
        return;
    }
    if search.txns.len() > LARGEST {
        return;
    }
    let levels = [Model::StrictSerializable, Model::StrongSessionSerializable, Model::Serializable];
    for (number, model) in levels.into_iter().enumerate() {
        if report.ruled_out.contains(model) {
            continue;
        }
        match search.search(levels.len() - 1 - number) {
            Some(true) => {
                report.proven.push(model);
                return;
            }
            Some(false) => report.ruled_out.add(model),
            None => {}
        }
    }
}

/// A version of a key, and who needs it.
struct Search<'r> {
    registers: &'r Registers<'r>,
    txns: Vec<u32>,
    /// By transaction of `txns`: versions that it reads; keys that it writes, with the new version of each.
    reads: Vec<Vec<(usize, usize)>>,
    writes: Vec<Vec<(usize, usize)>>,
    /// By key, the current version; by version, how many transactions still have to read it.
    current: Vec<usize>,
    readers: Vec<u32>,
    steps: u64,
    seen: HashSet<(u128, Vec<usize>)>,
}

impl<'r> Search<'r> {
    fn new(registers: &'r Registers<'r>) -> Search<'r> {
        let history = registers.history;
        let keys = history.keys();
        let txns: Vec<u32> = (0..history.len() as u32).filter(|txn| registers.live[*txn as usize]).collect();
        // Initial versions first, then a version for every write.
        let version = |writer: u32, key: usize| if writer == INITIAL { key } else { keys + writer as usize };
        let mut readers = vec![0; keys + history.ops.len()];
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for txn in &txns {
            let of = |op: u32| registers.key(op).0 as usize;
            let mut read: Vec<_> =
                registers.reads_of(*txn).iter().map(|read| (of(read.op), version(read.writer, of(read.op)))).collect();
            read.sort_unstable();
            read.dedup();
            read.iter().for_each(|(_, version)| readers[*version] += 1);
            let ops = history.txns[*txn as usize].range();
            let last = ops.filter(|op| history.ops[*op].kind == Kind::Write && registers.writes.last[*op]);
            writes.push(last.map(|op| (of(op as u32), keys + op)).collect());
            reads.push(read);
        }
        Search { registers, txns, reads, writes, current: (0..keys).collect(), readers, steps: 0, seen: HashSet::new() }
    }

    /// Whether everybody can have taken effect when it ended.
    fn order_of_ends(&mut self) -> bool {
        let before = self.current.clone();
        let fits = (0..self.txns.len()).all(|at| {
            let fits = self.fits(at);
            self.writes[at].iter().for_each(|(key, version)| self.current[*key] = *version);
            fits
        });
        self.current = before;
        fits
    }

    fn fits(&self, at: usize) -> bool {
        self.reads[at].iter().all(|(key, version)| self.current[*key] == *version)
    }

    /// Whether there is an order: with nothing else (0), sessions (1) or real time (2). `None` if the budget ran out.
    fn search(&mut self, layer: usize) -> Option<bool> {
        let before = self.orders(layer);
        self.seen.clear();
        self.steps = 0;
        let found = self.place(0, &before);
        (found || self.steps < MOST_STEPS).then_some(found)
    }

    /// For each transaction those that must come before it.
    fn orders(&self, layer: usize) -> Vec<u128> {
        let txn = |at: usize| &self.registers.history.txns[self.txns[at] as usize];
        let is_before = |a: usize, b: usize| {
            let (first, second) = (txn(a), txn(b));
            let session = layer > 0 && a < b && first.session == second.session;
            let real_time = layer > 1 && first.completed < second.invoked;
            first.end == End::Committed && (session || real_time)
        };
        let count = self.txns.len();
        (0..count).map(|b| (0..count).filter(|a| is_before(*a, b)).fold(0, |mask, a| mask | 1_u128 << a)).collect()
    }

    fn place(&mut self, done: u128, before: &[u128]) -> bool {
        let count = self.txns.len();
        if done.count_ones() as usize == count {
            return true;
        }
        if self.steps >= MOST_STEPS || !self.seen.insert((done, self.current.clone())) {
            return false;
        }
        for (at, earlier) in before.iter().enumerate() {
            let bit = 1_u128 << at;
            if done & bit != 0 || earlier & !done != 0 || !self.fits(at) {
                continue;
            }
            self.steps += 1;
            self.reads[at].iter().for_each(|(_, version)| self.readers[*version] -= 1);
            let free = self.writes[at].iter().all(|(key, _)| self.readers[self.current[*key]] == 0);
            let found = free && {
                let old: Vec<usize> = self.writes[at].iter().map(|(key, _)| self.current[*key]).collect();
                self.writes[at].iter().for_each(|(key, version)| self.current[*key] = *version);
                let found = self.place(done | bit, before);
                self.writes[at].iter().zip(old).for_each(|((key, _), version)| self.current[*key] = version);
                found
            };
            self.reads[at].iter().for_each(|(_, version)| self.readers[*version] += 1);
            // One that only reads can as well come now as later.
            if found || free && self.writes[at].is_empty() {
                return found;
            }
        }
        false
    }
}
