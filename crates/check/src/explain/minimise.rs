//! As few operations as still cannot be explained (delta debugging, Zeller & Hildebrandt 2002).

use super::allowance::Allowance;
use crate::history::{History, OpId, Operation, Outcome};
use crate::model::Model;

/// Steps of one check during the reduction: what needs more is kept.
pub(super) const STEPS: u64 = 5_000;

/// Operations that cannot be explained.
pub(super) struct Fewest {
    pub(super) kept: Vec<OpId>,
    /// Whether none of them can be left out; if not, the allowance did not suffice to say.
    pub(super) complete: bool,
}

/// What becomes of operations that are not kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// They are left out. That is quick, but what is left may be wrong only because they are missing.
    Out,
    /// They may have taken effect or not. What is wrong then is wrong whatever they did.
    Open,
}

/// The operations of a history that cannot be explained, of which none can be left out; `last` is always one.
///
/// Leaving out a write would turn any read of it into one of a value from nowhere, which explains nothing. So if the
/// operations, or all but the last, can be explained in some order, whatever their times, then what is left of them can be,
/// too: what is wrong stays a matter of order.
pub(super) fn minimise<M: Model>(
    allowance: &mut Allowance<'_, M>,
    history: &History<M::Op, M::Ret>,
    last: OpId,
    others: Others,
) -> Fewest
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let mut kept: Vec<OpId> = history.iter().map(|(id, _)| id).collect();
    let all_but_last = |kept: &[OpId]| history.subset(|id| id != last && kept.binary_search(&id).is_ok());
    let unordered = allowance.explains(&timeless(history), STEPS) == Some(true);
    let but_last = !unordered && allowance.explains(&timeless(&all_but_last(&kept)), STEPS) == Some(true);
    // Whether fewer cannot be explained either; `None` if nobody knows.
    let fails = |allowance: &mut Allowance<'_, M>, kept: &[OpId]| {
        if kept.binary_search(&last).is_err() {
            return Some(false);
        }
        let is_kept = |id: OpId| kept.binary_search(&id).is_ok();
        let smaller = match others {
            Others::Out => history.subset(is_kept),
            Others::Open => opened(history, |id| !is_kept(id)),
        };
        if allowance.explains(&smaller, STEPS)? {
            return Some(false);
        }
        match () {
            () if unordered => allowance.explains(&timeless(&history.subset(is_kept)), STEPS),
            () if but_last => allowance.explains(&timeless(&all_but_last(kept)), STEPS),
            () => Some(true),
        }
    };
    let mut chunk = kept.len().div_ceil(2);
    loop {
        let (mut changed, mut complete) = (false, true);
        let mut at = 0;
        while at < kept.len() {
            // To go on would cost as many looks as there are operations, squared, and change nothing.
            if allowance.is_out() {
                return Fewest { kept, complete: false };
            }
            let end = (at + chunk).min(kept.len());
            let smaller: Vec<OpId> = kept[..at].iter().chain(&kept[end..]).copied().collect();
            let failed = fails(allowance, &smaller);
            complete &= failed.is_some();
            if failed == Some(true) {
                kept = smaller;
                changed = true;
            } else {
                at = end;
            }
        }
        if chunk > 1 {
            chunk = chunk.div_ceil(2);
        } else if !changed {
            return Fewest { kept, complete };
        }
    }
}

/// How many events of a history cannot be explained, at least. No operation of it has failed, so that more events never help,
/// and halving finds it. What takes more than `most` steps counts as explained: the prefix is then longer than it need be,
/// but cannot be explained.
pub(super) fn shortest_prefix<M: Model>(
    allowance: &mut Allowance<'_, M>,
    history: &History<M::Op, M::Ret>,
    most: u64,
) -> u32
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let returned = history.operations().iter().filter(|operation| matches!(operation.outcome, Outcome::Ok(_)));
    let mut returns: Vec<u32> = returned.filter_map(|operation| operation.end).collect();
    returns.sort_unstable();
    let Some(last) = returns.len().checked_sub(1) else { return history.events() };
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = (low + high) / 2;
        match allowance.explains(&history.prefix(returns[middle] + 1), most) {
            Some(false) => high = middle,
            Some(true) | None => low = middle + 1,
        }
    }
    returns[low] + 1
}

/// The same history, in which nobody knows what became of some operations.
pub(super) fn opened<O: Clone, R: Clone>(history: &History<O, R>, is_open: impl Fn(OpId) -> bool) -> History<O, R> {
    let operations = history.iter().map(|(id, operation)| match is_open(id) {
        true => Operation { outcome: Outcome::Pending, end: None, ..operation.clone() },
        false => operation.clone(),
    });
    History::from_positions(operations.collect())
}

/// The same operations, all at the same time.
fn timeless<O: Clone, R: Clone>(history: &History<O, R>) -> History<O, R> {
    let n = history.len() as u32;
    let at_once = |(id, operation): (OpId, &Operation<O, R>)| Operation {
        call: id.0,
        end: operation.end.map(|_| n + id.0),
        ..operation.clone()
    };
    History::from_positions(history.iter().map(at_once).collect())
}
