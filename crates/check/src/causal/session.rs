//! Session guarantees (Terry et al., PDIS 1994): what a session may rely on about its own reads and writes.
//!
//! A version of a key is *older* than another if its write happened before the other's; the initial version is older
//! than all. A session breaks
//!
//! - *read your writes* if it reads a version older than one that it wrote before,
//! - *monotonic reads* if it reads a version older than one that it read before,
//! - *monotonic writes* if it reads a version older than one that another session wrote before a write that this one
//!   has read from,
//! - *writes follow reads* if it reads a version older than one that another session had read before a write that this
//!   one has read from.

use super::{Past, past, single};
use crate::transactions::history::End;
use crate::transactions::isolation::clocks::ByKey;
use crate::transactions::registers::{INITIAL, Read, Registers};
use crate::transactions::report::Report;
use crate::transactions::{Transactions, TxnId, Unfit, Violation};

/// A session guarantee.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Guarantee {
    /// A session reads what it wrote, or something newer.
    ReadYourWrites,
    /// A session reads what it read, or something newer.
    MonotonicReads,
    /// Writes of a session are seen in its order.
    MonotonicWrites,
    /// A write is seen behind what its session had read.
    WritesFollowReads,
}

impl Guarantee {
    /// All of them.
    pub const ALL: [Guarantee; 4] = [
        Guarantee::ReadYourWrites,
        Guarantee::MonotonicReads,
        Guarantee::MonotonicWrites,
        Guarantee::WritesFollowReads,
    ];

    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Guarantee::ReadYourWrites => "read-your-writes",
            Guarantee::MonotonicReads => "monotonic-reads",
            Guarantee::MonotonicWrites => "monotonic-writes",
            Guarantee::WritesFollowReads => "writes-follow-reads",
        }
    }
}

/// A guarantee that a session did not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Which.
    pub guarantee: Guarantee,
    /// Whose.
    pub session: u32,
    /// The earlier operation of the session, which promised more.
    pub first: TxnId,
    /// The read that returned less.
    pub second: TxnId,
    /// Why, in a sentence.
    pub because: String,
}

/// What became of the guarantees.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sessions {
    /// Reads of values that were never written, or an operation that happened before itself: then nothing is guaranteed.
    pub nonsense: Option<Violation>,
    /// For each session and guarantee the first time that it was broken.
    pub broken: Vec<Broken>,
}

/// Checks the four guarantees for every session.
pub fn check_sessions(history: &Transactions) -> Result<Sessions, Unfit> {
    let writes = single(history)?;
    let registers = Registers::new(history, &writes, &mut Report::default());
    if registers.dirty.is_some() {
        return Ok(Sessions { nonsense: registers.dirty, broken: Vec::new() });
    }
    let past = match past(&registers) {
        Ok(past) => past,
        Err(nonsense) => return Ok(Sessions { nonsense: Some(nonsense), broken: Vec::new() }),
    };
    let reads = registers.reads.iter().map(|read| (registers.txn(read.op), registers.key(read.op).0, read.op));
    let mut sessions: Vec<Vec<u32>> = vec![Vec::new(); history.sessions()];
    let mut stands = Vec::with_capacity(history.len());
    for (txn, transaction) in history.txns.iter().enumerate() {
        let own = &mut sessions[transaction.session as usize];
        stands.push((transaction.session, own.len() as u32));
        if transaction.end == End::Committed {
            own.push(txn as u32);
        }
    }
    let reads = ByKey::new(history.keys(), &past.clocks, reads);
    let check = Check { reads, registers: &registers, past: &past, stands };
    let mut broken = Vec::new();
    for (session, txns) in sessions.iter().enumerate() {
        broken.extend(check.session(session as u32, txns).into_iter().flatten());
    }
    Ok(Sessions { nonsense: None, broken })
}

struct Check<'c, 'h> {
    registers: &'c Registers<'h>,
    past: &'c Past,
    reads: ByKey,
    /// The session of each operation, and how many of it were committed before: what a write of unknown outcome comes
    /// after, though nothing comes after it.
    stands: Vec<(u32, u32)>,
}

/// The last write of a session that has been met: its place there, the write, and by which operation it was met.
#[derive(Clone, Copy)]
struct Met {
    session: u32,
    place: u32,
    write: u32,
    by: u32,
}

/// Keeps, for each session, the last write.
fn meet(all: &mut Vec<Met>, new: Met) {
    match all.iter_mut().find(|met| met.session == new.session) {
        Some(met) if met.place < new.place => *met = new,
        Some(_) => {}
        None => all.push(new),
    }
}

impl Check<'_, '_> {
    /// Whether what was read is older than a write.
    fn is_older(&self, read: Read, write: u32) -> bool {
        let registers = self.registers;
        read.writer == INITIAL
            || read.writer != write && self.past.clocks.before(registers.txn(read.writer), registers.txn(write))
    }

    fn session(&self, session: u32, txns: &[u32]) -> [Option<Broken>; 4] {
        let registers = self.registers;
        let history = registers.history;
        let mut broken = [None, None, None, None];
        // By key: the session's own last write, writes that it has read, and writes that writers had read before.
        let mut own: Vec<Option<u32>> = vec![None; history.keys()];
        let mut read_before: Vec<Vec<Met>> = vec![Vec::new(); history.keys()];
        let mut behind: Vec<Vec<Met>> = vec![Vec::new(); history.keys()];
        let mut behind_passed: Vec<Vec<(u32, u32)>> = vec![Vec::new(); history.keys()];
        // By session: the last write that has been read of it.
        let mut sources: Vec<Met> = Vec::new();
        for &txn in txns {
            for op in history.txns[txn as usize].range().filter(|op| registers.writes.last[*op]) {
                own[history.ops[op].key.0 as usize] = Some(op as u32);
            }
            for &read in registers.reads_of(txn) {
                let key = registers.key(read.op).0 as usize;
                let mut note = |guarantee: Guarantee, by: u32, newer: u32| {
                    let slot = &mut broken[guarantee as usize];
                    if slot.is_none() {
                        *slot = Some(self.broken(guarantee, session, by, newer, read));
                    }
                };
                if let Some(write) = own[key].filter(|write| self.is_older(read, *write)) {
                    note(Guarantee::ReadYourWrites, write, write);
                }
                for met in read_before[key].iter().filter(|met| self.is_older(read, met.write)) {
                    note(Guarantee::MonotonicReads, met.by, met.write);
                }
                for source in sources.iter().filter(|source| source.session != session) {
                    let (places, writes) = self.past.writes.of_session(key as u32, source.session);
                    let count = places.partition_point(|place| *place < source.place);
                    if let Some(write) = count.checked_sub(1).map(|at| writes[at]) {
                        if self.is_older(read, write) {
                            note(Guarantee::MonotonicWrites, source.by, write);
                        }
                    }
                    self.pass(&mut behind[key], &mut behind_passed[key], key as u32, *source);
                }
                for met in behind[key].iter().filter(|met| self.is_older(read, met.write)) {
                    note(Guarantee::WritesFollowReads, met.by, met.write);
                }
                if read.writer != INITIAL {
                    let (session, place) = self.past.clocks.place[registers.txn(read.writer) as usize];
                    let met = Met { session, place, write: read.writer, by: read.op };
                    meet(&mut read_before[key], met);
                    let (session, place) = self.stands[registers.txn(read.writer) as usize];
                    meet(&mut sources, Met { session, place, ..met });
                }
            }
        }
        broken
    }

    /// Takes note of what the source's session had read of a key before the write that was read from it.
    fn pass(&self, behind: &mut Vec<Met>, passed: &mut Vec<(u32, u32)>, key: u32, source: Met) {
        let registers = self.registers;
        let (places, reads) = self.reads.of_session(key, source.session);
        let at = match passed.iter().position(|(session, _)| *session == source.session) {
            Some(at) => at,
            None => {
                passed.push((source.session, 0));
                passed.len() - 1
            }
        };
        let count = &mut passed[at].1;
        while (*count as usize) < places.len() && places[*count as usize] < source.place {
            let op = reads[*count as usize];
            let found = registers.reads_of(registers.txn(op)).iter().find(|read| read.op == op);
            if let Some(read) = found.filter(|read| read.writer != INITIAL) {
                let (session, place) = self.past.clocks.place[registers.txn(read.writer) as usize];
                meet(behind, Met { session, place, write: read.writer, by: source.by });
            }
            *count += 1;
        }
    }

    fn broken(&self, guarantee: Guarantee, session: u32, by: u32, newer: u32, read: Read) -> Broken {
        let registers = self.registers;
        let history = registers.history;
        let (first, second) = (TxnId(registers.txn(by)), TxnId(registers.txn(read.op)));
        let place = |op: u32| format!("{} ({})", history.name(TxnId(registers.txn(op))), history.micro(op));
        let older = match read.writer {
            INITIAL => "the initial value".to_owned(),
            writer => place(writer),
        };
        let why = match guarantee {
            Guarantee::ReadYourWrites | Guarantee::MonotonicReads => String::new(),
            Guarantee::MonotonicWrites => format!(", whose session had written {} before", place(newer)),
            Guarantee::WritesFollowReads => format!(", whose session had read {} before", place(newer)),
        };
        let because = format!(
            "process {}: {}{why}; then {} returned {older}, which is older",
            history.session_name(session),
            place(by),
            place(read.op)
        );
        Broken { guarantee, session, first, second, because }
    }
}
