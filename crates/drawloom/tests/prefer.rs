//! Reader–writer locks that prefer one side.

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, RwLock};
use drawloom::{Exploration, Prefer, explore, thread};

fn explored(config: &str, body: fn(Prefer), whom: Prefer) -> Exploration {
    explore(format!("{config}, shrink = false").parse().expect("a valid configuration"), move || body(whom))
}

fn nothing_found(exploration: &Exploration) {
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
}

/// A task reads within a read, and another one writes.
fn read_twice(whom: Prefer) {
    let lock = Arc::new(RwLock::new(0));
    drawloom::prefer(&lock, whom);
    let theirs = lock.clone();
    let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
    let first = lock.read().unwrap();
    assert_eq!(*lock.read().unwrap(), *first);
    drop(first);
    writer.join().unwrap();
}

#[test]
fn a_read_within_a_read_is_let_in_by_a_lock_that_prefers_readers() {
    let clean = explored("exhaustive", read_twice, Prefer::Readers);
    nothing_found(&clean);
    assert!(clean.exhausted(), "{}", clean.summary());
    for whom in [Prefer::Nobody, Prefer::Writers] {
        assert_eq!(explored("exhaustive", read_twice, whom).findings()[0].kind(), "deadlock");
    }
}

/// Two readers, of whom one always asks before the other leaves, and a writer who ends that.
fn read_until_it_is_written(whom: Prefer) {
    let lock = Arc::new(RwLock::new(false));
    drawloom::prefer(&lock, whom);
    let reader = |ahead: u32| {
        let lock = lock.clone();
        thread::spawn(move || {
            let done = AtomicU32::new(0);
            let work = |times: u32| (0..times).for_each(|_| done.store(1, SeqCst));
            work(ahead);
            loop {
                let over = lock.read().unwrap();
                work(8);
                if *over {
                    return;
                }
            }
        })
    };
    let readers = [reader(0), reader(5)];
    *lock.write().unwrap() = true;
    readers.into_iter().for_each(|reader| reader.join().unwrap());
}

#[test]
fn a_writer_that_is_passed_over_for_ever_is_found() {
    let found = explored("round_robin", read_until_it_is_written, Prefer::Readers);
    let failure = &found.findings()[0];
    assert_eq!(failure.kind(), "starvation");
    assert!(failure.report().contains("lets others in first"));
    for whom in [Prefer::Nobody, Prefer::Writers] {
        nothing_found(&explored("round_robin", read_until_it_is_written, whom));
    }
}
