//! What is proved of programs that ask for less than sequential consistency.
#![cfg(feature = "controlled")]

use drawloom::hint::spin_until;
use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, Ordering, Ordering::*};
use drawloom::{Config, explore, thread};

/// Each task writes its own flag and looks at the other's: a processor may let both see nothing.
fn store_buffering(write: Ordering, read: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let flags = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let theirs = flags.clone();
        let other = thread::spawn(move || {
            theirs.1.store(1, write);
            theirs.0.load(read)
        });
        flags.0.store(1, write);
        let mine = flags.1.load(read);
        assert!(mine + other.join().unwrap() > 0, "both have seen nothing");
    }
}

fn summary(config: &str, body: impl Fn() + Send + Sync + 'static) -> String {
    let exploration = explore(config.parse::<Config>().expect("a configuration"), body);
    assert!(exploration.findings().is_empty() && exploration.exhausted(), "{}", exploration.summary());
    exploration.summary()
}

#[test]
fn exhausted_says_that_weaker_accesses_were_treated_as_sequentially_consistent() {
    let of = |write, read| summary("exhaustive", store_buffering(write, read));
    assert_eq!(of(SeqCst, SeqCst), "explored 3 executions, nothing found (exhausted)");
    let assumed = |n: &str| {
        format!("explored 3 executions, nothing found (exhausted, under sequential consistency: {n} treated as SeqCst)")
    };
    assert_eq!(of(Relaxed, Relaxed), assumed("4 weaker accesses were"));
    assert_eq!(of(Release, SeqCst), assumed("2 weaker accesses were"));
    assert_eq!(of(SeqCst, Acquire), assumed("2 weaker accesses were"));
}

#[test]
fn so_does_a_program_that_was_small_enough_and_one_on_several_threads() {
    let text = summary("auto", store_buffering(Relaxed, Relaxed));
    assert!(
        text.ends_with("classes, under sequential consistency: 4 weaker accesses were treated as SeqCst)"),
        "{text}"
    );
    let text = summary("exhaustive, threads = 4", store_buffering(Relaxed, SeqCst));
    assert!(text.contains("2 weaker accesses were treated as SeqCst"), "{text}");
    let bounded =
        explore("exhaustive(preemptions = 0)".parse().expect("a configuration"), store_buffering(Relaxed, Relaxed));
    assert!(bounded.summary().contains("under sequential consistency"), "{}", bounded.summary());
}

#[test]
fn every_kind_of_access_counts_once_however_often_it_is_made() {
    let exploration = explore("exhaustive".parse().expect("a configuration"), || {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = count.clone();
        let other = thread::spawn(move || {
            for _ in 0..2 {
                theirs.fetch_add(1, AcqRel);
            }
        });
        let _ = count.compare_exchange(7, 8, SeqCst, Relaxed);
        count.swap(0, SeqCst);
        other.join().unwrap();
        count.store(3, SeqCst);
        spin_until(&count, Acquire, |value| value == 3);
        count.load(SeqCst);
    });
    assert_eq!(exploration.weaker_accesses(), 3, "{}", exploration.summary());
}

#[test]
fn what_fails_proves_nothing_and_needs_no_assumption() {
    let exploration = explore("exhaustive".parse().expect("a configuration"), || {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = count.clone();
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        assert_eq!(count.load(Relaxed), 0);
        other.join().unwrap();
    });
    assert!(!exploration.summary().contains("sequential consistency"), "{}", exploration.summary());
}
