//! Histories of transactions, and which isolation levels they still allow.
//!
//! A [`Transactions`] is read from a file or [built](Builder); [`check`] finds its anomalies and says which
//! [levels](Model) they rule out, [`check_isolation`] decides the three levels of register histories for which that
//! takes one pass. The same history gives the same report, byte for byte.
//!
//! ```
//! use drawloom_check::transactions::{Model, Transactions, check};
//!
//! // Both read y and x as they were, and wrote the other one: write skew.
//! let file = r#"
//! {"process":0,"type":"invoke","f":"txn","value":[["r","y",null],["append","x",1]]}
//! {"process":1,"type":"invoke","f":"txn","value":[["r","x",null],["append","y",2]]}
//! {"process":0,"type":"ok","f":"txn","value":[["r","y",[]],["append","x",1]]}
//! {"process":1,"type":"ok","f":"txn","value":[["r","x",[]],["append","y",2]]}
//! "#;
//! let history = Transactions::from_jsonl(file.as_bytes())?;
//! let report = check(&history)?;
//! assert!(report.ruled_out.contains(Model::Serializable));
//! assert!(!report.ruled_out.contains(Model::SnapshotIsolation));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anomaly;
mod atom;
pub(crate) mod build;
mod classify;
mod cycles;
mod explain;
pub(crate) mod graph;
pub(crate) mod history;
pub(crate) mod isolation;
mod lists;
mod model;
mod order;
mod read;
pub(crate) mod registers;
pub(crate) mod report;
mod serial;
pub(crate) mod writes;

pub use anomaly::{Anomaly, Class, Suffix};
pub use atom::{Atom, Atoms};
pub use build::{Builder, Micro};
pub use history::{Action, End, Key, Transaction, Transactions, TxnId};
pub use isolation::{Isolation, Violation, check_isolation};
pub use model::{Model, RuledOut};
pub use report::{Finding, Holds, Report, Undecided};
pub use writes::Unfit;

/// More transactions than this are not checked for causality without sessions: its clocks need the square of them.
const CAUSAL_WITHOUT_SESSIONS: usize = 2_000;

/// Checks a history of lists or of registers: which anomalies it has, and which levels that rules out.
pub fn check(history: &Transactions) -> Result<Report, Unfit> {
    let mut report = Report { transactions: ends(history), ..Report::default() };
    let writes = writes::Writes::new(history)?;
    match (history.has_lists(), history.has_registers()) {
        (true, true) => return Err(Unfit::Mixed),
        (true, false) => {
            let lists = lists::Lists::new(history, &writes);
            lists.check(&mut report);
            let (graph, unread) = lists.graph();
            classify::classify(history, &graph, &unread, &mut report);
        }
        (false, _) => check_registers(history, &writes, &mut report)?,
    }
    report.sort();
    Ok(report)
}

fn check_registers(history: &Transactions, writes: &writes::Writes, report: &mut Report) -> Result<(), Unfit> {
    let mut registers = registers::Registers::new(history, writes, report);
    let (graph, unordered) = registers.graph(report)?;
    classify::classify(history, &graph, &[], report);
    drop(graph);
    // What is visible without a look at sessions. If somebody misses a write that is visible so, either the order of
    // versions makes that read skew, or it closes a cycle.
    registers.keeps_sessions = false;
    rule_out(&registers, Isolation::ReadAtomic, &[Model::ReadAtomic, Model::ConsistentView], report);
    if history.len() <= CAUSAL_WITHOUT_SESSIONS {
        rule_out(&registers, Isolation::Causal, &[Model::ConsistentView], report);
    }
    registers.keeps_sessions = true;
    rule_out(&registers, Isolation::ReadCommitted, &[Model::SessionReadCommitted], report);
    rule_out(&registers, Isolation::ReadAtomic, &[Model::SessionReadAtomic], report);
    rule_out(&registers, Isolation::Causal, &[Model::Causal], report);
    if unordered > 0 {
        serial::decide(&registers, report);
        let models = match report.ruled_out.contains(Model::SessionReadCommitted) {
            false => vec![Model::ConsistentView, Model::StrongReadUncommitted],
            true => vec![Model::ReadUncommitted],
        };
        let reason = format!("the order of versions is unknown for {unordered} of {} keys", history.keys());
        report.undecided.push(Undecided { models, reason });
    }
    Ok(())
}

/// Rules out levels if the history does not have the one that they all imply.
fn rule_out(registers: &registers::Registers<'_>, level: Isolation, models: &[Model], report: &mut Report) {
    if models.iter().all(|model| report.ruled_out.contains(*model)) {
        return;
    }
    if let Some(violation) = isolation::violation(registers, level) {
        report.rule_out(models, violation);
    }
}

fn ends(history: &Transactions) -> [usize; 3] {
    [End::Committed, End::Aborted, End::Unknown].map(|end| history.txns.iter().filter(|txn| txn.end == end).count())
}
