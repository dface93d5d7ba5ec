//! Causal consistency of registers, and what sessions may rely on.
//!
//! For histories of single reads and writes with distinct values. *Happened before* is the order of sessions and from
//! each write to its reads, and what follows. The bad patterns are those of Bouajjani, Enea, Guerraoui and Hamza
//! (*On verifying causal consistency*, POPL 2017):
//!
//! - [`Causal::Cc`]: nothing happened before itself, and no read returns a value, or the initial one, that had been
//!   overwritten in its past;
//! - [`Causal::Cm`], causal memory: also for each session there is one order of the writes that explains all its reads;
//! - [`Causal::Ccv`], causal convergence: also all sessions agree on the order of conflicting writes.
//!
//! ```
//! use drawloom_check::causal::{Causal, check, from_log};
//! use drawloom_check::format::{JsonLines, Log};
//!
//! // Process 1 reads a write, and then what that write had replaced.
//! let file = r#"
//! {"process":0,"type":"ok","f":"write","value":1}
//! {"process":0,"type":"ok","f":"write","value":2}
//! {"process":1,"type":"ok","f":"read","value":2}
//! {"process":1,"type":"ok","f":"read","value":1}
//! "#;
//! let history = from_log(&Log::read(JsonLines::new(file.as_bytes()))?)?;
//! assert!(check(&history, Causal::Cc)?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod memory;
mod session;

use crate::format::{Log, LogErrors, ReadError};
use crate::history::Value;
use crate::transactions::history::StepKind;
use crate::transactions::isolation::clocks::{ByKey, Clocks};
use crate::transactions::isolation::{self, cycle};
use crate::transactions::registers::{INITIAL, Registers};
use crate::transactions::report::Report;
use crate::transactions::writes::Writes;
use crate::transactions::{Builder, Isolation, Transactions, TxnId, Unfit, Violation};

pub use session::{Broken, Guarantee, Sessions, check_sessions};

/// A kind of causal consistency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Causal {
    /// Causal consistency.
    Cc,
    /// Causal memory.
    Cm,
    /// Causal convergence.
    Ccv,
}

impl Causal {
    /// All kinds. `Cm` and `Ccv` imply `Cc`; neither implies the other.
    pub const ALL: [Causal; 3] = [Causal::Cc, Causal::Cm, Causal::Ccv];

    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Causal::Cc => "causal-consistency",
            Causal::Cm => "causal-memory",
            Causal::Ccv => "causal-convergence",
        }
    }
}

/// The reads and writes of a log, each as a transaction of its own.
///
/// Operations are `read` and `write` (or `r`, `w`, `get`, `put`), with or without a `key`. A log without calls will do.
/// All keys begin with the `init` of the file's description of itself, or `null`.
pub fn from_log(log: &Log) -> Result<Transactions, LogErrors> {
    let mut builder = Builder::new();
    builder.record_init(log.meta.get("init").unwrap_or(&Value::Nil));
    for event in &log.events {
        let key = event.key.clone().unwrap_or_else(|| Value::Text("register".to_owned()));
        let kind = match event.f.as_str() {
            "read" | "r" | "get" => StepKind::Read,
            "write" | "w" | "put" => StepKind::Write,
            _ => return Err(ReadError::new(event.line, "`f` is neither a read nor a write of a register").into()),
        };
        builder.access(&key, kind, &event.value);
        builder
            .take(Some(event.process), event.kind, event.line)
            .map_err(|reason| ReadError::new(event.line, reason))?;
    }
    let mut history = builder.finish();
    history.of_operations = true;
    Ok(history)
}

/// Checks one kind of causal consistency: `None` if the history has it.
pub fn check(history: &Transactions, kind: Causal) -> Result<Option<Violation>, Unfit> {
    let writes = single(history)?;
    let registers = Registers::new(history, &writes, &mut Report::default());
    if registers.dirty.is_some() {
        return Ok(registers.dirty);
    }
    Ok(match kind {
        Causal::Ccv => isolation::violation(&registers, Isolation::Causal),
        Causal::Cc => past(&registers).and_then(|past| past.stale(&registers)).err(),
        Causal::Cm => {
            past(&registers).and_then(|past| past.stale(&registers).and_then(|()| past.memory(&registers))).err()
        }
    })
}

fn single(history: &Transactions) -> Result<Writes, Unfit> {
    if history.has_lists() {
        return Err(Unfit::Mixed);
    }
    let several = (0..history.len() as u32).find(|txn| history.actions(TxnId(*txn)).len() > 1);
    match several {
        Some(txn) => Err(Unfit::NotSingle(history.whose(txn))),
        None => Writes::new(history),
    }
}

/// What happened before what, and who wrote what when.
struct Past {
    clocks: Clocks,
    writes: ByKey,
}

/// The past of every operation, or the cycle that makes it none.
fn past(registers: &Registers<'_>) -> Result<Past, Violation> {
    let Some(clocks) = Clocks::new(registers, |_, _| None) else {
        let edges = isolation::dependencies(registers);
        return Err(cycle::shortest(registers, &edges.finish()).unwrap_or_default());
    };
    let writes = ByKey::new(registers.history.keys(), &clocks, writes_of(registers));
    Ok(Past { clocks, writes })
}

fn writes_of<'r>(registers: &'r Registers<'_>) -> impl Iterator<Item = (u32, u32, u32)> + 'r {
    let ops = (0..registers.history.ops.len() as u32).filter(|op| registers.writes.last[*op as usize]);
    let live = ops.filter(|op| registers.live[registers.txn(*op) as usize]);
    live.map(|op| (registers.txn(op), registers.key(op).0, op))
}

impl Past {
    /// A read of what had been overwritten in its past.
    fn stale(&self, registers: &Registers<'_>) -> Result<(), Violation> {
        for read in &registers.reads {
            let past = self.clocks.of(registers.txn(read.op));
            for newer in self.writes.last_of_each(registers.key(read.op).0, past) {
                if read.writer == INITIAL {
                    return Err(cycle::initial(registers, newer, read.op));
                }
                if newer != read.writer && self.clocks.before(registers.txn(read.writer), registers.txn(newer)) {
                    return Err(overwritten(registers, read.writer, newer, read.op));
                }
            }
        }
        Ok(())
    }
}

/// A read of what another write, which happened before it, had replaced.
fn overwritten(registers: &Registers<'_>, older: u32, newer: u32, read: u32) -> Violation {
    let history = registers.history;
    let [older_txn, newer_txn, reader] = [older, newer, read].map(|op| TxnId(registers.txn(op)));
    let because = vec![format!(
        "{} ({}) happened before {} ({}), and that before {}, which still read the first ({})",
        history.name(older_txn),
        history.micro(older),
        history.name(newer_txn),
        history.micro(newer),
        history.name(reader),
        history.micro(read)
    )];
    Violation { transactions: vec![older_txn, newer_txn, reader], because }
}
