//! Counters: a read must lie between what has certainly been added and what may have been added.
//!
//! That refutes most wrong histories at once. It proves nothing, since which additions a read has seen is a subset-sum.

use super::{NEVER, Seen};
use crate::model::Access;

pub(super) fn decide(init: i64, seen: &[Seen<'_>]) -> Option<bool> {
    // Additions by call and by return, as running sums: of the negative and of the positive amounts.
    let mut calls: Vec<(u32, i128, i128)> = Vec::new();
    let mut returns: Vec<(u32, i128, i128)> = Vec::new();
    for Seen { call, ret, access } in seen {
        if let Access::Add(amount) = access {
            let (negative, positive) = (i128::from((*amount).min(0)), i128::from((*amount).max(0)));
            calls.push((*call, negative, positive));
            if *ret != NEVER {
                returns.push((*ret, negative, positive));
            }
        }
    }
    for list in [&mut calls, &mut returns] {
        list.sort_unstable_by_key(|entry| entry.0);
        let mut sums = (0, 0);
        for entry in list {
            sums = (sums.0 + entry.1, sums.1 + entry.2);
            (entry.1, entry.2) = sums;
        }
    }
    let before = |list: &[(u32, i128, i128)], event: u32| {
        let at = list.partition_point(|entry| entry.0 < event);
        if at == 0 { (0, 0) } else { (list[at - 1].1, list[at - 1].2) }
    };
    for Seen { call, ret, access } in seen {
        if let Access::Sum(sum) = access {
            let (done, begun) = (before(&returns, *call), before(&calls, *ret));
            let low = i128::from(init) + done.1 + begun.0;
            let high = i128::from(init) + begun.1 + done.0;
            let in_range = low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX);
            if in_range && !(low..=high).contains(&i128::from(*sum)) {
                return Some(false);
            }
        }
    }
    None
}
