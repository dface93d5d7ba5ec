//! What a report does not claim, and what it does not hide.

use drawloom::sync::atomic::{AtomicUsize, Ordering};
use drawloom::sync::{Arc, Condvar, Mutex};
use drawloom::thread;
use drawloom_report::Explanation;
use drawloom_report::explain::Class;

/// The explanation of what is found first, and its report.
fn explained(config: &str, body: fn()) -> (Explanation, String) {
    let found =
        drawloom::explore(format!("{config}, trace = false, threads = 1").parse().expect("a configuration"), body);
    let failure = found.findings().first().expect("something is found");
    (*failure.record().explanation.clone().expect("it is explained"), failure.report())
}

#[test]
fn a_long_program_is_no_livelock() {
    let (explanation, report) = explained("random, iterations = 1, max_steps = 300", || {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let add = |count: &AtomicUsize| {
            for _ in 0..1_000 {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        let worker = thread::spawn(move || add(&theirs));
        add(&count);
        worker.join().unwrap();
    });
    assert_eq!(explanation.class, None, "{report}");
    assert!(explanation.sentence.starts_with("Unfinished after 300 steps"), "{report}");
}

#[test]
fn who_goes_round_in_circles_is_one() {
    let (explanation, report) = explained("random, iterations = 1, max_steps = 300", || {
        let flag = AtomicUsize::new(0);
        while flag.load(Ordering::SeqCst) == 0 {}
    });
    assert_eq!(explanation.class, Some(Class::Livelock), "{report}");
}

/// Passes only if the worker's two steps come last: about one in ten random schedules.
fn seldom_passes() {
    let turn = Arc::new(AtomicUsize::new(0));
    let theirs = turn.clone();
    let worker = thread::spawn(move || {
        let seen = theirs.load(Ordering::SeqCst);
        theirs.store(seen + 10, Ordering::SeqCst);
    });
    for _ in 0..3 {
        turn.fetch_add(1, Ordering::SeqCst);
    }
    let seen = turn.load(Ordering::SeqCst);
    worker.join().unwrap();
    assert_eq!(seen, 3, "the worker came before the end");
}

#[test]
fn what_passes_now_and_then_does_not_fail_in_any_order() {
    for seed in 0..20 {
        let config = format!("random, iterations = 100, seed = {seed}");
        let (explanation, report) = explained(&config, seldom_passes);
        assert_ne!(explanation.class, Some(Class::AnyOrder), "seed {seed}: {report}");
    }
}

#[test]
fn what_always_fails_says_in_how_many_schedules() {
    let (explanation, report) = explained("auto", || {
        let worker = thread::spawn(|| thread::yield_now());
        worker.join().unwrap();
        let (a, b) = (AtomicUsize::new(2), AtomicUsize::new(2));
        assert_eq!(a.load(Ordering::SeqCst) + b.load(Ordering::SeqCst), 5);
    });
    assert_eq!(explanation.class, Some(Class::AnyOrder), "{report}");
    assert!(explanation.sentence.starts_with("Fails in all of 41 schedules that were tried"), "{report}");
}

/// A worker's panic is meant to be looked after; but before that main waits for somebody whom the worker owed a wake-up.
fn intended_panic() {
    let ready = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = ready.clone();
    let loader = thread::Builder::new().name("loader".into());
    let loader = loader
        .spawn(move || {
            assert!(theirs.0.lock().is_err(), "no such file");
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_all();
        })
        .unwrap();
    let waiter = thread::Builder::new().name("waiter".into());
    let waiter = waiter
        .spawn(move || {
            let mut is_ready = ready.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            while !*is_ready {
                is_ready = ready.1.wait(is_ready).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        })
        .unwrap();
    waiter.join().unwrap();
    let failed = loader.join().is_err();
    assert!(failed);
}

#[test]
fn a_panic_does_not_hide_who_waits_for_ever() {
    let (explanation, report) = explained("auto", intended_panic);
    assert!(report.contains("no such file"), "{report}");
    assert!(report.contains("These then wait for ever:"), "{report}");
    assert!(report.contains("waiter"), "{report}");
    assert_eq!(explanation.class, Some(Class::Starvation), "{report}");
    assert!(explanation.sentence.contains("had panicked with `no such file`"), "{report}");
}
