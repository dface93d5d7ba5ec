//! Registers: zones (Gibbons & Korach, Testing shared memories, 1997).
//!
//! A value and those who saw it form a cluster. Between its first return and its last call the register certainly held
//! the value (a forward zone); or else all its operations overlap one moment (a backward zone, from the last call to the first
//! return). Two values cannot be held at once, and a cluster whose moments all lie in another's forward zone has no place.

use super::{NEVER, Numbers, Seen};
use crate::model::{Access, Token};

struct Cluster {
    write: (i64, i64),
    first_return: i64,
    last_call: i64,
    read: bool,
}

pub(super) fn decide(init: Token<'_>, seen: &[Seen<'_>]) -> Option<bool> {
    let mut numbers = Numbers::default();
    numbers.reserve(seen.len() / 2);
    // The initial value was written before everything.
    let mut clusters = vec![Cluster { write: (-1, -1), first_return: -1, last_call: -1, read: false }];
    numbers.insert(init, 0);
    for Seen { call, ret, access } in seen {
        if let Access::Write(value) = access {
            if numbers.insert(*value, clusters.len() as u32).is_some() {
                return None;
            }
            let (call, ret) = (i64::from(*call), i64::from(*ret));
            clusters.push(Cluster { write: (call, ret), first_return: ret, last_call: call, read: false });
        }
    }
    for Seen { call, ret, access } in seen {
        if let Access::Read(value) = access {
            let (call, ret) = (i64::from(*call), i64::from(*ret));
            let Some(number) = numbers.get(value) else { return Some(false) };
            let cluster = &mut clusters[*number as usize];
            if ret < cluster.write.0 {
                return Some(false);
            }
            cluster.first_return = cluster.first_return.min(ret);
            cluster.last_call = cluster.last_call.max(call);
            cluster.read = true;
        } else if !matches!(access, Access::Write(_)) {
            return None;
        }
    }
    // A write of unknown outcome whose value nobody saw might as well not have happened.
    clusters.retain(|cluster| cluster.write.1 != i64::from(NEVER) || cluster.read);
    let is_forward = |cluster: &&Cluster| cluster.first_return < cluster.last_call;
    let mut forward: Vec<(i64, i64)> =
        clusters.iter().filter(is_forward).map(|cluster| (cluster.first_return, cluster.last_call)).collect();
    forward.sort_unstable();
    if forward.windows(2).any(|pair| pair[1].0 < pair[0].1) {
        return Some(false);
    }
    let fits = |cluster: &Cluster| {
        let after = forward.partition_point(|(from, _)| *from < cluster.last_call);
        after == 0 || cluster.first_return > forward[after - 1].1
    };
    Some(clusters.iter().filter(|cluster| !is_forward(cluster)).all(fits))
}
