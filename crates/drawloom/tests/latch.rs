//! A latch is waited for until it has been counted down, under control and outside.

use std::time::Duration;

use drawloom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use drawloom::sync::{Arc, Latch};
use drawloom::{Exploration, explore, thread};

fn explored(config: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    explore(format!("{config}, threads = 1, trace = false").parse().expect("a configuration"), body)
}

/// Two tasks do something, and count down when it is done.
fn two_count_down(latch: &Arc<Latch>, done: &Arc<AtomicU32>) {
    for _ in 0..2 {
        let (latch, done) = (latch.clone(), done.clone());
        thread::spawn(move || {
            done.fetch_add(1, Relaxed);
            latch.count_down();
        });
    }
}

/// A report without the lines that differ from build to build.
fn stable(report: &str) -> String {
    let told = |line: &&str| !line.starts_with("replay: ") && !line.starts_with("trace: ");
    report.lines().filter(told).collect::<Vec<_>>().join("\n")
}

#[test]
fn who_waits_goes_on_when_all_have_counted() {
    let exploration = explored("exhaustive", || {
        let (latch, done) = (Arc::new(Latch::new(2)), Arc::new(AtomicU32::new(0)));
        two_count_down(&latch, &done);
        latch.wait();
        assert!(latch.is_open());
        assert_eq!(done.load(Relaxed), 2);
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    // Two orders of the additions, two of the count-downs.
    assert_eq!(exploration.executions(), 4);
}

#[test]
fn a_latch_that_is_too_large_is_told() {
    let exploration = explored("exhaustive", || {
        let (latch, done) = (Arc::new(Latch::new(3)), Arc::new(AtomicU32::new(0)));
        two_count_down(&latch, &done);
        latch.wait();
    });
    let finding = &exploration.findings()[0];
    assert_eq!(finding.kind(), "starvation");
    insta::assert_snapshot!("a_latch_that_is_too_large", stable(&finding.report().to_string()));
}

#[test]
fn a_latch_that_is_too_small_is_told_by_who_counts_too_often() {
    let exploration = explored("exhaustive", || {
        let (latch, done) = (Arc::new(Latch::new(1)), Arc::new(AtomicU32::new(0)));
        two_count_down(&latch, &done);
        latch.wait();
    });
    let finding = &exploration.findings()[0];
    assert_eq!(finding.kind(), "panic");
    assert!(finding.report().to_string().contains("a latch was counted down below zero"));
}

#[test]
fn a_wait_with_a_time_limit_ends_in_virtual_time() {
    let exploration = explored("exhaustive", || {
        let (latch, other) = (Arc::new(Latch::new(1)), Latch::new(1));
        let theirs = latch.clone();
        thread::spawn(move || theirs.count_down());
        assert!(latch.wait_timeout(Duration::from_secs(3600)));
        assert!(!other.wait_timeout(Duration::from_secs(3600)));
        assert!(Latch::new(0).is_open());
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
}

#[test]
fn outside_an_exploration_it_is_one_of_real_threads() {
    let latch = Arc::new(Latch::new(3));
    assert!(!latch.wait_timeout(Duration::from_millis(1)));
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let latch = latch.clone();
            std::thread::spawn(move || latch.arrive_and_wait())
        })
        .collect();
    assert!(!latch.is_open());
    latch.arrive_and_wait();
    tasks.into_iter().for_each(|task| task.join().expect("it was let go on"));
    assert!(latch.is_open());
    assert!(std::panic::catch_unwind(|| latch.count_down()).is_err());
}
