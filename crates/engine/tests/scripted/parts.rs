//! Steps that touch several things at once: two of them commute unless one writes what the other touches, and each class is
//! made once.

use std::collections::HashSet;

use drawloom_engine::Limits;

use crate::clocks::compare_clocks;
use crate::commutation::swap_everywhere;
use crate::driver::{Program, canonical, every_run, generate_in_pieces};
use crate::exhaustive::{compare_those, exactly, explore};
use crate::frugal::frugally;
use crate::guards::random_guard;
use crate::preemptions;

/// The number of classes, which is that of executions, and of brute force.
pub fn classes(text: &str) -> usize {
    let program = Program::parse(text);
    let (mut classes, mut expected) = (HashSet::new(), HashSet::new());
    let executions = explore(&program, &Limits::default(), |run| {
        classes.insert(canonical(run));
    });
    every_run(&program, |run| {
        expected.insert(canonical(run));
    });
    assert_eq!(classes, expected, "{text}");
    assert_eq!(classes.len(), executions, "{text}");
    executions
}

/// The number of classes of a program in which each task makes one piece: what it reads, and what it writes.
fn of_pieces(pieces: &[(&str, &str)]) -> usize {
    let task = |(n, (reads, writes)): (usize, &(&str, &str))| format!("thread t{n}; piece r0 g {reads} {writes}\n");
    classes(&format!("group g 4\n{}", pieces.iter().enumerate().map(task).collect::<String>()))
}

#[test]
fn pieces_commute_unless_one_writes_what_the_other_touches() {
    assert_eq!(of_pieces(&[("0011", "0000"), ("0011", "0000")]), 1, "both read");
    assert_eq!(of_pieces(&[("0001", "0001"), ("0010", "0010")]), 1, "other parts");
    assert_eq!(of_pieces(&[("0000", "0001"), ("0000", "0001")]), 2, "both write");
    assert_eq!(of_pieces(&[("0000", "0110"), ("0011", "0000")]), 2, "one reads what the other writes");
    assert_eq!(of_pieces(&[("0010", "0001"), ("0001", "0010")]), 2, "each reads what the other writes");
}

#[test]
fn pieces_in_a_row_touch_only_their_neighbours() {
    let row = [("0011", "0011"), ("0110", "0110"), ("1100", "1100")];
    assert_eq!(of_pieces(&row), 4);
    let circle = [("0011", "0011"), ("0110", "0110"), ("1100", "1100"), ("1001", "1001")];
    assert_eq!(of_pieces(&circle), 14);
}

#[test]
fn the_newest_piece_of_a_task_is_not_the_only_one_that_others_meet() {
    // The first piece of `a` writes what `b` reads, its second does not.
    assert_eq!(classes("group g 2\nthread a; piece _ g 0 01; piece _ g 01 10\nthread b; piece r0 g 01 00"), 2);
    assert_eq!(classes("group g 2\nthread a; piece _ g 0 01; piece _ g 0 10\nthread b; piece r0 g 01 00"), 2);
    assert_eq!(classes("group g 2\nthread a; piece _ g 0 01; piece _ g 0 10\nthread b; piece r0 g 11 00"), 3);
}

#[test]
fn adjacent_pieces_that_are_not_ordered_can_be_swapped_without_anybody_noticing() {
    let swapped: usize = (0..300).map(|seed| swap_everywhere(generate_in_pieces(seed), seed)).sum();
    assert!(swapped > 300, "only {swapped} pairs were tried");
}

#[test]
fn clocks_of_pieces_are_those_of_the_table() {
    (0..600).for_each(|seed| compare_clocks(generate_in_pieces(seed), seed));
}

#[test]
fn random_programs_have_no_other_classes() {
    assert!(compare_those(generate_in_pieces, 0..400, 300, |_, _| None, exactly) > 100);
}

#[test]
fn random_programs_explored_with_little_memory_have_no_other_classes() {
    assert!(compare_those(generate_in_pieces, 0..300, 300, |_, _| None, frugally) > 80);
}

#[test]
fn random_programs_under_random_guards_have_no_other_classes() {
    assert!(compare_those(generate_in_pieces, 0..200, 200, random_guard, exactly) > 40);
}

#[test]
fn random_programs_have_no_other_classes_within_a_preemption_bound() {
    let compared = preemptions::compare(generate_in_pieces, 0..120, 400);
    assert!(compared.programs > 50, "{}", compared.programs);
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes() {
    let programs =
        [exactly, frugally].map(|explore| compare_those(generate_in_pieces, 0..20_000, 3_000, |_, _| None, explore));
    println!("{programs:?} programs");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes_within_a_preemption_bound() {
    println!("{} programs", preemptions::compare(generate_in_pieces, 0..6_000, 4_000).programs);
}
