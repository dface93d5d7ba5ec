//! Programs of SCTBench and ConVul, with the numbers of classes and of failing ones that an independent
//! model of them gives.
//!
//! In the model all operations on one mutex depend on each other. Here only requests do; an unlock comes
//! after its own lock and before the next, so both count the same. A task whose assertion fails
//! goes on in the model: so it does here, and main fails when all is over.

use std::sync::atomic::AtomicBool;

use drawloom::sync::atomic::{AtomicI64, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::thread;

use crate::twins::Pair;

/// What the programs share, whatever they call it.
#[derive(Default)]
struct Shared {
    x: AtomicI64,
    y: AtomicI64,
    z: AtomicI64,
    freed: [AtomicI64; 3],
    m: Mutex<()>,
    n: Mutex<()>,
    /// Not under control: whoever fails goes on.
    failed: AtomicBool,
}

type Task = &'static (dyn Fn(&Shared) + Sync);

impl Shared {
    fn with(x: i64, y: i64, z: i64) -> Arc<Self> {
        Arc::new(Shared { x: x.into(), y: y.into(), z: z.into(), ..Shared::default() })
    }

    fn check(&self, holds: bool) {
        if !holds {
            self.failed.store(true, SeqCst);
        }
    }

    /// Runs the tasks, joins them, and fails if one of them has.
    fn run<const N: usize>(self: Arc<Self>, tasks: [Task; N]) {
        let tasks = tasks.map(|task| {
            let shared = self.clone();
            thread::spawn(move || task(&shared))
        });
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert!(!self.failed.load(SeqCst), "a check did not hold");
    }
}

fn get(variable: &AtomicI64) -> i64 {
    variable.load(SeqCst)
}

fn set(variable: &AtomicI64, value: i64) {
    variable.store(value, SeqCst);
}

/// A plain increment: a load, then a store.
fn add(variable: &AtomicI64, value: i64) -> i64 {
    let sum = get(variable) + value;
    set(variable, sum);
    sum
}

/// B01: the checker expects a wrong balance. `x` is the balance; `y` and `z` say who has been there.
fn account(fixed: bool) {
    fn check(s: &Shared, expected: i64) {
        let _guard = s.m.lock().unwrap();
        if get(&s.y) == 1 && get(&s.z) == 1 {
            s.check(get(&s.x) == expected);
        }
    }
    fn change(s: &Shared, by: i64, done: &AtomicI64) {
        let _guard = s.m.lock().unwrap();
        add(&s.x, by);
        set(done, 1);
    }
    let checker: Task = if fixed { &|s| check(s, -1) } else { &|s| check(s, -5) };
    Shared::with(1, 0, 0).run([checker, &|s| change(s, 2, &s.y), &|s| change(s, -4, &s.z)]);
}

/// B02, the bluetooth driver: `x` counts who is inside, `y` says that it is to stop, `z` that it may. Fixed,
/// it counts itself before it asks.
fn bluetooth(fixed: bool) {
    fn stop(s: &Shared) {
        set(&s.y, 1);
        if s.x.fetch_sub(1, SeqCst) == 1 {
            set(&s.z, 1);
        }
        if get(&s.z) == 1 {
            set(&s.freed[0], 1);
        }
    }
    fn leave(s: &Shared) {
        if s.x.fetch_sub(1, SeqCst) == 1 {
            set(&s.z, 1);
        }
    }
    fn buggy(s: &Shared) {
        if get(&s.y) == 0 {
            s.x.fetch_add(1, SeqCst);
            s.check(get(&s.freed[0]) == 0);
        }
        leave(s);
    }
    fn right(s: &Shared) {
        s.x.fetch_add(1, SeqCst);
        if get(&s.y) == 0 {
            s.check(get(&s.freed[0]) == 0);
        }
        leave(s);
    }
    Shared::with(1, 0, 0).run([&stop, if fixed { &right } else { &buggy }]);
}

/// B06: who reads may come last.
fn lazy(fixed: bool) {
    fn raise(s: &Shared, by: i64) {
        let _guard = s.m.lock().unwrap();
        add(&s.x, by);
    }
    fn check(s: &Shared, below: i64) {
        let _guard = s.m.lock().unwrap();
        s.check(get(&s.x) < below);
    }
    let checker: Task = if fixed { &|s| check(s, 4) } else { &|s| check(s, 3) };
    Shared::with(0, 0, 0).run([&|s| raise(s, 1), &|s| raise(s, 2), checker]);
}

/// B08, two setters and a checker. Fixed, a mutex is around each of them.
fn reorder(fixed: bool) {
    fn setter(s: &Shared) {
        set(&s.x, 1);
        set(&s.y, -1);
    }
    fn checker(s: &Shared) {
        if get(&s.x) == 0 && get(&s.y) == 0 {
            return;
        }
        s.check(get(&s.x) == 1 && get(&s.y) == -1);
    }
    if fixed {
        Shared::with(0, 0, 0).run([&|s| locked(s, setter), &|s| locked(s, setter), &|s| locked(s, checker)]);
    } else {
        Shared::with(0, 0, 0).run([&setter, &setter, &checker]);
    }
}

/// B11: a reader between the two stages of a writer. Fixed, the first mutex is held over both.
fn two_stage(fixed: bool) {
    fn writer(s: &Shared, fixed: bool) {
        let mut first = Some(s.m.lock().unwrap());
        set(&s.x, 1);
        if !fixed {
            first = None;
        }
        let _second = s.n.lock().unwrap();
        set(&s.y, get(&s.x) + 1);
        drop(first);
    }
    fn reader(s: &Shared) {
        let first = s.m.lock().unwrap();
        if get(&s.x) == 0 {
            return;
        }
        let x = get(&s.x);
        drop(first);
        let _second = s.n.lock().unwrap();
        s.check(get(&s.y) == x + 1);
    }
    Shared::with(0, 0, 0).run([if fixed { &|s| writer(s, true) } else { &|s| writer(s, false) }, &reader]);
}

/// B14, JDK 1.4's `StringBuffer`: its length changes between two locks. Fixed, there is one.
fn string_buffer(fixed: bool) {
    fn append(s: &Shared, fixed: bool) {
        let _other = s.n.lock().unwrap();
        let mut guard = Some(s.m.lock().unwrap());
        let length = get(&s.x);
        if !fixed {
            drop(guard.take());
        }
        get(&s.y);
        let _guard = guard.unwrap_or_else(|| s.m.lock().unwrap());
        s.check(length <= get(&s.x));
        drop(_guard);
        set(&s.y, 1);
    }
    fn change(s: &Shared) {
        for by in [-3, 3] {
            let _guard = s.m.lock().unwrap();
            add(&s.x, by);
        }
    }
    Shared::with(3, 0, 0).run([if fixed { &|s| append(s, true) } else { &|s| append(s, false) }, &change]);
}

/// C01, CVE-2009-3547: `x` may be null. Fixed, one looks.
fn null_pointer(fixed: bool) {
    fn user(s: &Shared, fixed: bool) {
        let _guard = s.m.lock().unwrap();
        s.check(get(&s.x) != 0 || fixed);
    }
    fn closer(s: &Shared) {
        let _guard = s.m.lock().unwrap();
        set(&s.x, 0);
    }
    Shared::with(1, 0, 0).run([if fixed { &|s| user(s, true) } else { &|s| user(s, false) }, &closer]);
}

/// C03, CVE-2015-7550: the flag `x` is read without the lock. Fixed, with it.
fn revoked_key(fixed: bool) {
    fn buggy(s: &Shared) {
        if get(&s.x) == 0 {
            let _guard = s.m.lock().unwrap();
            s.check(get(&s.y) != 0);
        }
    }
    fn right(s: &Shared) {
        let _guard = s.m.lock().unwrap();
        if get(&s.x) == 0 {
            s.check(get(&s.y) != 0);
        }
    }
    fn revoke(s: &Shared) {
        let _guard = s.m.lock().unwrap();
        set(&s.x, 2);
        set(&s.y, 0);
    }
    Shared::with(0, 1, 0).run([if fixed { &right } else { &buggy }, &revoke]);
}

/// C04, CVE-2016-1972, twice the same task. `x`: waiters, `y`: done, `z`: the pointer. Fixed, a mutex is
/// around it.
fn waiters(fixed: bool) {
    fn task(s: &Shared) {
        if get(&s.y) != 0 {
            return;
        }
        add(&s.x, 1);
        s.check(get(&s.z) != 0);
        let guard = s.m.lock().unwrap();
        s.check(get(&s.z) != 0);
        if get(&s.y) == 0 {
            set(&s.y, 1);
        }
        drop(guard);
        if add(&s.x, -1) == 0 {
            s.check(get(&s.z) != 0);
            set(&s.z, 0);
        }
    }
    let body: Task = if fixed { &|s| outer(s, task) } else { &task };
    Shared::with(0, 0, 1).run([body, body]);
}

/// C06, CVE-2016-7911: looked at, then used. Fixed, under the mutex.
fn context(fixed: bool) {
    fn user(s: &Shared) {
        if get(&s.x) != 0 {
            s.check(get(&s.x) != 0);
        }
    }
    fn exit(s: &Shared) {
        get(&s.x);
        set(&s.x, 0);
    }
    Shared::with(1, 0, 0).run([if fixed { &|s| locked(s, user) } else { &user }, &|s| locked(s, exit)]);
}

/// C07, CVE-2016-9806, a double free. Fixed, it is freed under the mutex.
fn double_free(fixed: bool) {
    fn task(s: &Shared, id: i64, fixed: bool) {
        let mut guard = Some(s.m.lock().unwrap());
        set(&s.x, id);
        if !fixed {
            guard = None;
        }
        let buffer = get(&s.x);
        s.check(s.freed[buffer as usize].swap(1, SeqCst) == 0);
        drop(guard);
    }
    if fixed {
        Shared::with(0, 0, 0).run([&|s| task(s, 1, true), &|s| task(s, 2, true)]);
    } else {
        Shared::with(0, 0, 0).run([&|s| task(s, 1, false), &|s| task(s, 2, false)]);
    }
}

/// C09, CVE-2017-6346, a use after free. Fixed, a mutex is around it.
fn rollover(fixed: bool) {
    fn task(s: &Shared, id: i64) {
        set(&s.x, id);
        let r = get(&s.x);
        s.check(r != 0);
        s.check(get(&s.freed[r as usize]) == 0);
        drop(s.m.lock().unwrap());
        let r = get(&s.x);
        if r != 0 {
            s.check(s.freed[r as usize].swap(1, SeqCst) == 0);
        }
        set(&s.x, 0);
    }
    if fixed {
        Shared::with(0, 0, 0).run([&|s| outer(s, |s| task(s, 1)), &|s| outer(s, |s| task(s, 2))]);
    } else {
        Shared::with(0, 0, 0).run([&|s| task(s, 1), &|s| task(s, 2)]);
    }
}

fn locked(s: &Shared, body: fn(&Shared)) {
    let _guard = s.m.lock().unwrap();
    body(s);
}

/// As [`locked`], with the mutex that such a body does not use itself.
fn outer(s: &Shared, body: fn(&Shared)) {
    let _guard = s.n.lock().unwrap();
    body(s);
}

const fn pair(name: &'static str, body: fn(bool), classes: u64, failing: u64, fixed: u64) -> Pair {
    Pair { name, body, kind: "panic", classes, failing, fixed }
}

/// Classes and failing ones are the model's; those of the fixed twins come from brute force.
pub const PAIRS: &[Pair] = &[
    pair("B01 account", account, 6, 2, 6),
    pair("B02 bluetooth", bluetooth, 10, 1, 9),
    pair("B06 lazy01", lazy, 6, 2, 6),
    pair("B08 reorder_3", reorder, 56, 12, 6),
    pair("B11 twostage", two_stage, 3, 1, 2),
    pair("B14 stringbuffer", string_buffer, 6, 1, 3),
    pair("C01 CVE-2009-3547", null_pointer, 2, 1, 2),
    pair("C03 CVE-2015-7550", revoked_key, 3, 1, 2),
    pair("C04 CVE-2016-1972", waiters, 128, 60, 2),
    pair("C06 CVE-2016-7911", context, 3, 1, 2),
    pair("C07 CVE-2016-9806", double_free, 6, 4, 2),
    pair("C09 CVE-2017-6346", rollover, 82, 58, 2),
];
