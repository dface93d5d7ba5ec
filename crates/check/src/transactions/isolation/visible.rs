//! Read committed and read atomic: visible is what a transaction reads from.

use super::{Rules, Written};
use crate::transactions::registers::{INITIAL, Read};

/// What a transaction read of each key, without clearing between transactions.
struct Latest {
    reads: Vec<(u32, Read)>,
}

impl Latest {
    fn new(keys: usize) -> Latest {
        Latest { reads: vec![(u32::MAX, Read { writer: INITIAL, op: 0 }); keys] }
    }

    fn get(&self, txn: u32, key: u32) -> Option<Read> {
        let (owner, read) = self.reads[key as usize];
        (owner == txn).then_some(read)
    }

    fn set(&mut self, txn: u32, key: u32, read: Read) {
        self.reads[key as usize] = (txn, read);
    }
}

/// If t3 reads from t2 and later x from t1, and t2 wrote x, then t2 comes before t1.
///
/// It is enough to take the first read from t2, and the next read of x after it that is not from t2: for later ones
/// there are chains of such edges, or a cycle. The smaller one of "written by t2" and "read after it" is walked,
/// which bounds the work by n to the power of 1.5.
pub(super) fn read_committed(rules: &mut Rules<'_, '_>) {
    let registers = rules.registers;
    let written = Written::new(registers);
    // The next read of each key, and the next one after it that is from somebody else.
    let mut next = Latest::new(registers.history.keys());
    let mut then = Latest::new(registers.history.keys());
    let mut met = vec![u32::MAX; registers.history.len()];
    let mut is_first = Vec::new();
    for reader in 0..registers.history.len() as u32 {
        let reads = registers.reads_of(reader);
        if reads.len() < 2 {
            continue;
        }
        is_first.clear();
        is_first.extend(reads.iter().map(|read| {
            read.writer != INITIAL && std::mem::replace(&mut met[registers.txn(read.writer) as usize], reader) != reader
        }));
        for (at, read) in reads.iter().enumerate().rev() {
            if is_first[at] {
                let writer = registers.txn(read.writer);
                let (of_writer, after) = (written.of(writer), &reads[at + 1..]);
                let mut add = |key: u32, write: u32| {
                    let is_own = |read: &Read| read.writer == write;
                    let later = next.get(reader, key).filter(|read| !is_own(read)).or(then.get(reader, key));
                    if let Some(later) = later.filter(|later| !is_own(later)) {
                        rules.visible(write, later);
                    }
                };
                if of_writer.len() <= after.len() {
                    of_writer.iter().for_each(|(key, write)| add(*key, *write));
                } else {
                    for later in after {
                        let key = registers.key(later.op).0;
                        if let Some(write) = written.find(writer, key) {
                            add(key, write);
                        }
                    }
                }
            }
            let key = registers.key(read.op).0;
            if let Some(later) = next.get(reader, key).filter(|later| later.writer != read.writer) {
                then.set(reader, key, later);
            }
            next.set(reader, key, *read);
        }
    }
}

/// If t3 reads x from t1 and anything from t2, or has t2 before it in its session, and t2 wrote x, then t2 comes
/// before t1.
pub(super) fn read_atomic(rules: &mut Rules<'_, '_>) {
    let registers = rules.registers;
    let history = registers.history;
    let written = Written::new(registers);
    let mut read_of = Latest::new(history.keys());
    let mut met = vec![u32::MAX; history.len()];
    for reader in 0..history.len() as u32 {
        let reads = registers.reads_of(reader);
        for read in reads {
            let key = registers.key(read.op).0;
            if let Some(other) = read_of.get(reader, key).filter(|other| other.writer != read.writer) {
                // Two versions of one key: each must be the last.
                for (seen, read) in [(*read, other), (other, *read)] {
                    if seen.writer != INITIAL {
                        rules.visible(seen.writer, read);
                    }
                }
            }
            read_of.set(reader, key, *read);
        }
        for read in reads.iter().filter(|read| read.writer != INITIAL) {
            let writer = registers.txn(read.writer);
            if std::mem::replace(&mut met[writer as usize], reader) == reader {
                continue;
            }
            if written.of(writer).len() <= reads.len() {
                for (key, write) in written.of(writer) {
                    if let Some(read) = read_of.get(reader, *key) {
                        add_unless_same(rules, *write, read);
                    }
                }
            } else {
                for read in reads {
                    if let Some(write) = written.find(writer, registers.key(read.op).0) {
                        add_unless_same(rules, write, *read);
                    }
                }
            }
        }
    }
    if registers.keeps_sessions {
        session_writers(rules, &written);
    }
}

/// The last transaction before t3 in its session that wrote x, if t3 reads x.
fn session_writers(rules: &mut Rules<'_, '_>, written: &Written) {
    let registers = rules.registers;
    let history = registers.history;
    let mut sessions: Vec<Vec<u32>> = vec![Vec::new(); history.sessions()];
    for (txn, transaction) in history.txns.iter().enumerate() {
        // One of unknown end is visible to nobody by its session.
        if transaction.end == crate::transactions::End::Committed {
            sessions[transaction.session as usize].push(txn as u32);
        }
    }
    let mut last = vec![(u32::MAX, 0_u32); history.keys()];
    for (session, txns) in sessions.iter().enumerate() {
        for txn in txns {
            for read in registers.reads_of(*txn) {
                let (owner, write) = last[registers.key(read.op).0 as usize];
                if owner == session as u32 {
                    add_unless_same(rules, write, *read);
                }
            }
            for (key, write) in written.of(*txn) {
                last[*key as usize] = (session as u32, *write);
            }
        }
    }
}

fn add_unless_same(rules: &mut Rules<'_, '_>, write: u32, read: Read) {
    if read.writer == INITIAL || rules.registers.txn(read.writer) != rules.registers.txn(write) {
        rules.visible(write, read);
    }
}
