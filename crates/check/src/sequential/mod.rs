//! Sequentially consistent: some order explains the history that keeps the order of each process, but not real time.
//!
//! Deciding it is NP-complete even for registers. The search is over positions in the processes' lists of operations:
//! polynomial for a fixed number of processes and states. A linearizable history is sequentially consistent, so that is
//! tried first; and where reads name the write they saw, an order that is forced upon itself refutes at once
//! (`saturation.rs`).

mod saturation;
mod search;

use crate::history::{History, OpId};
use crate::linearizable::Checker;
use crate::model::Model;
use crate::verdict::{Budget, Verdict};

use search::Search;

/// Why a history is not sequentially consistent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// For each process in which the longest order stopped, the operation that would have come next there.
    pub stuck: Vec<OpId>,
    /// The longest order that was found.
    pub order: Vec<OpId>,
}

/// Whether a history is sequentially consistent, within the default budget. The proof is an order.
///
/// ```
/// use drawloom_check::model::{Register, RegisterOp::*, RegisterRet};
/// use drawloom_check::{History, linearizable, sequential};
///
/// let stale = History::builder()
///     .call(0, Write(1), RegisterRet::Written)
///     .call(1, Read, RegisterRet::Value(0))
///     .build()?;
/// assert!(linearizable::check(&Register::new(0), &stale).is_illegal());
/// assert!(sequential::check(&Register::new(0), &stale).is_ok());
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
pub fn check<M: Model>(model: &M, history: &History<M::Op, M::Ret>) -> Verdict<Vec<OpId>, Violation> {
    check_within(model, history, Budget::default())
}

/// Whether a history is sequentially consistent, within a budget.
pub fn check_within<M: Model>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    budget: Budget,
) -> Verdict<Vec<OpId>, Violation> {
    let mut checker = Checker::new();
    let first = Budget { steps: (4 * history.len() as u64 + 1000).min(budget.steps), ..budget };
    // Orders of parts that were checked apart would still have to be merged.
    let whole = history.operations().iter().any(|operation| model.partition(&operation.op).is_none());
    if whole && checker.search(model, history, first).is_ok() {
        return Verdict::Ok(checker.order().to_vec());
    }
    let refuted = saturation::refutes(model, history);
    let mut search = Search::new(model, history);
    if refuted {
        // It cannot be explained; a little search shows how far one gets.
        search.run(model, history, first);
        return Verdict::Illegal(search.violation());
    }
    search.run(model, history, budget)
}
