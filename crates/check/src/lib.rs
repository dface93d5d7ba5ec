//! Checks what concurrent clients have seen against what one client would have seen.
//!
//! A [`History`] is a list of operations: the caller, the call, the result, and which call ended before
//! which other began. A checker says whether some order of the operations explains it. This crate knows
//! nothing of schedulers: a history can come from a file ([`format`](mod@format)), from threads
//! ([`Recorder`]) or from an exploration.
//!
//! Verdicts are never guesses. A budget that runs out gives [`Verdict::Unknown`], which says how far the
//! search came and what stopped it. The same history gives the same verdict, byte for byte, every time.

pub mod causal;
mod escape;
pub mod explain;
pub mod format;
pub mod generate;
mod hash;
pub mod history;
pub mod linearizable;
pub mod model;
pub mod sequential;
#[cfg(feature = "proptest")]
pub mod strategies;
pub mod transactions;
mod verdict;

pub use escape::escaped;
pub use history::{History, HistoryError, OpId, Operation, Outcome, Process, Recorder};
pub use model::{Model, Spec};
pub use verdict::{Budget, Reason, Unknown, Verdict};
