//! Every bound of an exhaustive exploration that was hit is said.

use std::sync::atomic::AtomicU32 as Uncontrolled;
use std::time::Duration;

use drawloom::sync::Arc;
use drawloom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use drawloom::{Exploration, explore, thread};

/// Tasks count in one place, so many times each, and lose counts.
fn count(tasks: u32, times: u32) -> u32 {
    let cell = Arc::new(AtomicU32::new(0));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let cell = cell.clone();
            thread::spawn(move || (0..times).for_each(|_| cell.store(cell.load(SeqCst) + 1, SeqCst)))
        })
        .collect();
    tasks.into_iter().for_each(|task| task.join().unwrap());
    cell.load(SeqCst)
}

fn exhaust(arguments: &str, body: impl Fn() + Send + Sync + 'static) -> Exploration {
    // What is made before a bound is hit depends on how the work is shared out.
    explore(format!("exhaustive({arguments}), threads = 1").parse().expect("arguments"), body)
}

fn lossy(arguments: &str) -> String {
    exhaust(arguments, || assert!(count(2, 3) > 0)).summary()
}

#[test]
fn without_a_bound_everything_is_explored() {
    insta::assert_snapshot!(lossy(""), @"explored 328 executions, nothing found (exhausted)");
}

#[test]
fn a_budget_of_executions_is_said_with_an_estimate_of_what_there_is() {
    insta::assert_snapshot!(lossy("max_schedules = 100"), @"explored 100 executions, nothing found (not exhausted: max_schedules reached, estimated 220 classes)");
}

#[test]
fn a_depth_at_which_executions_are_cut_is_said() {
    insta::assert_snapshot!(lossy("max_depth = 14"), @"explored 188 executions, nothing found (not exhausted: 188 executions cut by max_depth)");
}

#[test]
fn little_memory_is_said() {
    insta::assert_snapshot!(lossy("memory_budget = 0"), @"explored 328 executions, nothing found (exhausted; frugal mode: 0 executions cut)");
}

#[test]
fn a_bound_of_preemptions_is_said() {
    insta::assert_snapshot!(lossy("preemptions = 0"), @"explored 56 executions, nothing found (exhausted up to 0 preemptions: 2 classes)");
    insta::assert_snapshot!(lossy("preemptions = 2"), @"explored 424 executions, nothing found (exhausted up to 2 preemptions: 56 classes)");
}

#[test]
fn a_bound_of_preemptions_that_nothing_exceeds_is_none() {
    let exploration = exhaust("preemptions = 9", || assert!(count(2, 1) > 0));
    assert!(exploration.exhausted() && exploration.exhausted_preemptions().is_none());
    insta::assert_snapshot!(exploration.summary(), @"explored 4 executions, nothing found (exhausted)");
}

#[test]
fn levels_that_were_explored_are_said_when_the_budget_ends_a_later_one() {
    insta::assert_snapshot!(lossy("preemptions = 4, max_schedules = 200"), @"explored 200 executions, nothing found (exhausted up to 1 preemption: 12 classes; beyond that max_schedules reached)");
}

#[test]
fn a_deadline_is_said_with_an_estimate() {
    let config = "exhaustive, timeout = 50ms".parse().expect("a configuration");
    let summary = explore(config, || assert!(count(4, 4) > 0)).summary();
    assert!(summary.contains("(not exhausted: out of time after "), "{summary}");
    assert!(summary.contains(", estimated ") && summary.ends_with(" classes)"), "{summary}");
}

#[test]
fn what_is_found_first_needs_few_preemptions() {
    let exploration = exhaust("preemptions = 3", || assert_eq!(count(2, 3), 6, "a count was lost"));
    assert_eq!(exploration.exhausted_preemptions(), Some(1), "{}", exploration.summary());
}

#[test]
fn with_all_failures_asked_for_the_simplest_of_each_cause_stays() {
    let config = "exhaustive(preemptions = 2), keep_going = true".parse().expect("a configuration");
    let exploration = explore(config, || assert_ne!(count(2, 3), 3, "half was lost"));
    assert_eq!((exploration.findings().len(), exploration.exhausted_preemptions()), (1, Some(2)));
    assert_eq!(exploration.findings()[0].occurrences(), exploration.failing_executions());
}

#[test]
fn a_program_that_does_not_repeat_itself_is_a_finding() {
    let runs = Uncontrolled::new(0);
    let exploration = exhaust("", move || {
        // The first execution is made twice, and they are the same.
        let rounds = if runs.fetch_add(1, SeqCst) < 2 { 2 } else { 0 };
        count(2, rounds);
    });
    assert!(!exploration.exhausted());
    assert_eq!(exploration.findings()[0].kind(), "divergence");
    let report = exploration.findings()[0].report();
    assert!(report.contains("The program behaved differently when its schedule was repeated"), "{report}");
    insta::assert_snapshot!(exploration.summary(), @"explored 2 executions, 1 failing (not exhausted: the program behaved differently when its schedule was repeated)");
}

#[test]
fn so_is_one_whose_tasks_do_something_else_in_the_same_order() {
    let runs = Uncontrolled::new(0);
    let exploration = exhaust("", move || {
        let cell = AtomicU32::new(0);
        let _seen = match runs.fetch_add(1, SeqCst) {
            0 | 1 => cell.load(SeqCst),
            _ => cell.swap(0, SeqCst),
        };
        count(2, 1);
    });
    assert!(!exploration.exhausted());
    let report = exploration.findings()[0].report();
    let found = report.find("expected:").map(|at| report[at..].lines().take(2).map(str::trim).collect::<Vec<_>>());
    assert_eq!(found, Some(vec!["expected: `load` by task 0", "found:    `read-modify-write` by task 0"]), "{report}");
}

/// A sleeper wakes before, between and after the two stores: three classes, of which two fail.
#[test]
fn timers_that_fire_early_are_explored_exhaustively() {
    let body = |expected: fn(u32) -> bool| {
        move || {
            let value = Arc::new(AtomicU32::new(0));
            let theirs = value.clone();
            let sleeper = thread::spawn(move || {
                thread::sleep(Duration::from_secs(1));
                assert!(expected(theirs.load(SeqCst)), "woken early");
            });
            value.store(1, SeqCst);
            value.store(2, SeqCst);
            sleeper.join().unwrap();
        }
    };
    let explored = |config: &str, expected| explore(config.parse().expect("a configuration"), body(expected));
    let failing = explored("exhaustive, clock = explore, keep_going = true", |value| value == 2);
    assert_eq!((failing.executions(), failing.failing_executions(), failing.exhausted()), (3, 2, true));
    let again = format!("replay(token = \"{}\"), clock = explore", failing.findings()[0].token());
    assert_eq!(explored(&again, |value| value == 2).findings().len(), 1);
    let proved = explored("exhaustive, clock = explore", |value| value <= 2);
    assert_eq!((proved.executions(), proved.findings().len(), proved.exhausted()), (3, 0, true));
    let refused = explored("exhaustive(preemptions = 1), clock = explore", |value| value <= 2);
    assert!(refused.error().is_some_and(|error| error.contains("`preemptions`")), "{:?}", refused.error());
    assert_eq!(explored("auto, clock = explore", |value| value == 2).findings().len(), 1);
    assert!(explored("auto, clock = explore", |value| value <= 2).exhausted());
}
