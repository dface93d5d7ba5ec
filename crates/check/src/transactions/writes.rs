//! Who wrote what: every value of a key has one writer, or the history cannot be judged.

use super::atom::{Atom, Numbers, hash};
use super::history::{End, Key, Kind, Transactions, TxnId};

/// Why a transactional history cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The same value was written to a key twice.
    #[error("{value} is written to key {key} twice, by {first} and {second}: values of a key must be distinct")]
    WrittenTwice {
        /// The key, as JSON.
        key: String,
        /// The value, as JSON.
        value: String,
        /// One of the writers.
        first: String,
        /// The other one.
        second: String,
    },
    /// The value that a key begins with was also written, and read.
    #[error(
        "{value} is the initial value of key {key} and is written by {writer}, and {reader} reads it: values of a key must \
         be distinct"
    )]
    InitialWritten {
        /// The key, as JSON.
        key: String,
        /// The value, as JSON.
        value: String,
        /// Who wrote it.
        writer: String,
        /// Who read one of the two.
        reader: String,
    },
    /// Lists, and an initial value that is none or not empty.
    #[error("a list begins empty: `init` is {0}, not null or []")]
    NoList(&'static str),
    /// Some keys are lists and some are registers.
    #[error("the history both writes registers and appends to lists: one of them at a time can be checked")]
    Mixed,
    /// Several micro-operations, where single operations are checked.
    #[error("{0} has several operations: causal consistency is checked for single reads and writes")]
    NotSingle(String),
    /// A recorded order has a value that nobody wrote, or lacks one, or has one twice.
    #[error("the recorded order of key {key} does not fit: {reason}")]
    Order {
        /// The key, as JSON.
        key: String,
        /// What does not fit.
        reason: String,
    },
}

/// The writes of a history, found by key and value.
pub(crate) struct Writes {
    table: Numbers,
    /// The transaction of each micro-operation.
    pub(crate) txn_of: Vec<u32>,
    /// Whether a write is its transaction's last one of that key.
    pub(crate) last: Vec<bool>,
    /// The micro-operation of the same transaction on the same key before this one, or `u32::MAX`.
    pub(crate) previous: Vec<u32>,
}

impl Writes {
    pub(crate) fn new(history: &Transactions) -> Result<Writes, Unfit> {
        let ops = history.ops.len();
        let count = history.ops.iter().filter(|op| matches!(op.kind, Kind::Append | Kind::Write)).count();
        let mut writes = Writes {
            table: Numbers::with_capacity(count),
            txn_of: vec![0; ops],
            last: vec![false; ops],
            previous: vec![u32::MAX; ops],
        };
        // For each key the transaction that touched it last, its last micro-operation and its last write there.
        let mut touched = vec![(u32::MAX, u32::MAX, u32::MAX); history.keys()];
        let value = |op: u32| (history.ops[op as usize].key, history.ops[op as usize].data);
        for (txn, transaction) in history.txns.iter().enumerate() {
            for index in transaction.range() {
                let (txn, op) = (txn as u32, index as u32);
                let key = history.ops[index].key.0 as usize;
                writes.txn_of[index] = txn;
                let (toucher, before, mut last_write) = touched[key];
                match toucher == txn {
                    true => writes.previous[index] = before,
                    false => last_write = u32::MAX,
                }
                if matches!(history.ops[index].kind, Kind::Append | Kind::Write) {
                    writes.last[index] = true;
                    if last_write != u32::MAX {
                        writes.last[last_write as usize] = false;
                    }
                    last_write = op;
                    let (key, data) = value(op);
                    let same = |other: u32| value(other) == (key, data);
                    let rehash = |other: u32| hash(value(other).0.0, value(other).1);
                    if let Err(first) = writes.table.find_or_insert(hash(key.0, data), same, op, rehash) {
                        return Err(Unfit::WrittenTwice {
                            key: history.key_name(key).to_string(),
                            value: history.atoms.show(data).to_string(),
                            first: history.whose(writes.txn_of[first as usize]),
                            second: history.whose(txn),
                        });
                    }
                }
                touched[key] = (txn, op, last_write);
            }
        }
        if let (Some(kind), true) = (history.no_list, history.has_lists()) {
            return Err(Unfit::NoList(kind));
        }
        writes.tells_initial_values(history)?;
        Ok(writes)
    }

    /// Whether every read of the initial value can be told from a read of a write.
    fn tells_initial_values(&self, history: &Transactions) -> Result<(), Unfit> {
        let initial = history.initial;
        for (op, micro) in history.ops.iter().enumerate() {
            if micro.kind != Kind::Read || micro.data != initial || self.wrote_before(history, op as u32) {
                continue;
            }
            if let Some(writer) = self.of_live(history, micro.key, initial) {
                return Err(Unfit::InitialWritten {
                    key: history.key_name(micro.key).to_string(),
                    value: history.atoms.show(initial).to_string(),
                    writer: history.whose(self.txn_of[writer as usize]),
                    reader: history.whose(self.txn_of[op]),
                });
            }
        }
        Ok(())
    }

    /// Whether the transaction has written the key before this micro-operation.
    pub(crate) fn wrote_before(&self, history: &Transactions, op: u32) -> bool {
        let mut at = self.previous[op as usize];
        while at != u32::MAX && history.ops[at as usize].kind != Kind::Write {
            at = self.previous[at as usize];
        }
        at != u32::MAX
    }

    /// The write of a value to a key, unless it certainly did not happen.
    fn of_live(&self, history: &Transactions, key: Key, value: Atom) -> Option<u32> {
        let writer = self.of(history, key, value)?;
        (history.txns[self.txn_of[writer as usize] as usize].end != End::Aborted).then_some(writer)
    }

    /// The write of a value to a key.
    pub(crate) fn of(&self, history: &Transactions, key: Key, value: Atom) -> Option<u32> {
        self.table.find(hash(key.0, value), |op| {
            let op = &history.ops[op as usize];
            op.data == value && op.key == key
        })
    }
}

impl Transactions {
    pub(crate) fn whose(&self, txn: u32) -> String {
        let transaction = &self.txns[txn as usize];
        match transaction.line {
            0 => self.name(TxnId(txn)),
            line => format!("line {line}"),
        }
    }
}
