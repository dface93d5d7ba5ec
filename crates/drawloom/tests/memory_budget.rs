//! An exhaustive exploration that runs short of memory finds the same.

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{explore, thread};

#[test]
fn little_memory_costs_executions_but_no_behaviour() {
    let run = |config: &str| {
        explore(config.parse().expect("a configuration"), || {
            let cells = Arc::new([const { AtomicU32::new(0) }; 6]);
            let writers: Vec<_> = (1..6)
                .map(|i| {
                    let cells = cells.clone();
                    thread::spawn(move || cells[i].store(cells[i - 1].load(SeqCst) + 1, SeqCst))
                })
                .collect();
            let mut last = 5;
            while cells[last].load(SeqCst) != 0 {
                last -= 1;
            }
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            assert!(last > 0, "the reader found no zero but the first");
        })
    };
    let (rich, poor) = (run("exhaustive"), run("exhaustive(memory_budget = 1KiB)"));
    let came_to = |e: &drawloom::Exploration| (e.exhausted(), e.executions(), e.failing_executions(), e.steps());
    assert_eq!(came_to(&rich), came_to(&poor));
    assert!(rich.exhausted() && rich.failing_executions() > 0 && rich.redundant_executions() == 0);
    assert!(poor.redundant_executions() > 0);
    let said = format!("(exhausted; frugal mode: {} executions cut)", poor.redundant_executions());
    assert!(poor.summary().ends_with(&said), "{}", poor.summary());
}
