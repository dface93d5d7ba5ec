//! Little memory costs executions, and no class.

use std::sync::Arc;

use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{Exploration, explore, thread};

use crate::interpreter;
use crate::program::Program;
use crate::published::{Cost, rows};

const PLAIN: &str = "max_schedules = 100000, resume = false, max_steps = 1000000, trace = false";

fn explore_with(budget: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    explore(format!("exhaustive({PLAIN}, memory_budget = {budget})").parse().expect("a configuration"), body)
}

/// Readers, and a writer that has a long way to go: that it comes before a reader is a long sequence.
fn long_way(readers: usize, steps: usize) -> impl Fn() + Send + Sync + 'static {
    move || {
        let cells = Arc::new([const { AtomicU32::new(0) }; 2]);
        let mut tasks: Vec<_> = (0..readers)
            .map(|_| {
                let cells = cells.clone();
                thread::spawn(move || assert!(cells[0].load(SeqCst) < 2))
            })
            .collect();
        tasks.push(thread::spawn(move || {
            for _ in 0..steps {
                cells[1].fetch_add(1, SeqCst);
            }
            cells[0].store(1, SeqCst);
        }));
        tasks.into_iter().for_each(|task| task.join().unwrap());
    }
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn executions_may_be_long_and_memory_short() {
    let [rich, poor] = ["1GiB", "128KiB"].map(|budget| explore_with(budget, long_way(2, 8_000)));
    for explored in [&rich, &poor] {
        assert!(explored.exhausted(), "{}", explored.summary());
        assert_eq!((explored.executions(), explored.failing_executions()), (1 << 2, 0), "{}", explored.summary());
    }
    assert!(!rich.summary().contains("frugal"), "{}", rich.summary());
    assert!(poor.summary().contains("frugal mode"), "{}", poor.summary());
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn large_programs_keep_their_classes_in_a_kibibyte() {
    for name in ["lastzero-10", "expbug-1", "ssb-12", "szymanski-2"] {
        let row = rows(&[Cost::Medium, Cost::Large]).find(|row| row.name == name).expect("a large program");
        let program = Arc::new(Program::parse(row.text));
        let explored = explore_with("1KiB", move || interpreter::run(&program));
        let found = (explored.executions(), explored.failing_executions(), explored.exhausted());
        assert_eq!(found, (row.classes as u64, row.blocked as u64, true), "{name}: {}", explored.summary());
        assert!(explored.summary().contains("frugal mode"), "{name}: {}", explored.summary());
    }
}
