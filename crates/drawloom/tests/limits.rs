//! Large executions: memory is stated and bounded.

use drawloom::sync::atomic::{AtomicU64, Ordering::SeqCst};
use drawloom::sync::{Arc, Mutex};
use drawloom::{explore, thread};

const GIBIBYTE: u64 = 1 << 30;

fn config(text: &str) -> drawloom::Config {
    text.parse().expect("a valid configuration")
}

/// The most memory that this process has had so far, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a line about peak memory");
    let kibibytes: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    kibibytes * 1024
}

#[cfg(not(target_os = "linux"))]
fn peak_memory() -> u64 {
    0
}

#[test]
fn a_million_steps_fit_into_a_gibibyte() {
    let exploration = explore(config("random(iterations = 1), max_steps = 2_000_000, threads = 1"), || {
        let count = Arc::new(AtomicU64::new(0));
        let work = |count: Arc<AtomicU64>| {
            move || {
                for _ in 0..250_000 {
                    count.fetch_add(1, SeqCst);
                }
            }
        };
        let handles: Vec<_> = (0..4).map(|_| thread::spawn(work(count.clone()))).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        assert_eq!(count.load(SeqCst), 1_000_000);
    });
    assert!(exploration.findings().is_empty());
    assert!(exploration.steps() > 1_000_000);
    assert!(peak_memory() < GIBIBYTE, "{} bytes", peak_memory());
}

#[test]
fn ten_thousand_tasks_fit_into_a_gibibyte() {
    let exploration = explore(config("random(iterations = 1), threads = 1"), || {
        let sum = Arc::new(Mutex::new(0u64));
        let handles: Vec<_> = (0..10_000)
            .map(|i| {
                let sum = sum.clone();
                thread::spawn(move || *sum.lock().unwrap() += i)
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        assert_eq!(*sum.lock().unwrap(), 10_000 * 9_999 / 2);
    });
    assert!(exploration.findings().is_empty(), "{}", exploration.findings()[0].report());
    assert!(peak_memory() < GIBIBYTE, "{} bytes", peak_memory());
}
