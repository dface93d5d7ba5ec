//! Causal memory: for each session, one order of the writes in its past must explain all its reads.
//!
//! For the last operation of a session, *happened before* within its past is extended by what its reads say: if a
//! write is before a read of the session that returned another one, it is before that other one. The extension is
//! repeated until nothing is new, or something is before itself.

use super::Past;
use crate::transactions::Violation;
use crate::transactions::graph::{Dependency, Edge, Layer};
use crate::transactions::history::End;
use crate::transactions::isolation::clocks::Clocks;
use crate::transactions::isolation::{cycle, dependencies};
use crate::transactions::registers::{INITIAL, Registers};

/// A write that is before another, since a read that came after it returned the other.
#[derive(Clone, Copy)]
struct Forced {
    write: u32,
    read: u32,
    returned: u32,
}

impl Past {
    /// A session whose reads no order of writes explains.
    pub(super) fn memory(&self, registers: &Registers<'_>) -> Result<(), Violation> {
        let history = registers.history;
        let mut sessions: Vec<Vec<u32>> = vec![Vec::new(); history.sessions()];
        for (txn, transaction) in history.txns.iter().enumerate().filter(|(_, txn)| txn.end == End::Committed) {
            sessions[transaction.session as usize].push(txn as u32);
        }
        sessions.iter().filter(|txns| !txns.is_empty()).try_for_each(|txns| self.session(registers, txns))
    }

    fn session(&self, registers: &Registers<'_>, txns: &[u32]) -> Result<(), Violation> {
        let mut forced: Vec<Forced> = Vec::new();
        // For each write the writes that were found to be before it.
        let mut before: Vec<Vec<u32>> = Vec::new();
        let mut extended: Option<Clocks> = None;
        loop {
            let clocks = extended.as_ref().unwrap_or(&self.clocks);
            let known = forced.len();
            for read in txns.iter().flat_map(|txn| registers.reads_of(*txn)) {
                let past = clocks.of(registers.txn(read.op));
                for write in self.writes.last_of_each(registers.key(read.op).0, past) {
                    if read.writer == INITIAL {
                        return Err(cycle::initial(registers, write, read.op));
                    }
                    if write != read.writer && !clocks.before(registers.txn(write), registers.txn(read.writer)) {
                        forced.push(Forced { write, read: read.op, returned: read.writer });
                    }
                }
            }
            if forced.len() == known {
                return Ok(());
            }
            before.resize(registers.history.len(), Vec::new());
            for new in &forced[known..] {
                before[registers.txn(new.returned) as usize].push(registers.txn(new.write));
            }
            extended = Clocks::new(registers, |txn, number| before[txn as usize].get(number).copied());
            if extended.is_none() {
                return Err(contradiction(registers, &forced));
            }
        }
    }
}

fn contradiction(registers: &Registers<'_>, forced: &[Forced]) -> Violation {
    let mut edges = dependencies(registers);
    for Forced { write, read, returned } in forced {
        let to = registers.txn(*returned);
        let dependency = Dependency::Visible;
        edges.add(registers.txn(*write), Edge { to, from_op: *write, to_op: *read, dependency, layer: Layer::Data });
    }
    cycle::shortest(registers, &edges.finish()).unwrap_or_default()
}
