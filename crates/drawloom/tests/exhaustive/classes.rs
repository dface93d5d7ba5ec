//! Exhaustive exploration makes each class of a program on the public API exactly once.
//!
//! The programs and the numbers are those of the literature, on which independent tools agree; the
//! engine's own tests (`crates/engine/tests/scripted/exhaustive.rs`) have the same ones without an API.
//!
//! Two of them cannot be expressed:
//!
//! - `prodcons2-4-2` has two consumers, and a channel of std's has one receiver;
//! - `faac-6-1` counts increments whose results nobody uses as commuting (1 class): a library cannot
//!   know whether a result is used, so each order of the increments is a class (`faa-6-1`, 720).

use std::sync::Arc;

use crate::interpreter;
use crate::program::Program;
use crate::published::{Cost, rows};

const SMALL: &[Cost] = &[Cost::Small];
const LARGE: &[Cost] = &[Cost::Medium, Cost::Large];

const CONFIG: &str = "exhaustive(max_schedules = 100000, spurious_wakeups = 0, weak_failures = 0, trace = false";

fn check(costs: &'static [Cost], threads: u32) {
    for row in rows(costs) {
        let program = Arc::new(Program::parse(row.text));
        let config = format!("{CONFIG}, threads = {threads})").parse().expect("a configuration");
        let explored = drawloom::explore(config, move || interpreter::run(&program));
        let found = (explored.executions(), explored.failing_executions(), explored.exhausted());
        let first = explored.findings().first().map(drawloom::Failure::message);
        assert_eq!(
            found,
            (row.classes as u64, row.blocked as u64, true),
            "{}: {} {first:?}",
            row.name,
            explored.summary()
        );
        let stuck = |kind| matches!(kind, "deadlock" | "starvation");
        assert!(explored.findings().iter().all(|found| stuck(found.kind())), "{}", row.name);
    }
}

#[test]
fn each_class_of_a_small_program_is_made_once() {
    check(SMALL, 1);
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn each_class_of_a_large_program_is_made_once() {
    check(LARGE, 1);
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn two_workers_make_the_same_classes() {
    check(SMALL, 2);
    check(LARGE, 2);
}
