//! Exhaustive exploration with little memory misses nothing and counts nothing twice.

use std::collections::HashSet;

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::{Engine, Limits};

use crate::driver::{ALONE, Program, Run, canonical, generate_choosing, generate_left, run_on};
use crate::exhaustive::{LARGE, SMALL, compare, compare_those};
use crate::published::{Row, rows};

/// What an exploration took.
struct Took {
    executions: usize,
    redundant: usize,
    most_steps: usize,
}

/// Explores with at most `memory` bytes, and visits the executions that count.
fn explore(program: &Program, limits: &Limits, memory: usize, mut visit: impl FnMut(&Run)) -> Took {
    let explorer = Explorer::new(ALONE, u64::MAX).with_memory(memory);
    let mut engine = Engine::new();
    let mut took = Took { executions: 0, redundant: 0, most_steps: 0 };
    while let Some(mut strategy) = explorer.claim() {
        let run = run_on(&mut engine, program, &mut strategy, limits, 0);
        assert!(run.finding.as_deref() != Some("divergence"), "{:?}", run.kind);
        if explorer.was_redundant(strategy.ticket()) {
            took.redundant += 1;
        } else {
            took.executions += 1;
            visit(&run);
        }
        took.most_steps = took.most_steps.max(explorer.progress().steps_held);
    }
    assert!(explorer.progress().exhausted);
    took
}

fn check<'a>(rows: impl Iterator<Item = &'a Row>, memory: usize) {
    for row in rows {
        let mut classes = HashSet::new();
        let mut blocked = 0;
        let took = explore(&Program::parse(row.text), &Limits::default(), memory, |run| {
            classes.insert(canonical(run));
            blocked += usize::from(run.finding.is_some());
        });
        println!("{}: {} redundant, {} steps at most", row.name, took.redundant, took.most_steps);
        let found = (classes.len(), took.executions, blocked);
        assert_eq!(found, (row.classes, row.classes, row.blocked), "{}: classes, executions, blocked", row.name);
    }
}

#[test]
fn each_class_of_a_small_program_counts_once() {
    check(rows(SMALL), 0);
    check(rows(SMALL), 2000);
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn each_class_of_a_large_program_counts_once() {
    check(rows(LARGE), 0);
    check(rows(LARGE), 20_000);
}

/// Memory runs short at once, or after a while.
pub fn frugally(seed: u64, program: &Program, limits: &Limits, visit: &mut dyn FnMut(&Run)) -> usize {
    let memory = if seed % 2 == 0 { 0 } else { 48 * (seed as usize % 100) };
    explore(program, limits, memory, visit).executions
}

#[test]
fn random_programs_have_no_other_classes() {
    assert!(compare(0..400, 300, frugally) > 100);
}

#[test]
fn choices_and_what_is_left_to_the_environment_have_no_other_classes() {
    for generate in [generate_choosing, generate_left] {
        assert!(compare_those(generate, 0..80, 300, |_, _| None, frugally) > 10);
    }
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes() {
    println!("{} programs", compare(0..30_000, 20_000, frugally));
}
