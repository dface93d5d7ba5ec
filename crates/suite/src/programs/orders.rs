//! Order violations and check-then-act: SCTBench's small ones.

use std::sync::Arc;

use super::words::{Lock, Var, join, spawn};

/// The checker's critical section comes last, and finds a balance that nobody thought of.
pub(super) fn account(fixed: bool) {
    struct Bank {
        balance: Var,
        deposited: Var,
        withdrawn: Var,
        lock: Lock,
    }
    let bank =
        Arc::new(Bank { balance: Var::new(1), deposited: Var::new(0), withdrawn: Var::new(0), lock: Lock::new() });
    let checker = spawn(&bank, move |bank| {
        let _held = bank.lock.lock();
        if bank.deposited.read() == 1 && bank.withdrawn.read() == 1 {
            assert_eq!(bank.balance.read(), if fixed { -1 } else { -5 }, "the balance is wrong");
        }
    });
    let deposit = spawn(&bank, |bank| {
        let _held = bank.lock.lock();
        bank.balance.plus(2);
        bank.deposited.write(1);
    });
    let withdraw = spawn(&bank, |bank| {
        let _held = bank.lock.lock();
        bank.balance.plus(-4);
        bank.withdrawn.write(1);
    });
    join([withdraw, deposit, checker]);
}

/// A request is admitted, the driver stops, the request goes on in a stopped driver.
pub(super) fn bluetooth(fixed: bool) {
    struct Driver {
        pending: Var,
        stopping: Var,
        event: Var,
        stopped: Var,
    }
    let driver =
        Arc::new(Driver { pending: Var::new(1), stopping: Var::new(0), event: Var::new(0), stopped: Var::new(0) });
    let release = |driver: &Driver| {
        if driver.pending.atomic_add(-1) == 0 {
            driver.event.write(1);
        }
    };
    let stop = spawn(&driver, move |driver| {
        driver.stopping.write(1);
        release(driver);
        if driver.event.read() == 1 {
            driver.stopped.write(1);
        }
    });
    let add = spawn(&driver, move |driver| {
        // The fix: announce oneself before looking.
        if fixed {
            driver.pending.atomic_add(1);
        }
        if driver.stopping.read() == 0 {
            if !fixed {
                driver.pending.atomic_add(1);
            }
            assert_eq!(driver.stopped.read(), 0, "the driver is stopped");
        }
        release(driver);
    });
    join([add, stop]);
}

/// The reader comes after both writers, and did not expect both.
pub(super) fn lazy01(fixed: bool) {
    struct Data {
        data: Var,
        lock: Lock,
    }
    let data = Arc::new(Data { data: Var::new(0), lock: Lock::new() });
    let add = |by| {
        move |data: &Data| {
            let _held = data.lock.lock();
            data.data.plus(by);
        }
    };
    let writers = [spawn(&data, add(1)), spawn(&data, add(2))];
    let reader = spawn(&data, move |data| {
        let _held = data.lock.lock();
        assert!(data.data.read() < if fixed { 4 } else { 3 }, "both have written");
    });
    join(writers.into_iter().chain([reader]));
}

/// A checker sees `a` of one setter and `b` of none.
pub(super) fn reorder(setters: usize, checkers: usize, fixed: bool) {
    struct Pair {
        a: Var,
        b: Var,
        lock: Lock,
    }
    let pair = Arc::new(Pair { a: Var::new(0), b: Var::new(0), lock: Lock::new() });
    let set = move |pair: &Pair| {
        let _held = fixed.then(|| pair.lock.lock());
        pair.a.write(1);
        pair.b.write(-1);
    };
    let check = move |pair: &Pair| {
        let _held = fixed.then(|| pair.lock.lock());
        if pair.a.read() == 0 && pair.b.read() == 0 {
            return;
        }
        assert!(pair.a.read() == 1 && pair.b.read() == -1, "half a pair");
    };
    let setters: Vec<_> = (0..setters).map(|_| spawn(&pair, set)).collect();
    let checkers: Vec<_> = (0..checkers).map(|_| spawn(&pair, check)).collect();
    join(setters.into_iter().chain(checkers));
}

/// A reader comes after the first stage of one writer and before the second stage of any.
pub(super) fn twostage(writers: usize, readers: usize, fixed: bool) {
    struct Stages {
        first: Var,
        second: Var,
        first_lock: Lock,
        second_lock: Lock,
    }
    let stages =
        Arc::new(Stages { first: Var::new(0), second: Var::new(0), first_lock: Lock::new(), second_lock: Lock::new() });
    let write = move |stages: &Stages| {
        let held = stages.first_lock.lock();
        stages.first.write(1);
        // The fix: keep the first lock for both stages.
        let held = if fixed {
            Some(held)
        } else {
            drop(held);
            None
        };
        let second = stages.second_lock.lock();
        stages.second.write(stages.first.read() + 1);
        drop(second);
        drop(held);
    };
    let read = |stages: &Stages| {
        let held = stages.first_lock.lock();
        if stages.first.read() == 0 {
            return;
        }
        let first = stages.first.read();
        drop(held);
        let held = stages.second_lock.lock();
        let second = stages.second.read();
        drop(held);
        assert_eq!(second, first + 1, "the second stage is missing");
    };
    let writers: Vec<_> = (0..writers).map(|_| spawn(&stages, write)).collect();
    let readers: Vec<_> = (0..readers).map(|_| spawn(&stages, read)).collect();
    join(writers.into_iter().chain(readers));
}

/// The length of a buffer is read, the lock is given up, and the buffer is shorter then.
pub(super) fn stringbuffer(fixed: bool) {
    struct Buffers {
        count: Var,
        other_count: Var,
        lock: Lock,
        other_lock: Lock,
    }
    let buffers =
        Arc::new(Buffers { count: Var::new(3), other_count: Var::new(0), lock: Lock::new(), other_lock: Lock::new() });
    let other = spawn(&buffers, |buffers| {
        for by in [-3, 3] {
            let _held = buffers.lock.lock();
            buffers.count.plus(by);
        }
    });
    {
        let _outer = buffers.other_lock.lock();
        let held = buffers.lock.lock();
        let length = buffers.count.read();
        // The fix: keep the lock until the characters are copied.
        let held = if fixed {
            Some(held)
        } else {
            drop(held);
            None
        };
        buffers.other_count.read();
        let held = held.unwrap_or_else(|| buffers.lock.lock());
        assert!(length <= buffers.count.read(), "the buffer was cut meanwhile");
        drop(held);
        buffers.other_count.write(length);
    }
    join([other]);
}
