//! Programs that isolate one property of a strategy each.

use std::sync::Arc;

use super::words::{Var, alone, join, spawn, spin};

/// Two increments that are a read and a write each, with `padding` private steps before and after.
pub(super) fn lost_update(padding: usize, fixed: bool) {
    struct Counter {
        count: Var,
        private: [Var; 2],
    }
    let counter = Arc::new(Counter { count: Var::new(0), private: [Var::new(0), Var::new(0)] });
    let increment = |me: usize| {
        move |counter: &Counter| {
            (0..padding).for_each(|_| counter.private[me].write(0));
            if fixed {
                counter.count.atomic_add(1);
            } else {
                counter.count.plus(1);
            }
            (0..padding).for_each(|_| counter.private[me].write(0));
        }
    };
    join([0, 1].map(|me| spawn(&counter, increment(me))));
    assert_eq!(alone(counter).count.last(), 2, "an update was lost");
}

/// Writes are acknowledged before the follower has them, and the follower stays behind for long.
pub(super) fn stale_read(fixed: bool) {
    struct Cluster {
        acknowledged: Var,
        channel: Var,
        replica: Var,
    }
    let cluster = Arc::new(Cluster { acknowledged: Var::new(0), channel: Var::new(0), replica: Var::new(0) });
    let leader = spawn(&cluster, move |cluster| {
        for version in 1..=3 {
            if fixed {
                cluster.channel.atomic_add(1);
                while cluster.replica.read() < version {
                    spin();
                }
                cluster.acknowledged.write(version);
            } else {
                cluster.acknowledged.write(version);
                cluster.channel.atomic_add(1);
            }
        }
    });
    let follower = spawn(&cluster, |cluster| {
        let mut version = 0;
        while version < 3 {
            if cluster.channel.read() > version {
                version += 1;
                cluster.replica.write(version);
            } else {
                spin();
            }
        }
    });
    let reader = spawn(&cluster, |cluster| {
        let mut stale = 0;
        for _ in 0..6 {
            let acknowledged = cluster.acknowledged.read();
            if cluster.replica.read() == 0 && acknowledged >= 3 {
                stale += 1;
            }
            assert!(stale < 3, "nothing of what was acknowledged, again and again");
        }
    });
    join([leader, follower, reader]);
}

/// One task has one step, and it must fall between two certain steps of a long one.
pub(super) fn needle(fixed: bool) {
    let x = Arc::new(Var::new(0));
    let long = spawn(&x, |x| (0..60).for_each(|value| x.write(value)));
    let short = spawn(&x, move |x| assert_ne!(x.read(), if fixed { 60 } else { 57 }, "the needle"));
    join([long, short]);
}

/// Depth 3: A is stopped, then B, then C runs, and then B must come before A.
pub(super) fn pct_label(fixed: bool) {
    struct State {
        a: Var,
        b: Var,
        c: Var,
        s: Var,
        z: Var,
        p: Var,
        q: Var,
    }
    let state = Arc::new(State {
        a: Var::new(0),
        b: Var::new(0),
        c: Var::new(0),
        s: Var::new(0),
        z: Var::new(0),
        p: Var::new(0),
        q: Var::new(0),
    });
    let a = spawn(&state, |state| {
        state.a.write(1);
        (0..3).for_each(|_| state.p.write(0));
        if state.s.read() == 2 {
            state.z.write(1);
            panic!("B came before A");
        }
    });
    let b = spawn(&state, move |state| {
        if state.a.read() == 1 {
            state.b.write(1);
        }
        (0..3).for_each(|_| state.q.write(0));
        if state.c.read() == 1 && state.s.read() == 1 {
            state.s.write(if fixed { 3 } else { 2 });
        }
    });
    let c = spawn(&state, |state| {
        if state.b.read() == 1 {
            state.c.write(1);
            state.s.write(1);
        }
    });
    join([a, b, c]);
}
