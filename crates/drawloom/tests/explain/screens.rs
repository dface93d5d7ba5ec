//! The complete report of each kind of mistake. A person who has never seen the program must be able to tell
//! from the first screen what happened.

use drawloom::Exploration;
use drawloom_report::explain::Class;
use insta::assert_snapshot;

use crate::programs::{atomicity, cache, guards, waits};

/// The report of `body`, which must be of this class.
fn screen(class: Class, body: fn()) -> String {
    screen_of_seed(1, class, body)
}

fn screen_of_seed(seed: u64, class: Class, body: fn()) -> String {
    let config = format!("auto, name = \"x::example\", seed = {seed}, threads = 1, progress_bound = 100");
    let exploration: Exploration = drawloom::explore(config.parse().expect("a configuration"), body);
    let failure = exploration.findings().first().expect("it fails");
    let report = failure.report();
    let explanation = failure.record().explanation.as_deref().expect("it is explained");
    assert_eq!(explanation.class, Some(class), "{report}");
    whatever_the_time(&without_backtrace(&report))
}

/// How often a schedule is replayed that takes longer than there is time for is up to the machine.
fn whatever_the_time(report: &str) -> String {
    let redacted = |line: &str| match line.split_once(" preemptions in ") {
        Some((before, after)) if after.contains("the time was up: `shrink = full`") => {
            let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before} preemptions in N{after}\n")
        }
        _ => format!("{line}\n"),
    };
    report.lines().map(redacted).collect()
}

/// Whether there is one is up to `RUST_BACKTRACE`.
pub fn without_backtrace(report: &str) -> String {
    let mut within = false;
    let mut kept = String::new();
    for line in report.lines() {
        within = line.trim() == "backtrace:" || (within && line.starts_with("    "));
        if !within {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn a_lost_update() {
    assert_snapshot!(screen(Class::AtomicityGap, atomicity::lost_update));
}

#[test]
fn a_check_then_act() {
    assert_snapshot!(screen(Class::Toctou, atomicity::check_then_act));
}

#[test]
fn a_gap_between_two_locked_sections() {
    assert_snapshot!(screen(Class::AtomicityGap, atomicity::two_locked_sections));
}

#[test]
fn a_missing_guard() {
    // With seed 1 fewer than half of the accesses to `sum` that are seen have the guard, and it is not taken for one.
    assert_snapshot!(screen_of_seed(3, Class::MissingGuard, guards::missing_guard));
}

/// Whether `lock` is taken for a guard depends on how often it was seen; what a task does with it does not.
#[test]
fn a_lock_that_is_held_is_never_said_to_be_given_back() {
    for seed in 10..=20 {
        let config = format!("auto, name = \"x::example\", seed = {seed}, threads = 1, progress_bound = 100");
        let exploration = drawloom::explore(config.parse().expect("a configuration"), guards::missing_guard);
        let report = exploration.findings().first().expect("it fails").report();
        assert!(!report.contains(" gives `lock` back"), "{report}");
    }
}

#[test]
fn a_stale_reference() {
    assert_snapshot!(screen(Class::StaleReference, guards::stale_reference));
}

#[test]
fn a_lifetime_mismatch() {
    assert_snapshot!(screen(Class::LifetimeMismatch, cache::lifetime_mismatch));
}

#[test]
fn locks_in_opposite_order() {
    assert_snapshot!(screen(Class::Deadlock, waits::opposite_order));
}

#[test]
fn a_cycle_of_three() {
    assert_snapshot!(screen(Class::Deadlock, waits::three_cycle));
}

#[test]
fn a_lost_wakeup() {
    assert_snapshot!(screen(Class::LostWakeup, waits::lost_wakeup));
}

#[test]
fn one_of_several_is_woken() {
    assert_snapshot!(screen(Class::LostWakeup, waits::one_of_several));
}

#[test]
fn a_join_under_a_lock() {
    assert_snapshot!(screen(Class::Deadlock, waits::joined_under_a_lock));
}

#[test]
fn a_livelock() {
    assert_snapshot!(screen(Class::Livelock, waits::livelock));
}

#[test]
fn a_lock_made_by_hand() {
    assert_snapshot!(screen(Class::DataRace, guards::lock_made_by_hand));
}

#[test]
fn a_look_in_a_section_before_the_wait() {
    assert_snapshot!(screen(Class::LostWakeup, waits::looked_in_a_section_before));
}

#[test]
fn a_data_race() {
    assert_snapshot!(screen(Class::DataRace, guards::data_race));
}

#[test]
fn a_channel_that_stays_open() {
    assert_snapshot!(screen(Class::Starvation, waits::channel_starvation));
}
