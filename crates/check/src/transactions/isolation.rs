//! Read committed, read atomic and causal consistency of register transactions, decided in one pass each.
//!
//! The definitions are those of Biswas and Enea (OOPSLA 2019): some total order of transactions extends the order of
//! sessions and *who read from whom*, such that of all transactions that wrote a key and are visible to a reader, it
//! read from the last. With distinct values this comes to one rule: if t3 reads x from t1, and t2, which also wrote x,
//! is visible to t3, then t2 comes before t1. The levels differ in what is visible:
//!
//! - read committed: what t3 itself read from before,
//! - read atomic: what t3 reads from, and what came before it in its session,
//! - causal: what happened before t3.
//!
//! The history has the level if these edges, sessions and reads have no cycle. As in AWDIT (PLDI 2025) only those t2
//! are looked at that are not implied by others; beyond it, an edge that causality implies already is left out.

mod causal;
pub(crate) mod clocks;
pub(crate) mod cycle;
mod visible;

use super::graph::{Dependency, Edge, Edges, Layer};
use super::history::{Transactions, TxnId};
use super::order;
use super::registers::{INITIAL, Read, Registers};
use super::report::Report;
use super::writes::{Unfit, Writes};

/// A level that is decided completely for register histories.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Isolation {
    /// What is read was committed, and is not older than what the transaction has read before.
    ReadCommitted,
    /// Transactions are seen as a whole.
    ReadAtomic,
    /// What is seen was preceded by everything that its writer had seen.
    Causal,
}

impl Isolation {
    /// All levels, the weakest first.
    pub const ALL: [Isolation; 3] = [Isolation::ReadCommitted, Isolation::ReadAtomic, Isolation::Causal];
}

/// Why a history does not have a level.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Violation {
    /// The transactions that take part; of a cycle, in its order.
    pub transactions: Vec<TxnId>,
    /// Why, a sentence for every step.
    pub because: Vec<String>,
}

/// Checks one level: `None` if the history has it.
pub fn check_isolation(history: &Transactions, level: Isolation) -> Result<Option<Violation>, Unfit> {
    if history.has_lists() {
        return Err(Unfit::Mixed);
    }
    let writes = Writes::new(history)?;
    let mut report = Report::default();
    let registers = Registers::new(history, &writes, &mut report);
    Ok(violation(&registers, level))
}

/// What speaks against a level.
pub(crate) fn violation(registers: &Registers<'_>, level: Isolation) -> Option<Violation> {
    if let Some(dirty) = &registers.dirty {
        return Some(dirty.clone());
    }
    let mut rules = Rules { registers, edges: dependencies(registers), overwritten: None };
    match level {
        Isolation::ReadCommitted => visible::read_committed(&mut rules),
        Isolation::ReadAtomic => visible::read_atomic(&mut rules),
        Isolation::Causal => causal::causal(&mut rules),
    }
    if let Some((write, read)) = rules.overwritten {
        return Some(cycle::initial(registers, write, read));
    }
    cycle::shortest(registers, &rules.edges.finish())
}

/// The order of sessions, and from writes to reads.
pub(crate) fn dependencies(registers: &Registers<'_>) -> Edges {
    let mut edges = Edges::new(registers.history.len(), registers.history.len() + registers.reads.len() * 2);
    if registers.keeps_sessions {
        order::sessions(registers.history, &registers.live, &mut edges);
    }
    for read in registers.reads.iter().filter(|read| read.writer != INITIAL) {
        let reader = (registers.txn(read.op), read.op);
        edges.data(Dependency::Wr, (registers.txn(read.writer), read.writer), reader);
    }
    edges
}

/// Collects what the rule gives.
struct Rules<'r, 'h> {
    registers: &'r Registers<'h>,
    edges: Edges,
    /// A read of the initial version, and a visible write of the same key.
    overwritten: Option<(u32, u32)>,
}

impl Rules<'_, '_> {
    /// `write` is visible to the transaction of `read`, and of the same key: it comes before what was read.
    fn visible(&mut self, write: u32, read: Read) {
        let from = self.registers.txn(write);
        if read.writer == INITIAL {
            if self.overwritten.is_none() && from != self.registers.txn(read.op) {
                self.overwritten = Some((write, read.op));
            }
            return;
        }
        let to = self.registers.txn(read.writer);
        let dependency = Dependency::Visible;
        self.edges.add(from, Edge { to, from_op: write, to_op: read.op, dependency, layer: Layer::Data });
    }
}

/// The keys that each transaction wrote, sorted, with the last write of each.
struct Written {
    first: Vec<u32>,
    writes: Vec<(u32, u32)>,
}

impl Written {
    fn new(registers: &Registers<'_>) -> Written {
        let history = registers.history;
        let mut written = Written { first: Vec::with_capacity(history.len() + 1), writes: Vec::new() };
        for (txn, transaction) in history.txns.iter().enumerate() {
            let from = written.writes.len();
            written.first.push(from as u32);
            if registers.live[txn] {
                let last = transaction.range().filter(|op| registers.writes.last[*op]);
                written.writes.extend(last.map(|op| (history.ops[op].key.0, op as u32)));
                written.writes[from..].sort_unstable();
            }
        }
        written.first.push(written.writes.len() as u32);
        written
    }

    fn of(&self, txn: u32) -> &[(u32, u32)] {
        &self.writes[self.first[txn as usize] as usize..self.first[txn as usize + 1] as usize]
    }

    fn find(&self, txn: u32, key: u32) -> Option<u32> {
        let of = self.of(txn);
        of.binary_search_by_key(&key, |(key, _)| *key).ok().map(|at| of[at].1)
    }
}
