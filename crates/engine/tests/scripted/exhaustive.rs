//! Exhaustive exploration makes each class exactly once.
//!
//! The expected numbers are published ones, on which independent tools and algorithms agree. An
//! execution more would be a class made twice; one less, a class missed.

use std::collections::HashSet;
use std::sync::Arc;

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::guard::Armed;
use drawloom_engine::{Budget, Budgets, Engine, Limits};

use crate::driver::{
    ALONE, Program, Run, canonical, generate, generate_choosing, generate_closing, generate_exchanging,
    generate_preferring, run_on, up_to,
};
use crate::published::{Cost, rows};

/// Programs for a debug build.
pub const SMALL: &[Cost] = &[Cost::Small, Cost::Medium, Cost::Engine];
/// Programs that take seconds in one.
pub const LARGE: &[Cost] = &[Cost::Large];

/// Every execution of an exhaustive exploration; the class of each.
pub fn explore(program: &Program, limits: &Limits, mut visit: impl FnMut(&Run)) -> usize {
    let explorer = Explorer::new(ALONE, u64::MAX);
    let mut engine = Engine::new();
    let mut executions = 0;
    while let Some(mut strategy) = explorer.claim() {
        let ticket = strategy.ticket();
        let run = run_on(&mut engine, program, &mut strategy, limits, 0);
        assert!(run.finding.as_deref() != Some("divergence"), "{:?}", run.kind);
        if !explorer.was_redundant(ticket) {
            executions += 1;
            visit(&run);
        }
    }
    assert!(explorer.progress().exhausted, "{:?} under {:?}", explorer.take_divergence(), limits.guard);
    executions
}

fn check(costs: &'static [Cost]) {
    for row in rows(costs) {
        let mut classes = HashSet::new();
        let mut blocked = 0;
        let executions = explore(&Program::parse(row.text), &Limits::default(), |run| {
            classes.insert(canonical(run));
            blocked += usize::from(run.finding.is_some());
        });
        let found = (classes.len(), executions, blocked);
        assert_eq!(found, (row.classes, row.classes, row.blocked), "{}: classes, executions, blocked", row.name);
    }
}

#[test]
fn each_class_of_a_small_program_is_made_once() {
    check(SMALL);
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn each_class_of_a_large_program_is_made_once() {
    check(LARGE);
}

/// Compares with every schedule there is, on random programs of all kinds of operations. `explore` is given
/// the seed, visits the executions that count, and says how many these were.
pub fn compare(
    seeds: std::ops::Range<u64>,
    most: u64,
    explore: impl Fn(u64, &Program, &Limits, &mut dyn FnMut(&Run)) -> usize,
) -> u64 {
    compare_under(seeds, most, |_, _| None, explore)
}

pub type Generator = fn(u64) -> (Program, String);

/// As [`compare`], each program under a guard that is made for its seed and text.
pub fn compare_under(
    seeds: std::ops::Range<u64>,
    most: u64,
    guard: impl Fn(u64, &str) -> Option<Arc<Armed>>,
    explore: impl Fn(u64, &Program, &Limits, &mut dyn FnMut(&Run)) -> usize,
) -> u64 {
    compare_those(generate, seeds, most, guard, explore)
}

pub fn compare_those(
    generate: Generator,
    seeds: std::ops::Range<u64>,
    most: u64,
    guard: impl Fn(u64, &str) -> Option<Arc<Armed>>,
    explore: impl Fn(u64, &Program, &Limits, &mut dyn FnMut(&Run)) -> usize,
) -> u64 {
    let (compared, twice) = compare_and_count(generate, seeds, most, guard, explore);
    assert_eq!(twice, 0, "classes made twice");
    compared
}

/// The same where classes may be made twice: how many programs were compared, and how many classes were.
pub fn compare_and_count(
    generate: Generator,
    seeds: std::ops::Range<u64>,
    most: u64,
    guard: impl Fn(u64, &str) -> Option<Arc<Armed>>,
    explore: impl Fn(u64, &Program, &Limits, &mut dyn FnMut(&Run)) -> usize,
) -> (u64, usize) {
    let (mut compared, mut twice) = (0, 0);
    for seed in seeds {
        let (program, text) = generate(seed);
        // The enumeration takes exits without a choice, which asking for them would notice.
        if text.contains("isfinished") {
            continue;
        }
        let budgets = Budgets::NONE.with(Budget::Faults, 1);
        let limits = Limits { run_on: true, guard: guard(seed, &text), budgets, ..Limits::default() };
        let mut expected = HashSet::new();
        let outcome = |run: &Run| (run.registers.clone(), run.memory.clone(), run.finding.clone());
        let runs = up_to(most, &program, &limits, |run| {
            expected.insert((canonical(run), outcome(run)));
        });
        if runs.is_none() {
            continue;
        }
        compared += 1;
        let mut found = HashSet::new();
        let executions = explore(seed, &program, &limits, &mut |run| {
            found.insert((canonical(run), outcome(run)));
        });
        let missed = expected.difference(&found).count();
        let impossible = found.difference(&expected).count();
        assert_eq!((missed, impossible), (0, 0), "missed, impossible: seed {seed}, {:?}\n{text}", limits.guard);
        if executions > found.len() && twice == 0 {
            println!("{} twice: seed {seed}, {:?}\n{text}", executions - found.len(), limits.guard);
        }
        twice += executions - found.len();
    }
    (compared, twice)
}

pub fn exactly(_seed: u64, program: &Program, limits: &Limits, visit: &mut dyn FnMut(&Run)) -> usize {
    explore(program, limits, visit)
}

#[test]
fn random_programs_have_no_other_classes() {
    assert!(compare(0..400, 300, exactly) > 100);
}

/// Timers of one instant fire at once, before anybody goes on.
#[test]
fn timers_of_one_instant_have_no_other_classes() {
    const PROGRAMS: [&str; 4] = [
        "var x\nthread a; sleep 5; now r0; faa r1 x 1\nthread b; sleep 5; now r0; faa r1 x 1",
        "chan q 1\nthread a; recvfor r5 r0 q 5; now r1\nthread b; sleep 5; now r1; send q 1",
        "sem s 0\nthread a; parkfor r5 5; now r1\nthread b; sleep 5; unpark a; now r1\nthread c; sleep 5; now r0",
        "mutex m; cond c\nthread a; lock m; cvwaitfor r5 c m 5; unlock m; now r0\nthread b; sleep 5; notify c; now r0",
    ];
    let nth = |seed: u64| (Program::parse(PROGRAMS[seed as usize]), PROGRAMS[seed as usize].to_owned());
    assert_eq!(compare_those(nth, 0..4, 10_000, |_, _| None, exactly), 4);
}

#[test]
fn locks_that_prefer_one_side_have_no_other_classes() {
    assert!(compare_those(generate_preferring, 0..150, 1_000, |_, _| None, exactly) > 80);
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes() {
    println!("{} programs", compare(0..30_000, 20_000, exactly));
}

/// An exchange that is explored first succeeds in the sequence that is to be put beside it, and fails in its own place.
#[test]
fn an_exchange_beside_which_another_begins_is_what_it_is_there() {
    let text = "var x; var y
        thread a; load r0 y
        thread b; cas r0 x 1 0; cas r1 x 0 1
        thread c; cas r0 x 1 0; faa r1 y 1
        thread d; cas r0 x 0 1";
    assert_eq!(explore(&Program::parse(text), &Limits::default(), |_| ()), 20);
}

#[test]
fn exchanges_have_no_other_classes() {
    assert!(compare_those(generate_exchanging, 0..200, 300, |_, _| None, exactly) > 80);
}

#[test]
#[ignore = "a long run: use --release"]
fn many_exchanges_have_no_other_classes() {
    println!("{} programs", compare_those(generate_exchanging, 0..8_000, 2_000, |_, _| None, exactly));
}

#[test]
fn channels_that_anybody_may_close_have_no_other_classes() {
    let compared = compare_those(generate_closing, 0..200, 400, |_, _| None, exactly);
    assert!(compared > 80, "{compared}");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_channels_that_anybody_may_close_have_no_other_classes() {
    println!("{} programs", compare_those(generate_closing, 0..8_000, 2_000, |_, _| None, exactly));
}

/// What `c` chooses stays in the sequence by which the race of `a` and `b` is reversed, and is another one in an execution that
/// has made the race as the one before has.
#[test]
fn a_race_is_reversed_for_every_outcome_of_a_choice_beside_it() {
    const TEXT: &str = "var x; var y
        thread a; faa r2 y 1
        thread b; choose r0 2; jz r0 L; faa r1 x 1; jnz r1 L; faa r2 y 1; label L
        thread c; choose r0 2; jz r0 M; faa r1 x 1; jnz r1 M; faa r2 y 1; label M";
    let nth = |_| (Program::parse(TEXT), TEXT.to_owned());
    assert_eq!(compare_those(nth, 0..1, 1_000_000, |_, _| None, exactly), 1);
}

#[test]
fn choices_have_no_other_classes() {
    let compared = compare_those(generate_choosing, 0..120, 500, |_, _| None, exactly);
    assert!(compared > 20, "{compared}");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_choices_have_no_other_classes() {
    println!("{} programs", compare_those(generate_choosing, 0..20_000, 5_000, |_, _| None, exactly));
}

/// What the task that waits would do next is not known, so that one execution is made in vain: it is told from the others.
#[test]
fn a_wait_for_ever_under_a_lock_that_another_wants_is_one_class() {
    const TEXT: &str = "mutex n; var y
        thread a; load r0 y
        thread b; lock n; load r0 y; load r1 y; jz r1 L; park; label L; unlock n
        thread c; store y 1
        thread d; lock n; unlock n";
    let nth = |_| (Program::parse(TEXT), TEXT.to_owned());
    assert_eq!(compare_those(nth, 0..1, 1_000_000, |_, _| None, exactly), 1);
}
