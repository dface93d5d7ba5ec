//! Steps on several resources: two steps commute unless one writes what the other touches, and each class is made once.

use drawloom_engine::Limits;

use crate::clocks::compare_clocks;
use crate::commutation::{hashes_tell_classes, swap_everywhere};
use crate::driver::{Program, every_run, generate_several};
use crate::exhaustive::{compare_those, exactly, explore};
use crate::frugal::frugally;
use crate::guards::random_guard;
use crate::parts::classes;
use crate::preemptions;

#[test]
fn steps_on_several_things_commute_unless_one_writes_what_the_other_touches() {
    let of = |a: &str, b: &str| classes(&format!("var i; var j; var k\nthread a; {a}\nthread b; {b}"));
    assert_eq!(of("several r0 ri rj", "several r0 ri rj"), 1, "both read");
    assert_eq!(of("several r0 wi rj", "several r0 wk rj"), 1, "they write other things");
    assert_eq!(of("several r0 wi rj", "several r0 wj rk"), 2, "one reads what the other writes");
    assert_eq!(of("several r0 wi rj", "load r0 j"), 1, "both read, one of them in an ordinary way");
    assert_eq!(of("several r0 wi rj", "load r0 i"), 2, "an ordinary access reads what it writes");
    assert_eq!(of("several r0 ri rj wk", "store j 1"), 2, "an ordinary access writes what it reads");
    assert_eq!(of("several r0 ri rj wk", "store i 1"), 2, "an ordinary access writes what it reads first");
}

#[test]
fn the_newest_step_of_a_task_is_not_the_only_one_that_others_meet() {
    assert_eq!(classes("var i; var j\nthread a; several _ wi rj; several _ ri rj\nthread b; load r0 i"), 2);
    assert_eq!(classes("var i; var j\nthread a; several _ wi wj; several _ ri wj\nthread b; several _ ri rj"), 3);
}

#[test]
fn one_list_extended_by_another_sees_all_of_it_or_nothing() {
    let text = "var i; var j; var k\nthread a; several _ wi rj\nthread b; several _ wj rk\nthread c; several _ wk ri";
    let program = Program::parse(text);
    let mut ends = std::collections::BTreeSet::new();
    every_run(&program, |run| {
        ends.insert(run.memory.clone());
    });
    let mut explored = std::collections::BTreeSet::new();
    explore(&program, &Limits::default(), |run| {
        explored.insert(run.memory.clone());
    });
    assert_eq!(explored, ends);
    // Any two of them conflict.
    assert_eq!(classes(text), 6);
}

#[test]
fn adjacent_steps_that_are_not_ordered_can_be_swapped_without_anybody_noticing() {
    let swapped: usize = (0..300).map(|seed| swap_everywhere(generate_several(seed), seed)).sum();
    assert!(swapped > 300, "only {swapped} pairs were tried");
    hashes_tell_classes(generate_several);
}

#[test]
fn clocks_are_those_of_the_table() {
    (0..600).for_each(|seed| compare_clocks(generate_several(seed), seed));
}

#[test]
fn random_programs_have_no_other_classes() {
    assert!(compare_those(generate_several, 0..400, 300, |_, _| None, exactly) > 100);
}

#[test]
fn random_programs_explored_with_little_memory_have_no_other_classes() {
    assert!(compare_those(generate_several, 0..300, 300, |_, _| None, frugally) > 80);
}

#[test]
fn random_programs_under_random_guards_have_no_other_classes() {
    assert!(compare_those(generate_several, 0..200, 200, random_guard, exactly) > 40);
}

#[test]
fn random_programs_have_no_other_classes_within_a_preemption_bound() {
    let compared = preemptions::compare(generate_several, 0..120, 400);
    assert!(compared.programs > 50, "{}", compared.programs);
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes() {
    let programs =
        [exactly, frugally].map(|explore| compare_those(generate_several, 0..20_000, 3_000, |_, _| None, explore));
    println!("{programs:?} programs");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes_within_a_preemption_bound() {
    println!("{} programs", preemptions::compare(generate_several, 0..6_000, 4_000).programs);
}
