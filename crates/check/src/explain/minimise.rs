//! As few operations as still cannot be explained (delta debugging, Zeller & Hildebrandt 2002).

use crate::history::{History, OpId, Operation};
use crate::linearizable::Checker;
use crate::model::Model;
use crate::verdict::Budget;

/// Steps of one check during the reduction: what needs more is kept.
const STEPS: u64 = 50_000;
/// How many operations of smaller histories are looked at in all.
const LOOKS: usize = 20_000_000;

/// The operations of a history that cannot be explained, of which none can be left out; `last` is always one.
///
/// Leaving out a write would turn any read of it into one of a value from nowhere, which explains nothing. So if the
/// operations can be explained in some order, whatever their times, then what is left of them can be, too: what is
/// wrong stays a matter of order.
pub(super) fn minimise<M: Model>(
    checker: &mut Checker<M>,
    model: &M,
    history: &History<M::Op, M::Ret>,
    last: OpId,
) -> Vec<OpId>
where
    M::Op: Clone,
    M::Ret: Clone,
{
    let budget = Budget::default().steps(STEPS);
    let all: Vec<OpId> = history.iter().map(|(id, _)| id).collect();
    let unordered = checker.check(model, &timeless(history), budget).is_ok();
    let mut looks = 0;
    let mut fails = |kept: &[OpId]| {
        looks += kept.len();
        if looks > LOOKS || kept.binary_search(&last).is_err() {
            return false;
        }
        let smaller = history.subset(|id| kept.binary_search(&id).is_ok());
        checker.check(model, &smaller, budget).is_illegal()
            && (!unordered || checker.check(model, &timeless(&smaller), budget).is_ok())
    };
    let mut kept = all;
    let mut chunk = kept.len().div_ceil(2);
    loop {
        let mut changed = false;
        let mut at = 0;
        while at < kept.len() {
            let end = (at + chunk).min(kept.len());
            let smaller: Vec<OpId> = kept[..at].iter().chain(&kept[end..]).copied().collect();
            if fails(&smaller) {
                kept = smaller;
                changed = true;
            } else {
                at = end;
            }
        }
        if chunk > 1 {
            chunk = chunk.div_ceil(2);
        } else if !changed {
            return kept;
        }
    }
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
