//! Yields and spin loops: a yield changes no outcome, loops end under every strategy, and rounds that are cut are told.

use std::collections::BTreeSet;
use std::sync::Mutex as Uncontrolled;
use std::time::Duration;

use drawloom::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::{Exploration, explore, future, hint, thread};

fn exhaustive(body: impl Fn() + Send + Sync + 'static) -> Exploration {
    explore("exhaustive, weak_failures = 0".parse().expect("a valid configuration"), body)
}

/// What `body` returns in the executions of an exploration.
fn outcomes(config: &str, body: impl Fn() -> Vec<u32> + Send + Sync + 'static) -> (Exploration, BTreeSet<Vec<u32>>) {
    let seen = std::sync::Arc::new(Uncontrolled::new(BTreeSet::new()));
    let theirs = seen.clone();
    let exploration = explore(config.parse().expect("a valid configuration"), move || {
        let outcome = body();
        theirs.lock().unwrap().insert(outcome);
    });
    let seen = seen.lock().unwrap().clone();
    (exploration, seen)
}

fn store_yield_store() -> Vec<u32> {
    let x = Arc::new(AtomicU32::new(0));
    let theirs = x.clone();
    let other = thread::spawn(move || {
        theirs.store(1, SeqCst);
        thread::yield_now();
        theirs.store(2, SeqCst);
    });
    let seen = x.load(SeqCst);
    other.join().unwrap();
    vec![seen]
}

fn load_yield_load() -> Vec<u32> {
    let x = Arc::new(AtomicU32::new(0));
    let theirs = x.clone();
    let other = thread::spawn(move || {
        theirs.store(1, SeqCst);
        theirs.store(2, SeqCst);
    });
    let first = x.load(SeqCst);
    thread::yield_now();
    let second = x.load(SeqCst);
    other.join().unwrap();
    vec![first, second]
}

fn try_twice() -> Vec<u32> {
    let lock = Arc::new(Mutex::new(()));
    let theirs = lock.clone();
    let other = thread::spawn(move || drop(theirs.lock().unwrap()));
    let tried = if lock.try_lock().is_ok() {
        1
    } else {
        thread::yield_now();
        if lock.try_lock().is_ok() { 2 } else { 3 }
    };
    other.join().unwrap();
    vec![tried]
}

fn spin_thrice() -> Vec<u32> {
    let x = Arc::new(AtomicU32::new(0));
    let theirs = x.clone();
    let other = thread::spawn(move || {
        theirs.store(1, SeqCst);
        theirs.store(2, SeqCst);
    });
    let mut seen = 9;
    for _ in 0..3 {
        match x.load(SeqCst) {
            0 => hint::spin_loop(),
            value => {
                seen = value;
                break;
            }
        }
    }
    other.join().unwrap();
    vec![seen]
}

/// The same with a future that yields.
fn awaited_yield() -> Vec<u32> {
    future::block_on(async {
        let x = Arc::new(AtomicU32::new(0));
        let theirs = x.clone();
        let other = future::spawn(async move {
            theirs.store(1, SeqCst);
            future::yield_now().await;
            theirs.store(2, SeqCst);
        });
        let seen = x.load(SeqCst);
        other.await.unwrap();
        vec![seen]
    })
}

type Case = (fn() -> Vec<u32>, &'static [&'static [u32]]);

const CASES: [Case; 5] = [
    (store_yield_store, &[&[0], &[1], &[2]]),
    (load_yield_load, &[&[0, 0], &[0, 1], &[0, 2], &[1, 1], &[1, 2], &[2, 2]]),
    (try_twice, &[&[1], &[2], &[3]]),
    (spin_thrice, &[&[1], &[2], &[9]]),
    (awaited_yield, &[&[0], &[1], &[2]]),
];

#[test]
fn a_yield_may_return_at_once() {
    for (number, (body, expected)) in CASES.into_iter().enumerate() {
        let expected: BTreeSet<Vec<u32>> = expected.iter().map(|outcome| outcome.to_vec()).collect();
        for config in ["exhaustive", "auto", "random", "pos", "pct(depth = 3)", "surw", "urw", "corpus"] {
            let (exploration, seen) = outcomes(config, body);
            assert_eq!(seen, expected, "{config}, case {number}: {}", exploration.summary());
            assert!(exploration.exhausted() || !matches!(config, "exhaustive" | "auto"), "{config}, case {number}");
        }
    }
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
fn rounds_of_a_spin_loop_are_cut_and_that_is_said() {
    for noise in 0..4 {
        let exploration = exhaustive(move || spin_on_a_flag(noise));
        // The flag is seen at the first look, or after one to four rounds.
        assert_eq!(exploration.executions(), 5, "noise {noise}");
        assert!(exploration.findings().is_empty());
        assert_eq!((exploration.exhausted(), exploration.cut_spin_rounds()), (false, Some(3)));
        assert_eq!(
            exploration.summary(),
            "explored 5 executions, nothing found (exhausted, spin loops cut after 3 rounds)"
        );
    }
}

#[test]
fn the_number_of_rounds_can_be_given() {
    for rounds in [1, 2, 7] {
        let config = format!("exhaustive, spin_rounds = {rounds}").parse().expect("a valid configuration");
        let exploration = explore(config, || spin_on_a_flag(1));
        assert_eq!(exploration.executions(), rounds + 2);
        assert_eq!(exploration.cut_spin_rounds(), Some(rounds as u32));
    }
}

#[test]
fn auto_goes_on_where_spin_loops_are_cut() {
    let exploration = explore("auto".parse().expect("a valid configuration"), || spin_on_a_flag(1));
    assert!(!exploration.exhausted());
    assert_eq!(exploration.cut_spin_rounds(), Some(3));
    assert!(exploration.executions() >= 1_000, "{}", exploration.summary());
}

/// A lock that spins before it waits.
#[test]
fn the_fallback_of_a_lock_that_spins_for_a_while_is_reached() {
    let (exploration, seen) = outcomes("auto", || {
        let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.store(true, SeqCst);
            theirs.1.fetch_add(1, SeqCst);
            theirs.1.fetch_add(1, SeqCst);
            theirs.0.store(false, SeqCst);
        });
        let free = (0..100).any(|_| {
            let free = !shared.0.load(SeqCst);
            if !free {
                hint::spin_loop();
            }
            free
        });
        let waits = !free && shared.0.load(SeqCst);
        other.join().unwrap();
        vec![u32::from(free), u32::from(waits)]
    });
    assert!(seen.contains(&vec![0, 1]), "{seen:?}: {}", exploration.summary());
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
fn a_spin_lock_is_proved_but_for_more_rounds() {
    let exploration = exhaustive(|| spin_lock(2, false));
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    assert_eq!(exploration.cut_spin_rounds(), Some(3), "{}", exploration.summary());
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
    assert_eq!(exploration.failing_executions(), exploration.executions());
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
