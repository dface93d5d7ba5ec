//! Containers whose values are not distinct: counts that no order could have.
//!
//! Which insert a remove belongs to is not known then, but how many there were is. This refutes, and proves nothing. For all
//! containers:
//!
//! - A value is removed more often than its insert had been called.
//! - "Empty" is said while more is certainly there than the removes that were called can have taken.
//!
//! And for queues: a remove that is at least the j-th of its value takes one that was inserted at the j-th call of such an
//! insert or later. What was certainly inserted before that call is before it in the queue, and so must have been removed.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{NEVER, Seen};
use crate::hash::Fold;
use crate::model::{Access, Token};

/// How many comparisons are made: more values, or more removes, are left to the search.
const MOST: usize = 20_000_000;

/// What happened to one value. All lists are sorted.
#[derive(Default)]
struct Counts {
    /// Calls of all inserts, and returns of those that have one.
    insert_calls: Vec<u32>,
    insert_returns: Vec<u32>,
    remove_calls: Vec<u32>,
    remove_returns: Vec<u32>,
}

/// How many events of a sorted list are before this one.
fn before(events: &[u32], event: u32) -> usize {
    events.partition_point(|other| *other < event)
}

impl Counts {
    /// How many are certainly left at `late` of those that were certainly there at `early`.
    fn left(&self, early: u32, late: u32) -> usize {
        before(&self.insert_returns, early).saturating_sub(before(&self.remove_calls, late))
    }
}

/// Whether the counts refute the history. `false` says nothing.
pub(super) fn refutes(seen: &[Seen<'_>], is_queue: bool) -> bool {
    let mut numbers: HashMap<Token<'_>, usize, BuildHasherDefault<Fold>> = HashMap::default();
    let mut values: Vec<Counts> = Vec::new();
    let (mut empties, mut removes, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for Seen { call, ret, access } in seen {
        let (Access::Insert(value) | Access::Remove(Some(value))) = access else {
            match access {
                Access::Remove(None) => empties.push((*call, *ret)),
                Access::RemoveUnknown => unknown.push(*call),
                _ => return false,
            }
            continue;
        };
        let next = values.len();
        let number = *numbers.entry(*value).or_insert(next);
        if number == next {
            values.push(Counts::default());
        }
        let counts = &mut values[number];
        if let Access::Insert(_) = access {
            counts.insert_calls.push(*call);
            counts.insert_returns.extend((*ret != NEVER).then_some(*ret));
        } else {
            counts.remove_calls.push(*call);
            counts.remove_returns.push(*ret);
            removes.push((number, *call, *ret));
        }
    }
    for Counts { insert_calls, insert_returns, remove_calls, remove_returns } in &mut values {
        [insert_calls, insert_returns, remove_calls, remove_returns].into_iter().for_each(|list| list.sort_unstable());
    }
    unknown.sort_unstable();
    let removed_too_often = |counts: &Counts| {
        let mut returns = counts.remove_returns.iter().enumerate();
        returns.any(|(earlier, ret)| before(&counts.insert_calls, *ret) <= earlier)
    };
    if values.iter().any(removed_too_often) {
        return true;
    }
    if (empties.len() + removes.len()).saturating_mul(values.len()) > MOST {
        return false;
    }
    let left = |early: u32, late: u32| values.iter().map(|counts| counts.left(early, late)).sum::<usize>();
    let not_empty = |(call, ret): &(u32, u32)| left(*call, *ret) > before(&unknown, *ret);
    let overtakes = |(value, call, ret): &(usize, u32, u32)| {
        let counts = &values[*value];
        let earlier = before(&counts.remove_returns, *call);
        let Some(inserted) = counts.insert_calls.get(earlier) else { return true };
        // The remove itself takes none of those before.
        let own = before(&counts.insert_returns, *inserted);
        let others = before(&counts.remove_calls, *ret) - 1;
        let rest = left(*inserted, *ret) - counts.left(*inserted, *ret);
        rest + own.saturating_sub(others) > before(&unknown, *ret)
    };
    empties.iter().any(not_empty) || is_queue && removes.iter().any(overtakes)
}
