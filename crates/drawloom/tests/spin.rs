//! Spin loops: they end under every strategy, and do not multiply behaviours under `exhaustive`.

use std::time::Duration;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use drawloom::{Exploration, explore, hint, thread};

fn exhaustive(body: impl Fn() + Send + Sync + 'static) -> Exploration {
    let exploration = explore("exhaustive, weak_failures = 0".parse().expect("a valid configuration"), body);
    assert!(exploration.exhausted(), "{}", exploration.summary());
    exploration
}

/// The other task does `noise` other things before it raises the flag that this one spins on.
fn spin_on_a_flag(noise: u32) {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        for _ in 0..noise {
            theirs.1.fetch_add(1, SeqCst);
        }
        theirs.0.store(true, SeqCst);
    });
    while !shared.0.load(SeqCst) {
        hint::spin_loop();
    }
    other.join().unwrap();
}

#[test]
fn a_spin_loop_is_two_behaviours_however_long_it_spins() {
    for noise in 0..4 {
        let exploration = exhaustive(move || spin_on_a_flag(noise));
        assert_eq!(exploration.executions(), 2, "noise {noise}");
        assert!(exploration.findings().is_empty());
    }
}

fn spin_lock(tasks: usize, broken: bool) {
    let lock = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let handles: Vec<_> = (0..tasks)
        .map(|_| {
            let lock = lock.clone();
            thread::spawn(move || {
                if broken {
                    while lock.0.load(SeqCst) {
                        hint::spin_loop();
                    }
                    lock.0.store(true, SeqCst);
                } else {
                    while lock.0.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
                        hint::spin_loop();
                    }
                }
                assert_eq!(lock.1.fetch_add(1, SeqCst), 0, "two tasks are inside");
                lock.1.fetch_sub(1, SeqCst);
                lock.0.store(false, SeqCst);
            })
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

#[test]
fn a_spin_lock_is_proved() {
    let exploration = exhaustive(|| spin_lock(2, false));
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
}

#[test]
fn a_broken_spin_lock_is_found() {
    let exploration = exhaustive(|| spin_lock(2, true));
    assert!(exploration.findings().iter().any(|f| f.message().contains("two tasks are inside")));
    assert!(exploration.failing_executions() < exploration.executions());
}

#[test]
fn spinning_on_what_never_changes_is_a_livelock() {
    let never = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(false, SeqCst));
        while !flag.load(SeqCst) {
            hint::spin_loop();
        }
        other.join().unwrap();
    };
    let exploration = explore("exhaustive, progress_bound = 100".parse().expect("a valid configuration"), never);
    assert_eq!((exploration.executions(), exploration.failing_executions()), (2, 2));
    assert_eq!(exploration.findings()[0].kind(), "livelock");
}

#[test]
fn spinning_until_a_sleeper_wakes_ends_under_every_strategy() {
    let body = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let sleeper = thread::spawn(move || {
            thread::sleep(Duration::from_secs(3600));
            theirs.store(true, SeqCst);
        });
        let other = flag.clone();
        let spinner = thread::spawn(move || {
            while !other.load(SeqCst) {
                thread::yield_now();
            }
        });
        while !flag.load(SeqCst) {
            hint::spin_loop();
        }
        spinner.join().unwrap();
        sleeper.join().unwrap();
    };
    for strategy in ["sequential", "round_robin", "random(iterations = 50)", "sticky(iterations = 50)", "exhaustive"] {
        let exploration = explore(strategy.parse().expect("a valid configuration"), body);
        assert!(exploration.findings().is_empty(), "{strategy}: {}", exploration.findings()[0].report());
    }
}
