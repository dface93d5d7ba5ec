//! Races that were vulnerabilities: ConVul's, reduced to their steps.

use std::sync::Arc;

use super::words::{Lock, Var, join, spawn, zeroes};

/// Memory that is there, or not: 1 or 0.
#[track_caller]
fn dereference(pointer: &Var) {
    assert_ne!(pointer.read(), 0, "a null pointer is followed");
}

/// CVE-2009-3547: the pipe is used after it was closed.
pub(super) fn cve_2009_3547(fixed: bool) {
    let pipe = Arc::new((Lock::new(), Var::new(1)));
    let user = spawn(&pipe, move |(lock, pipe)| {
        let _held = lock.lock();
        if !fixed || pipe.read() != 0 {
            dereference(pipe);
        }
    });
    let closer = spawn(&pipe, |(lock, pipe)| {
        let _held = lock.lock();
        pipe.write(0);
    });
    join([user, closer]);
}

/// CVE-2015-7550: the key is revoked between the look at its flags and its use.
pub(super) fn cve_2015_7550(fixed: bool) {
    struct Key {
        flags: Var,
        payload: Var,
        lock: Lock,
    }
    let key = Arc::new(Key { flags: Var::new(0), payload: Var::new(1), lock: Lock::new() });
    let reader = spawn(&key, move |key| {
        let held = fixed.then(|| key.lock.lock());
        if key.flags.read() == 0 {
            let _held = held.unwrap_or_else(|| key.lock.lock());
            dereference(&key.payload);
        }
    });
    let revoker = spawn(&key, |key| {
        let _held = key.lock.lock();
        key.flags.write(2);
        key.payload.write(0);
    });
    join([reader, revoker]);
}

/// CVE-2016-1972: the last one to leave clears what another has just looked at.
pub(super) fn cve_2016_1972(fixed: bool) {
    struct Once {
        waiters: Var,
        done: Var,
        pointer: Var,
        lock: Lock,
        whole: Lock,
    }
    let once = Arc::new(Once {
        waiters: Var::new(0),
        done: Var::new(0),
        pointer: Var::new(1),
        lock: Lock::new(),
        whole: Lock::new(),
    });
    let pass = move |once: &Once| {
        let _whole = fixed.then(|| once.whole.lock());
        if once.done.read() != 0 {
            return;
        }
        once.waiters.plus(1);
        dereference(&once.pointer);
        {
            let _held = once.lock.lock();
            dereference(&once.pointer);
            if once.done.read() == 0 {
                once.done.write(1);
            }
        }
        if once.waiters.plus(-1) == 0 {
            dereference(&once.pointer);
            once.pointer.write(0);
        }
    };
    join([spawn(&once, pass), spawn(&once, pass)]);
}

/// CVE-2016-7911: the context is there when looked at, and gone when used.
pub(super) fn cve_2016_7911(fixed: bool) {
    let context = Arc::new((Lock::new(), Var::new(1)));
    let user = spawn(&context, move |(lock, context)| {
        let _held = fixed.then(|| lock.lock());
        if context.read() != 0 {
            dereference(context);
        }
    });
    let freer = spawn(&context, |(lock, context)| {
        let _held = lock.lock();
        if context.read() != 0 {
            context.write(0);
        }
    });
    join([user, freer]);
}

#[track_caller]
fn free(freed: &Var) {
    assert_eq!(freed.swap(1), 0, "freed twice");
}

/// CVE-2016-9806: both free the buffer that was stored last.
pub(super) fn cve_2016_9806(fixed: bool) {
    struct Socket {
        buffer: Var,
        freed: [Var; 3],
        lock: Lock,
    }
    let socket = Arc::new(Socket { buffer: Var::new(0), freed: zeroes!(), lock: Lock::new() });
    let dump = |id: i64| {
        move |socket: &Socket| {
            let held = socket.lock.lock();
            socket.buffer.write(id);
            // The fix: free inside the lock.
            let held = if fixed {
                Some(held)
            } else {
                drop(held);
                None
            };
            free(&socket.freed[socket.buffer.read() as usize]);
            drop(held);
        }
    };
    join([spawn(&socket, dump(1)), spawn(&socket, dump(2))]);
}

/// CVE-2017-6346: a group that both have joined is freed by both, or used when it is gone.
pub(super) fn cve_2017_6346(fixed: bool) {
    struct Fanout {
        rollover: Var,
        freed: [Var; 3],
        lock: Lock,
        whole: Lock,
    }
    let fanout = Arc::new(Fanout { rollover: Var::new(0), freed: zeroes!(), lock: Lock::new(), whole: Lock::new() });
    let join_and_leave = |id: i64| {
        move |fanout: &Fanout| {
            let _whole = fixed.then(|| fanout.whole.lock());
            fanout.rollover.write(id);
            let group = fanout.rollover.read();
            assert_ne!(group, 0, "a null pointer is followed");
            assert_eq!(fanout.freed[group as usize].read(), 0, "used after it was freed");
            drop(fanout.lock.lock());
            let group = fanout.rollover.read();
            if group != 0 {
                free(&fanout.freed[group as usize]);
            }
            fanout.rollover.write(0);
        }
    };
    join([spawn(&fanout, join_and_leave(1)), spawn(&fanout, join_and_leave(2))]);
}
