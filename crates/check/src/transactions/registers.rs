//! Read-write registers: who read whose version, and what that tells about the order of versions.
//!
//! Reads say who wrote what they returned, since values are distinct; the order of versions is another matter.
//! Known of it is what must hold in any history that is read-committed, or else a worse anomaly is there anyway:
//!
//! - the initial value, `null` unless the file says otherwise, is first;
//! - a transaction that reads one version and writes another has put the second after the first;
//! - a recorded order, where the store has kept one, is the whole order;
//! - for levels with session order, a session's versions of a key are in its order, and for levels with real time,
//!   a version is before those that began to be written when its transaction had ended.
//!
//! Edges of the last kind count only in cycles of that kind ([`Layer`](super::graph::Layer)).

mod edges;

use super::Violation;
use super::anomaly::Anomaly;
use super::history::{Action, End, Key, Transactions, TxnId};
use super::report::{Finding, Report};
use super::writes::Writes;

/// Instead of a write: the version that is there at the beginning.
pub(crate) const INITIAL: u32 = u32::MAX;

/// A read of what another transaction wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Read {
    /// The write that it returned, or [`INITIAL`].
    pub(crate) writer: u32,
    pub(crate) op: u32,
}

/// All reads of a register history, with their writers.
pub(crate) struct Registers<'h> {
    pub(crate) history: &'h Transactions,
    pub(crate) writes: &'h Writes,
    /// Whether a transaction took effect: it committed, or somebody saw one of its writes.
    pub(crate) live: Vec<bool>,
    /// Reads of others, in the order of transactions and within them.
    pub(crate) reads: Vec<Read>,
    /// Where the reads of each transaction begin.
    pub(crate) first_read: Vec<u32>,
    /// The first read that is none of a committed version or of its own write: only the weakest level allows that.
    pub(crate) dirty: Option<Violation>,
    /// Whether the order of sessions counts.
    pub(crate) keeps_sessions: bool,
}

impl<'h> Registers<'h> {
    /// Resolves all reads, and reports what is wrong with them by themselves.
    pub(crate) fn new(history: &'h Transactions, writes: &'h Writes, report: &mut Report) -> Registers<'h> {
        let live = history.txns.iter().map(|txn| txn.end == End::Committed).collect();
        let mut registers = Registers {
            history,
            writes,
            live,
            reads: Vec::with_capacity(history.ops.len()),
            first_read: Vec::with_capacity(history.len() + 1),
            dirty: None,
            keeps_sessions: true,
        };
        for (txn, transaction) in history.txns.iter().enumerate() {
            registers.first_read.push(registers.reads.len() as u32);
            if transaction.end == End::Committed {
                transaction.range().for_each(|op| registers.resolve(txn as u32, op as u32, report));
            }
        }
        registers.first_read.push(registers.reads.len() as u32);
        registers
    }

    pub(crate) fn txn(&self, op: u32) -> u32 {
        self.writes.txn_of[op as usize]
    }

    pub(crate) fn reads_of(&self, txn: u32) -> &[Read] {
        &self.reads[self.first_read[txn as usize] as usize..self.first_read[txn as usize + 1] as usize]
    }

    pub(crate) fn key(&self, op: u32) -> Key {
        self.history.ops[op as usize].key
    }

    fn resolve(&mut self, txn: u32, op: u32, report: &mut Report) {
        let history = self.history;
        let micro = &history.ops[op as usize];
        let Action::Read(value) = history.action(micro) else { return };
        let before = self.writes.previous[op as usize];
        if before != u32::MAX {
            let earlier = &history.ops[before as usize];
            let own = self.writes.wrote_before(history, op);
            if earlier.data != value {
                let what = format!(
                    "{} read {} ({}) after {}",
                    history.name(TxnId(txn)),
                    history.key_name(micro.key),
                    history.micro(op),
                    history.micro(before)
                );
                let finding =
                    Finding { anomaly: Anomaly::Internal, transactions: vec![TxnId(txn)], because: vec![what] };
                // What it wrote is what it must read. A second read of another value is a read of others.
                match own {
                    true => self.add_dirty(finding, report),
                    false => report.add(finding),
                }
            }
            if own {
                return;
            }
        }
        // A write of the same value did not happen, or `Writes` would have found it.
        if value == history.initial {
            self.reads.push(Read { writer: INITIAL, op });
            return;
        }
        let Some(writer) = self.writes.of(history, micro.key, value) else {
            let what = format!(
                "{} of {} was never written: {} read it ({})",
                history.atoms.show(value),
                history.key_name(micro.key),
                history.name(TxnId(txn)),
                history.micro(op)
            );
            let transactions = vec![TxnId(txn)];
            self.add_dirty(Finding { anomaly: Anomaly::Garbage, transactions, because: vec![what] }, report);
            return;
        };
        let other = self.txn(writer);
        let (anomaly, what) = if other == txn {
            (Anomaly::FutureRead, "which is itself, later on")
        } else if history.txns[other as usize].end == End::Aborted {
            (Anomaly::G1a, "which never committed")
        } else {
            self.live[other as usize] = true;
            self.reads.push(Read { writer, op });
            if self.writes.last[writer as usize] {
                return;
            }
            (Anomaly::G1b, "which wrote it again")
        };
        let because = vec![format!(
            "{} read {} ({}) from {} ({}), {what}",
            history.name(TxnId(txn)),
            history.key_name(micro.key),
            history.micro(op),
            history.name(TxnId(other)),
            history.micro(writer)
        )];
        let transactions = if other == txn { vec![TxnId(txn)] } else { vec![TxnId(other), TxnId(txn)] };
        self.add_dirty(Finding { anomaly, transactions, because }, report);
    }

    fn add_dirty(&mut self, finding: Finding, report: &mut Report) {
        if self.dirty.is_none() {
            let Finding { transactions, because, .. } = finding.clone();
            self.dirty = Some(Violation { transactions, because });
        }
        report.add(finding);
    }
}
