//! Linearizable: every operation takes effect at one moment between its call and its return.
//!
//! [`check`] is all that most users need. A [`Checker`] checks many histories in the same memory; a [`Monitor`] follows
//! a history while it happens.

mod checker;
mod monitor;
mod parallel;
mod parts;
mod search;
mod special;

pub use checker::{Checker, Method, Standing, Violation};
pub use monitor::{Judgement, Monitor};
pub use parallel::check_parallel;
pub(crate) use parts::Parts;
pub use search::Order;
pub(crate) use search::{Memo, States};

use crate::history::{History, OpId};
use crate::model::Model;
use crate::verdict::{Budget, Verdict};

/// The proof that a history is linearizable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linearization {
    /// An order that explains the history, part after part; empty if it was judged by an algorithm that finds none.
    pub order: Vec<OpId>,
}

/// Whether a history is linearizable, within the default [`Budget`].
///
/// ```
/// use drawloom_check::model::{Register, RegisterOp::*, RegisterRet};
/// use drawloom_check::{History, linearizable};
///
/// let stale = History::builder()
///     .call(0, Write(1), RegisterRet::Written)
///     .call(1, Read, RegisterRet::Value(0))
///     .build()?;
/// assert!(linearizable::check(&Register::new(0), &stale).is_illegal());
/// # Ok::<(), drawloom_check::HistoryError>(())
/// ```
pub fn check<M: Model>(model: &M, history: &History<M::Op, M::Ret>) -> Verdict<Linearization, Violation> {
    check_within(model, history, Budget::default())
}

/// Whether a history is linearizable, within a budget.
pub fn check_within<M: Model>(
    model: &M,
    history: &History<M::Op, M::Ret>,
    budget: Budget,
) -> Verdict<Linearization, Violation> {
    let mut checker = Checker::new();
    match checker.check(model, history, budget) {
        Verdict::Ok(()) => Verdict::Ok(Linearization { order: checker.order().to_vec() }),
        Verdict::Illegal(violation) => Verdict::Illegal(violation),
        Verdict::Unknown(unknown) => Verdict::Unknown(unknown),
    }
}

/// What the near-linear algorithm for the model's [shape](Model::shape) says of a history that is one part: `None` if there
/// does not exist, or if the history is not of the kind it is for. [`check`] asks it on its own.
pub fn quick<M: Model>(model: &M, history: &History<M::Op, M::Ret>) -> Option<bool> {
    special::decide(model, history, 0..history.len() as u32)
}
