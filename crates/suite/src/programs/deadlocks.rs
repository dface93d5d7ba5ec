//! Two locks in two orders, and programs that fail always.

use std::sync::Arc;

use super::words::{Condition, Lock, Var, join, spawn};

struct Two {
    a: Lock,
    b: Lock,
    shared: Var,
}

/// One takes `a`, then `b`; the other the other way round.
pub(super) fn deadlock01(fixed: bool) {
    let two = Arc::new(Two { a: Lock::new(), b: Lock::new(), shared: Var::new(0) });
    let one = spawn(&two, |two| {
        let a = two.a.lock();
        let b = two.b.lock();
        two.shared.plus(1);
        drop(b);
        drop(a);
    });
    let other = spawn(&two, move |two| {
        let (first, second) = if fixed { (&two.a, &two.b) } else { (&two.b, &two.a) };
        let first = first.lock();
        let second = second.lock();
        two.shared.plus(1);
        drop(second);
        drop(first);
    });
    join([one, other]);
}

/// One holds the inner lock and wants the outer one; the other the other way round.
pub(super) fn carter01(fixed: bool) {
    struct Groups {
        outer: [Lock; 2],
        inner: Lock,
        members: [Var; 2],
    }
    let groups =
        Arc::new(Groups { outer: [Lock::new(), Lock::new()], inner: Lock::new(), members: [Var::new(0), Var::new(0)] });
    let pass = |me: usize| {
        move |groups: &Groups| {
            // The fix: a lock for each group's count.
            let outer = &groups.outer[if fixed { me } else { 0 }];
            let held = outer.lock();
            let inner = (groups.members[me].plus(1) == 1).then(|| groups.inner.lock());
            drop(held);
            let held = outer.lock();
            if groups.members[me].plus(-1) == 0 {
                drop(inner);
            }
            drop(held);
        }
    };
    let members = [spawn(&groups, pass(0)), spawn(&groups, pass(1))];
    let idle = [spawn(&groups, |_| ()), spawn(&groups, |_| ())];
    join(members.into_iter().chain(idle));
}

/// Smoke test: the sum is always what it must not be.
pub(super) fn arithmetic_prog(fixed: bool) {
    let total = Arc::new((Lock::new(), Var::new(0)));
    let add = |(lock, total): &(Lock, Var)| {
        let _held = lock.lock();
        total.plus(3);
    };
    join([spawn(&total, add), spawn(&total, add)]);
    assert_eq!(super::words::alone(total).1.last() == 6, fixed, "the sum is 6");
}

/// Smoke test: a lock is never given back, and whoever comes second waits for ever.
pub(super) fn phase01(fixed: bool) {
    let two = Arc::new(Two { a: Lock::new(), b: Lock::new(), shared: Var::new(0) });
    let pass = move |two: &Two| {
        let first = two.a.lock();
        let second = two.b.lock();
        two.shared.plus(1);
        drop(second);
        if !fixed {
            std::mem::forget(first);
        }
    };
    join([spawn(&two, pass), spawn(&two, pass)]);
}

/// Smoke test: the producer waits for an empty store, the consumer has left, and `left` are there.
pub(super) fn sync_waits(stored: i64, rounds: usize, fixed: bool) {
    struct Store {
        number: Var,
        lock: Lock,
        empty: Condition,
        full: Condition,
    }
    let store = Arc::new(Store {
        number: Var::new(stored),
        lock: Lock::new(),
        empty: Condition::new(),
        full: Condition::new(),
    });
    let producer = spawn(&store, move |store| {
        for _ in 0..rounds {
            let mut held = store.lock.lock();
            while store.number.read() > 0 {
                held = store.empty.wait(held);
            }
            store.number.plus(1);
            drop(held);
            store.full.signal();
        }
    });
    // The fix: the consumer takes everything.
    let meals = if fixed { stored + rounds as i64 - 1 } else { 1 };
    let consumer = spawn(&store, move |store| {
        for _ in 0..meals {
            let mut held = store.lock.lock();
            while store.number.read() == 0 {
                held = store.full.wait(held);
            }
            store.number.plus(-1);
            drop(held);
            store.empty.signal();
        }
    });
    join([producer, consumer]);
}
