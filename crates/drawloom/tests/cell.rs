//! Cells under control: what only an exploration shows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use drawloom::cell::{Cell, UnsafeCell, UnsafeCellExt};
use drawloom::{explore, thread};

struct Shared<T>(T);
// SAFETY: tasks of an execution take turns; this is what a user promises wrongly.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

/// What the executions of `body` came to; that its accesses race is no news.
fn results(body: impl Fn() -> u32 + Send + Sync + 'static) -> BTreeSet<u32> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let config = "random(iterations = 100), keep_going = true, threads = 1, trace = false";
    let exploration = explore(config.parse().expect("a valid configuration"), move || {
        let result = body();
        theirs.lock().unwrap().insert(result);
    });
    if let Some(failure) = exploration.findings().iter().find(|f| f.kind() != "data race") {
        panic!("{}", failure.report());
    }
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn an_update_of_plain_memory_can_be_lost() {
    fn add<C: UnsafeCellExt<Value = u32>>(cell: &C) {
        // SAFETY: tasks take turns, and none is interrupted inside of the closures.
        let value = cell.with(|p| unsafe { *p });
        // SAFETY: as above.
        cell.with_mut(|p| unsafe { *p = value + 1 });
    }
    let sums = results(|| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = cell.clone();
        let other = thread::spawn(move || add(&theirs.0));
        add(&cell.0);
        other.join().unwrap();
        // SAFETY: the other task is gone.
        unsafe { *cell.0.get() }
    });
    assert_eq!(sums, [1, 2].into());

    let plain = std::cell::UnsafeCell::new(1);
    add(&plain);
    assert_eq!(plain.into_inner(), 2);
}

#[test]
fn a_cell_that_was_declared_sync_can_lose_updates_too() {
    let sums = results(|| {
        let cell = Arc::new(Shared(Cell::new(0)));
        let theirs = cell.clone();
        let other = thread::spawn(move || {
            let cell = &theirs.0;
            cell.update(|n| n + 1);
        });
        let mine = &cell.0;
        mine.set(mine.get() + 1);
        other.join().unwrap();
        mine.get()
    });
    assert_eq!(sums, [1, 2].into());
}
