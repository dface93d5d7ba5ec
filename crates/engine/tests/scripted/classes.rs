//! The number of equivalence classes of small programs, by brute force.
//!
//! Every schedule of a program is run on the real engine; the classes are the distinct happens-before
//! relations. The expected numbers are published ones on which independent tools agree (or closed
//! forms); so they are the ground truth for the dependence table and for the clocks.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use crate::driver::{Program, Run, canonical, every_run};
use crate::published::{Cost, rows};

/// With more interleavings than these, a debug build takes seconds for a program.
const FEW: u64 = 8_000;

fn outcome(run: &Run) -> (Vec<[i64; 8]>, Vec<i64>, Option<String>) {
    (run.registers.clone(), run.memory.clone(), run.finding.clone())
}

/// Runs every schedule; the number of classes, of deadlocked ones and of schedules.
fn count(name: &str, program: &Program) -> (usize, usize, u64) {
    let mut classes = HashMap::new();
    let mut hashes = HashSet::new();
    let runs = every_run(program, |run| {
        let class = canonical(run);
        hashes.insert((class, run.behaviour));
        let first = classes.entry(class).or_insert_with(|| outcome(run));
        assert_eq!(*first, outcome(run), "{name}: two schedules of one class came to different ends");
    });
    let alone: HashSet<u64> = hashes.iter().map(|(_, hash)| *hash).collect();
    assert_eq!(hashes.len(), classes.len(), "{name}: one class has several hashes");
    assert_eq!(alone.len(), classes.len(), "{name}: several classes have one hash");
    let deadlocked = classes.values().filter(|(_, _, finding)| finding.is_some()).count();
    (classes.len(), deadlocked, runs)
}

fn check(interleavings: RangeInclusive<u64>) {
    const EVERY: &[Cost] = &[Cost::Small, Cost::Medium, Cost::Large, Cost::Engine];
    for row in rows(EVERY).filter(|row| interleavings.contains(&row.interleavings)) {
        let found = count(row.name, &Program::parse(row.text));
        assert_eq!(found, (row.classes, row.blocked, row.interleavings), "{}", row.name);
    }
}

#[test]
fn every_class_of_a_small_program_is_told_from_the_others() {
    check(1..=FEW);
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn every_class_of_a_larger_program_is_told_from_the_others() {
    check(FEW + 1..=u64::MAX);
}

fn classes(text: &str) -> usize {
    count(text, &Program::parse(text)).0
}

/// The engine has no read-modify-write that commutes with its like (`option commute`): each order of
/// six increments is a class of its own, not one class for all of them.
#[test]
fn increments_do_not_commute() {
    assert_eq!(classes(include_str!("../programs/faac-6-1.txt")), 720);
}

#[test]
fn readers_fall_between_writers_and_not_among_themselves() {
    let sections = |readers: usize, writers: usize| {
        let reader = |n| format!("thread r{n}; rlock l; rwunlock l\n");
        let writer = |n| format!("thread w{n}; wlock l; rwunlock l\n");
        let threads = (0..readers).map(reader).chain((0..writers).map(writer));
        format!("rwlock l\n{}", threads.collect::<String>())
    };
    // W! · (W + 1)^R
    assert_eq!(classes(&sections(2, 1)), 4);
    assert_eq!(classes(&sections(3, 1)), 8);
    assert_eq!(classes(&sections(2, 2)), 18);
    assert_eq!(classes(&sections(1, 3)), 24);
}

#[test]
fn one_consumer_only_sees_the_order_of_the_sends_whatever_the_capacity() {
    for capacity in ["0", "1", "2", "inf"] {
        let program = format!(
            "chan q {capacity}
            thread a; send q 1; send q 2
            thread b; send q 3
            thread c; recv r0 q; recv r1 q; recv r2 q"
        );
        assert_eq!(classes(&program), 3, "capacity {capacity}");
    }
}

#[test]
fn polling_a_channel_tells_before_from_after() {
    assert_eq!(classes("chan q inf\nthread a; send q 1\nthread b; tryrecv r0 r1 q; tryrecv r2 r3 q"), 3);
}

#[test]
fn failed_attempts_are_not_ordered_among_themselves() {
    let program = "mutex m\nthread a; lock m; unlock m\nthread b; trylock r0 m\nthread c; trylock r0 m";
    // Neither unlocks. An attempt comes first: the other one and the request in either order, 2 × 2.
    // The request comes first: both attempts while it is held (1), both after (2), one of each (2).
    assert_eq!(classes(program), 4 + 5);
}

/// Releases are ordered (which one came first decides whose permit a waiter gets), acquisitions too;
/// but an acquisition may come before or after the release that it needs.
#[test]
fn an_acquisition_may_be_asked_for_before_or_after_the_release() {
    assert_eq!(classes("sem s 0\nthread a; acquire s\nthread b; release s"), 1);
    assert_eq!(classes("sem s 1\nthread a; acquire s; release s\nthread b; acquire s; release s"), 2);
    assert_eq!(
        classes("sem s 0\nthread a; acquire s\nthread b; acquire s\nthread c; release s\nthread d; release s"),
        4
    );
}

#[test]
fn a_disconnection_waits_for_every_sender_and_is_no_race_with_the_receive() {
    assert_eq!(classes("chan q inf\nthread a; close q\nthread b; recvok r0 r1 q"), 1);
    assert_eq!(classes("chan q inf\nthread a; send q 1; close q\nthread b; recvok r0 r1 q; recvok r2 r3 q"), 1);
    assert_eq!(classes("chan q inf\nthread a; close q\nthread b; tryrecv r0 r1 q"), 2);
}

#[test]
fn whoever_initialises_first_is_a_race_and_a_check_sees_the_end_only() {
    let entrant = "enter r0 o; jz r0 over; finish o 1; label over";
    assert_eq!(classes(&format!("once o\nthread a; {entrant}\nthread b; {entrant}")), 2);
    assert_eq!(classes(&format!("once o\nthread a; {entrant}\nthread b; check r1 o")), 2);
}

#[test]
fn tokens_for_one_park_are_not_ordered_among_themselves() {
    // The second token comes before the park (one class) or after it (two: which one came first).
    assert_eq!(classes("thread a; park\nthread b; unpark a\nthread c; unpark a"), 3);
}

#[test]
fn a_grant_is_not_forgotten_over_a_join() {
    assert_eq!(classes("var x; sem s 0\nthread a; acquire s; join b\nthread b; load r0 x\nthread c; release s"), 1);
}
