//! Causal consistency: visible is what happened before, by vector clocks.

use super::clocks::{ByKey, Clocks};
use super::{Rules, Written};
use crate::transactions::registers::INITIAL;

/// If t3 reads x from t1, and t2 wrote x and happened before t3, then t2 comes before t1. Of each session, the last
/// such t2 is enough.
pub(super) fn causal(rules: &mut Rules<'_, '_>) {
    let registers = rules.registers;
    // A cycle of sessions and reads: the edges are there already.
    let Some(clocks) = Clocks::new(registers, |_, _| None) else { return };
    let written = Written::new(registers);
    let txns = 0..registers.history.len() as u32;
    let writes = txns.flat_map(|txn| written.of(txn).iter().map(move |(key, write)| (txn, *key, *write)));
    let writers = ByKey::new(registers.history.keys(), &clocks, writes);
    // How many of a session's writers of a key are in the past: it only grows along a session.
    let mut passed = vec![0_u32; writers.len()];
    let mut by_session: Vec<u32> = (0..registers.history.len() as u32).collect();
    by_session.retain(|txn| registers.live[*txn as usize]);
    by_session.sort_by_key(|txn| clocks.place[*txn as usize]);
    let mut current = u32::MAX;
    for reader in by_session {
        let reads = registers.reads_of(reader);
        if reads.is_empty() {
            continue;
        }
        let session = clocks.place[reader as usize].0;
        if session != current {
            current = session;
            passed.fill(0);
        }
        let past = clocks.of(reader);
        for read in reads {
            let key = registers.key(read.op).0;
            let from = (read.writer != INITIAL).then(|| registers.txn(read.writer));
            let before = from.map(|from| clocks.of(from));
            for group in writers.groups_of(key) {
                let session = writers.session(group);
                let Some(at) = writers.last_before(group, past[session as usize], &mut passed[group]) else { continue };
                // Already implied: it happened before what was read, or is what was read.
                let implied = before.is_some_and(|before| writers.place[at] < before[session as usize]);
                if implied || from.is_some_and(|from| clocks.place[from as usize] == (session, writers.place[at])) {
                    continue;
                }
                rules.visible(writers.op[at], *read);
            }
        }
    }
}
