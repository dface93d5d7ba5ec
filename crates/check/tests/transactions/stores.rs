//! Simulated stores: each keeps one isolation level, so that its histories must not be accused of less.

use crate::support::{End, Op, Rng, Txn, line, word};

/// What a simulated store does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Store {
    /// A transaction happens at once, when it commits.
    Serializable,
    /// Reads from the beginning of the transaction; the first committer of a key wins.
    Snapshot,
    /// Reads what is committed; a key that is being written is locked.
    Committed,
    /// Reads and writes what is there, and takes nothing back.
    Uncommitted,
}

pub const STORES: [Store; 4] = [Store::Serializable, Store::Snapshot, Store::Committed, Store::Uncommitted];

/// How large a simulated history is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub txns: usize,
    pub sessions: usize,
    pub keys: usize,
    pub ops: usize,
    pub lists: bool,
    /// Percent of transactions that abort, and whose end is unknown.
    pub lost: [usize; 2],
}

/// A small run of any store, sometimes with one operation changed.
pub fn small(lists: bool, rng: &mut Rng, change: impl FnOnce(&mut Op, &mut Rng)) -> Run {
    let shape = Shape {
        txns: 1 + rng.below(4),
        sessions: 1 + rng.below(3),
        keys: 1 + rng.below(2),
        ops: 3,
        lists,
        lost: [8, 8],
    };
    let mut run = run(STORES[rng.below(4)], shape, rng);
    let txn = rng.below(run.txns.len());
    if rng.chance(30) && !run.txns[txn].ops.is_empty() {
        let op = rng.below(run.txns[txn].ops.len());
        change(&mut run.txns[txn].ops[op], rng);
        run.rewrite(txn);
    }
    run
}

/// A history with its transactions in the order of their ends, when each began and ended, and the final versions.
pub struct Run {
    pub txns: Vec<Txn>,
    /// The events of its beginning and end.
    pub times: Vec<(usize, usize)>,
    /// For each key all committed values, oldest first.
    pub versions: Vec<Vec<i64>>,
    events: Vec<(usize, &'static str, Vec<Op>)>,
}

impl Run {
    /// The history as a file with calls.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.events.iter().for_each(|(process, word, ops)| line(&mut text, *process, word, ops));
        text
    }
}

impl Run {
    /// Puts a transaction that was changed into its file.
    pub fn rewrite(&mut self, txn: usize) {
        let end = self.times[txn].1;
        self.events[end].2 = self.txns[txn].ops.clone();
    }
}

struct Open {
    began: usize,
    left: usize,
    ops: Vec<Op>,
    snapshot: Vec<Vec<i64>>,
    own: Vec<Vec<i64>>,
}

/// Runs random transactions on a store.
pub fn run(store: Store, shape: Shape, rng: &mut Rng) -> Run {
    let mut state: Vec<Vec<i64>> = vec![Vec::new(); shape.keys];
    let mut locked: Vec<Option<usize>> = vec![None; shape.keys];
    let mut open: Vec<Option<Open>> = (0..shape.sessions).map(|_| None).collect();
    let mut run = Run { txns: Vec::new(), times: Vec::new(), versions: Vec::new(), events: Vec::new() };
    let (mut begun, mut next) = (0, 0);
    while run.txns.len() < shape.txns {
        let session = rng.below(shape.sessions);
        let Some(txn) = &mut open[session] else {
            if begun < shape.txns {
                begun += 1;
                open[session] = Some(Open {
                    began: run.events.len(),
                    left: 1 + rng.below(shape.ops),
                    ops: Vec::new(),
                    snapshot: state.clone(),
                    own: vec![Vec::new(); shape.keys],
                });
                // Filled in when the transaction ends: what it will do is not known yet.
                run.events.push((session, "invoke", Vec::new()));
            }
            continue;
        };
        if store == Store::Serializable && txn.ops.is_empty() {
            txn.snapshot = state.clone();
        }
        let mut end = None;
        while end.is_none() {
            if txn.left == 0 {
                end = Some(match rng.below(100) {
                    n if n < shape.lost[0] => End::Fail,
                    n if n < shape.lost[0] + shape.lost[1] => End::Info,
                    _ => End::Ok,
                });
                break;
            }
            txn.left -= 1;
            let key = rng.below(shape.keys);
            if rng.chance(50) {
                next += 1;
                if store == Store::Committed && locked[key].is_some_and(|owner| owner != session) {
                    end = Some(End::Fail);
                    break;
                }
                locked[key] = Some(session);
                txn.own[key].push(next);
                if store == Store::Uncommitted {
                    state[key].push(next);
                }
                txn.ops.push(if shape.lists { Op::Append(key, next) } else { Op::Write(key, next) });
            } else {
                let mut list = match store {
                    Store::Serializable | Store::Snapshot => txn.snapshot[key].clone(),
                    Store::Committed | Store::Uncommitted => state[key].clone(),
                };
                if store != Store::Uncommitted {
                    list.extend(&txn.own[key]);
                }
                txn.ops.push(match shape.lists {
                    true => Op::ReadList(key, list),
                    false => Op::Read(key, list.last().copied().unwrap_or(0)),
                });
            }
            if store != Store::Serializable {
                break;
            }
        }
        let Some(mut end) = end else { continue };
        let conflicts = (0..shape.keys).any(|key| !txn.own[key].is_empty() && txn.snapshot[key] != state[key]);
        if store == Store::Snapshot && conflicts && end != End::Fail {
            end = End::Fail;
        }
        // Nobody knows whether it took effect: here, half of them do.
        let effective = end == End::Ok || end == End::Info && rng.chance(50);
        let Some(txn) = open[session].take() else { continue };
        for key in 0..shape.keys {
            if locked[key] == Some(session) {
                locked[key] = None;
            }
            if effective && store != Store::Uncommitted {
                match shape.lists {
                    true => state[key].extend(&txn.own[key]),
                    false => state[key].extend(txn.own[key].last()),
                }
            }
        }
        run.events[txn.began].2 = txn.ops.clone();
        run.times.push((txn.began, run.events.len()));
        run.events.push((session, word(end), txn.ops.clone()));
        run.txns.push(Txn { session, end, ops: txn.ops });
    }
    run.versions = state;
    run
}
