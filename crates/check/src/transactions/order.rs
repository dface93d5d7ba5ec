//! Edges that sessions and real time give.

use super::graph::{Dependency, Edge, Edges, Layer, NO_OP};
use super::history::{End, Transactions};

/// Adds the order of sessions: from each committed transaction to the next one of its session.
///
/// One of unknown end comes after those before it, but may take effect after those behind it.
pub(super) fn sessions(history: &Transactions, live: &[bool], edges: &mut Edges) {
    let mut last = vec![None; history.sessions()];
    for (txn, transaction) in history.txns.iter().enumerate().filter(|(txn, _)| live[*txn]) {
        let last = &mut last[transaction.session as usize];
        if let Some(before) = *last {
            let dependency = Dependency::Session;
            edges.add(before, Edge { to: txn as u32, from_op: NO_OP, to_op: NO_OP, dependency, layer: Layer::Session });
        }
        if transaction.end == End::Committed {
            *last = Some(txn as u32);
        }
    }
}

/// Adds real time: a chain of relays, one for every stretch of ends without a beginning between them.
pub(super) fn real_time(history: &Transactions, live: &[bool], edges: &mut Edges) {
    let layer = Layer::RealTime;
    let txns: Vec<u32> = (0..history.len() as u32).filter(|txn| live[*txn as usize]).collect();
    for_each_gap(history, &txns, |before, ended, begun| {
        let this = edges.relay();
        if let Some(before) = before {
            edges.onwards(before, this, NO_OP, layer);
        }
        for txn in ended {
            let dependency = Dependency::RealTime;
            edges.add(*txn, Edge { to: this, from_op: NO_OP, to_op: NO_OP, dependency, layer });
        }
        for txn in begun {
            edges.onwards(this, *txn, NO_OP, layer);
        }
        this
    });
}

/// Walks the ends and beginnings of some transactions in time: stretches of ends, each with the beginnings that
/// follow it. The function gets the name of the stretch before, and returns the name of this one.
pub(super) fn for_each_gap(
    history: &Transactions,
    txns: &[u32],
    mut each: impl FnMut(Option<u32>, &[u32], &[u32]) -> u32,
) {
    if !history.has_calls {
        return;
    }
    let mut begins: Vec<(u32, u32)> = txns.iter().map(|txn| (history.txns[*txn as usize].invoked, *txn)).collect();
    begins.sort_unstable();
    let mut ends = txns.iter().filter(|txn| history.txns[**txn as usize].end == End::Committed).peekable();
    let (mut ended, mut begun, mut before) = (Vec::new(), Vec::new(), None);
    for (invoked, txn) in begins {
        while let Some(end) = ends.next_if(|end| history.txns[**end as usize].completed < invoked) {
            if !begun.is_empty() {
                before = Some(each(before, &ended, &begun));
                ended.clear();
                begun.clear();
            }
            ended.push(*end);
        }
        if before.is_some() || !ended.is_empty() {
            begun.push(txn);
        }
    }
    if !begun.is_empty() {
        each(before, &ended, &begun);
    }
}
