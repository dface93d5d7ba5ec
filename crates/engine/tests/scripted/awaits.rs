//! Tasks that await values: looks in vain are no steps, and each class is made once.

use std::collections::HashSet;

use drawloom_engine::Limits;

use crate::driver::{Program, canonical, every_run, generate_awaiting};
use crate::exhaustive::{compare_those, exactly, explore};
use crate::frugal::frugally;
use crate::guards::random_guard;
use crate::preemptions;

/// Classes, executions, and those of them that end with tasks blocked; the classes are also those of brute force, if
/// that is asked for.
fn count(text: &str, by_brute_force: bool) -> (usize, usize, usize) {
    let program = Program::parse(text);
    let mut classes = HashSet::new();
    let mut blocked = 0;
    let executions = explore(&program, &Limits::default(), |run| {
        classes.insert(canonical(run));
        blocked += usize::from(run.finding.is_some());
    });
    if by_brute_force {
        let mut expected = HashSet::new();
        every_run(&program, |run| {
            expected.insert(canonical(run));
        });
        assert_eq!(classes, expected, "{text}");
    }
    (classes.len(), executions, blocked)
}

#[test]
fn two_tasks_that_take_turns_have_one_behaviour() {
    let rounds =
        |own: u64, other: u64| format!("await r0 t == {own}\nload r1 x\nstore x {own}\nstore t {other}\n").repeat(4);
    let text = format!("var t; var x\nthread a\n{}thread b\n{}", rounds(0, 1), rounds(1, 0));
    assert_eq!(count(&text, false), (1, 1, 0));
}

#[test]
fn tasks_that_await_the_number_of_their_turn_have_one_behaviour() {
    let threads: String = (0..5).map(|n| format!("thread t{n}; await _ x == {n}; faa _ x 1\n")).collect();
    assert_eq!(count(&format!("var x\n{threads}"), true), (1, 1, 0));
}

#[test]
fn a_ticket_lock_has_as_many_behaviours_as_orders() {
    let lock = "faa r0 next 1; await _ now == r0; load r1 x; set r1 r1 + 1; store x r1; faa _ now 1\n";
    for (tasks, orders) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let threads: String = (0..tasks).map(|n| format!("thread t{n}; {lock}")).collect();
        let text = format!("var next; var now; var x\n{threads}");
        assert_eq!(count(&text, tasks < 4), (orders, orders, 0), "{tasks} tasks");
    }
}

/// Who awaits a flag reads it after the first of n writers, the second …: and these in any order.
#[test]
fn a_flag_that_several_may_set_is_read_after_any_of_them() {
    for (writers, classes) in [(1, 1), (2, 4), (3, 18), (4, 96)] {
        let threads: String = (1..=writers).map(|n| format!("thread w{n}; store f {n}\n")).collect();
        let text = format!("var f\nthread reader; await r0 f != 0\n{threads}");
        assert_eq!(count(&text, true), (classes, classes, 0), "{writers} writers");
    }
}

#[test]
fn what_is_there_for_a_moment_may_be_missed() {
    assert_eq!(count("var f\nthread a; await r0 f == 1\nthread b; store f 1; store f 2", true), (2, 2, 1));
    // Set again, it may be seen either time.
    let twice = "var f\nthread a; await r0 f == 1\nthread b; store f 1; store f 0; store f 1";
    assert_eq!(count(twice, true), (2, 2, 0));
}

#[test]
fn what_nobody_writes_is_awaited_for_ever() {
    assert_eq!(count("var f; var g\nthread a; await r0 f == 1\nthread b; store g 1", true), (1, 1, 1));
}

#[test]
fn random_programs_have_no_other_classes() {
    assert!(compare_those(generate_awaiting, 0..400, 300, |_, _| None, exactly) > 100);
}

#[test]
fn random_programs_explored_with_little_memory_have_no_other_classes() {
    assert!(compare_those(generate_awaiting, 0..400, 300, |_, _| None, frugally) > 100);
}

#[test]
fn random_programs_under_random_guards_have_no_other_classes() {
    assert!(compare_those(generate_awaiting, 0..200, 200, random_guard, exactly) > 40);
}

#[test]
fn random_programs_have_no_other_classes_within_a_preemption_bound() {
    let compared = preemptions::compare(generate_awaiting, 0..120, 400);
    assert!(compared.programs > 50, "{}", compared.programs);
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_under_random_guards_have_no_other_classes() {
    println!("{} programs", compare_those(generate_awaiting, 0..10_000, 3_000, random_guard, exactly));
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes() {
    let programs =
        [exactly, frugally].map(|explore| compare_those(generate_awaiting, 0..20_000, 3_000, |_, _| None, explore));
    println!("{programs:?} programs");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes_within_a_preemption_bound() {
    println!("{} programs", preemptions::compare(generate_awaiting, 0..6_000, 4_000).programs);
}
