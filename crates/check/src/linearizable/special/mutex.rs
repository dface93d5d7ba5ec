//! Mutexes: nobody certainly holds it while somebody else certainly does.
//!
//! From the return of an acquire to the call of its release the owner certainly holds it. If these times do not overlap,
//! every acquire can be placed at the last moment before it returns and every release as soon as it is called.

use super::{NEVER, Seen};
use crate::model::Access;

pub(super) fn decide(seen: &[Seen<'_>]) -> Option<bool> {
    let mut by_owner: Vec<(u64, u32, u32, bool)> = Vec::with_capacity(seen.len());
    for Seen { call, ret, access } in seen {
        match access {
            Access::Acquire(owner) => by_owner.push((*owner, *call, *ret, true)),
            Access::Release(owner) => by_owner.push((*owner, *call, *ret, false)),
            _ => return None,
        }
    }
    by_owner.sort_unstable();
    let mut held: Vec<(u32, u32)> = Vec::with_capacity(seen.len() / 2);
    for operations in by_owner.chunk_by(|a, b| a.0 == b.0) {
        // An owner that does not take turns with itself is left to the general search.
        if operations.windows(2).any(|pair| pair[0].2 > pair[1].1 || pair[0].3 == pair[1].3) || !operations[0].3 {
            return None;
        }
        for hold in operations.chunks(2) {
            match hold {
                // An acquire of unknown outcome only stands in the way.
                [(_, _, NEVER, _)] => {}
                [acquire] => held.push((acquire.2, NEVER)),
                [acquire, release] => held.push((acquire.2, release.1)),
                _ => return None,
            }
        }
    }
    held.sort_unstable();
    Some(held.windows(2).all(|pair| pair[0].1 < pair[1].0))
}
