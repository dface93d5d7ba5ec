//! What happened before what: vector clocks over sessions.

use crate::transactions::history::End;
use crate::transactions::registers::{INITIAL, Registers};

/// Where transactions stand in their sessions, and what happened before each.
pub(crate) struct Clocks {
    /// Session and place in it. A transaction of unknown end has a session of its own, since others of its session
    /// are not ordered behind it.
    pub(crate) place: Vec<(u32, u32)>,
    pub(crate) sessions: usize,
    /// For each transaction and session: how many of the session happened before.
    clocks: Vec<u32>,
}

impl Clocks {
    /// Clocks of sessions, reads, and more: `also` gives further transactions that happened before one. `None` if
    /// there is a cycle.
    pub(crate) fn new(registers: &Registers<'_>, also: impl Fn(u32, usize) -> Option<u32>) -> Option<Clocks> {
        let history = registers.history;
        let mut sessions = history.sessions();
        let mut next = vec![0; sessions];
        // The committed transaction before, in its session.
        let mut before = vec![u32::MAX; history.len()];
        let mut last = vec![u32::MAX; sessions];
        let mut place = vec![(0, 0); history.len()];
        for (txn, transaction) in history.txns.iter().enumerate().filter(|(txn, _)| registers.live[*txn]) {
            let session = transaction.session as usize;
            before[txn] = last[session];
            if transaction.end == End::Committed && registers.keeps_sessions {
                place[txn] = (session as u32, next[session]);
                next[session] += 1;
                last[session] = txn as u32;
            } else {
                place[txn] = (sessions as u32, 0);
                sessions += 1;
            }
        }
        let earlier = |txn: u32, number: usize| {
            let reads = registers.reads_of(txn);
            match number {
                0 => Some(before[txn as usize]),
                n if n <= reads.len() => Some(match reads[n - 1].writer {
                    INITIAL => u32::MAX,
                    writer => registers.txn(writer),
                }),
                n => also(txn, n - 1 - reads.len()),
            }
        };
        let mut clocks = Clocks { place, sessions, clocks: vec![0; history.len() * sessions] };
        let live = (0..history.len() as u32).filter(|txn| registers.live[*txn as usize]);
        for txn in topological(history.len(), live, earlier)? {
            for other in (0..).map_while(|number| earlier(txn, number)).filter(|other| *other != u32::MAX) {
                clocks.join(txn, other);
            }
        }
        Some(clocks)
    }

    pub(crate) fn of(&self, txn: u32) -> &[u32] {
        let from = txn as usize * self.sessions;
        &self.clocks[from..from + self.sessions]
    }

    /// Whether one happened before the other.
    pub(crate) fn before(&self, a: u32, b: u32) -> bool {
        let (session, place) = self.place[a as usize];
        place < self.of(b)[session as usize]
    }

    /// `earlier` happened before `txn`, and so did its past.
    fn join(&mut self, txn: u32, earlier: u32) {
        let (session, place) = self.place[earlier as usize];
        let (to, from) = (txn as usize * self.sessions, earlier as usize * self.sessions);
        if self.clocks[to + session as usize] > place {
            return;
        }
        let (low, high) = self.clocks.split_at_mut(to.max(from));
        let (into, other) = match to < from {
            true => (&mut low[to..to + self.sessions], &high[..self.sessions]),
            false => (&mut high[..self.sessions], &low[from..from + self.sessions]),
        };
        for (mine, theirs) in into.iter_mut().zip(other) {
            *mine = (*mine).max(*theirs);
        }
        into[session as usize] = into[session as usize].max(place + 1);
    }
}

/// Nodes in an order in which the earlier ones of each come first, or `None` if there is none. `earlier` gives them one
/// by one; `u32::MAX` is passed over.
fn topological(
    count: usize,
    roots: impl Iterator<Item = u32>,
    earlier: impl Fn(u32, usize) -> Option<u32>,
) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; count];
    let mut order = Vec::with_capacity(count);
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for root in roots {
        if state[root as usize] != State::New {
            continue;
        }
        state[root as usize] = State::Open;
        stack.push((root, 0));
        while let Some((txn, next)) = stack.last_mut() {
            let txn = *txn;
            let Some(other) = earlier(txn, *next) else {
                state[txn as usize] = State::Done;
                order.push(txn);
                stack.pop();
                continue;
            };
            *next += 1;
            if other == u32::MAX {
                continue;
            }
            match state[other as usize] {
                State::New => {
                    state[other as usize] = State::Open;
                    stack.push((other, 0));
                }
                State::Open => return None,
                State::Done => {}
            }
        }
    }
    Some(order)
}

/// Micro-operations of each key, by session and in its order.
pub(crate) struct ByKey {
    /// Where the groups of each key begin.
    first_group: Vec<u32>,
    /// Session, and where its operations begin and end.
    groups: Vec<(u32, u32, u32)>,
    pub(crate) place: Vec<u32>,
    pub(crate) op: Vec<u32>,
}

impl ByKey {
    /// From transaction, key and micro-operation.
    pub(crate) fn new(keys: usize, clocks: &Clocks, ops: impl Iterator<Item = (u32, u32, u32)>) -> ByKey {
        let place = |txn: u32| clocks.place[txn as usize];
        let mut all: Vec<(u32, (u32, u32), u32)> = ops.map(|(txn, key, op)| (key, place(txn), op)).collect();
        all.sort_unstable();
        let mut by_key = ByKey {
            first_group: Vec::with_capacity(keys + 1),
            groups: Vec::new(),
            place: all.iter().map(|(_, (_, place), _)| *place).collect(),
            op: all.iter().map(|(_, _, op)| *op).collect(),
        };
        let mut at = 0;
        for group in all.chunk_by(|a, b| (a.0, a.1.0) == (b.0, b.1.0)) {
            while by_key.first_group.len() <= group[0].0 as usize {
                by_key.first_group.push(by_key.groups.len() as u32);
            }
            let end = at + group.len() as u32;
            by_key.groups.push((group[0].1.0, at, end));
            at = end;
        }
        while by_key.first_group.len() <= keys {
            by_key.first_group.push(by_key.groups.len() as u32);
        }
        by_key
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn groups_of(&self, key: u32) -> std::ops::Range<usize> {
        self.first_group[key as usize] as usize..self.first_group[key as usize + 1] as usize
    }

    pub(crate) fn session(&self, group: usize) -> u32 {
        self.groups[group].0
    }

    /// Of a group, the last operation whose place is below `limit`. `passed` is how many are known to be: limits that
    /// only grow make this a walk.
    pub(crate) fn last_before(&self, group: usize, limit: u32, passed: &mut u32) -> Option<usize> {
        let (_, first, end) = self.groups[group];
        while first + *passed < end && self.place[(first + *passed) as usize] < limit {
            *passed += 1;
        }
        passed.checked_sub(1).map(|last| (first + last) as usize)
    }

    /// For each session the last operation on a key within the past that a clock describes.
    pub(crate) fn last_of_each(&self, key: u32, clock: &[u32]) -> impl Iterator<Item = u32> {
        self.groups_of(key).filter_map(move |group| {
            let (session, first, end) = self.groups[group];
            let places = &self.place[first as usize..end as usize];
            let count = places.partition_point(|place| *place < clock[session as usize]);
            count.checked_sub(1).map(|last| self.op[first as usize + last])
        })
    }

    /// Of a session's operations on a key, those in the order of the session, with their places.
    pub(crate) fn of_session(&self, key: u32, session: u32) -> (&[u32], &[u32]) {
        let groups = &self.groups[self.groups_of(key)];
        match groups.binary_search_by_key(&session, |(session, ..)| *session) {
            Ok(at) => {
                let range = groups[at].1 as usize..groups[at].2 as usize;
                (&self.place[range.clone()], &self.op[range])
            }
            Err(_) => (&[], &[]),
        }
    }
}
