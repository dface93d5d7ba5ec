//! Tasks of the environment: messages in flight and faults take part in every choice, and nothing is lost by it.

use std::collections::BTreeSet;

use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::{Lenient, Pct, Pos, Random, Replay, Sequential, Strategy, Surw};
use drawloom_engine::{Budget, Budgets, Engine, Limits, OpKind};

use crate::commutation::{hashes_tell_classes, swap_everywhere};
use crate::driver::{Program, Run, every_run, every_run_within, generate_left, line_of, run, run_on};
use crate::exhaustive::{compare_those, exactly, explore};
use crate::preemptions;

fn with_faults(most: u32) -> Limits {
    Limits { budgets: Budgets::NONE.with(Budget::Faults, most), ..Limits::default() }
}

/// What thread number `thread` has in `register` in the end, by every schedule.
fn ends(text: &str, limits: &Limits, (thread, register): (usize, usize)) -> BTreeSet<i64> {
    let mut ends = BTreeSet::new();
    every_run_within(&Program::parse(text), limits, |run| {
        assert_eq!(run.finding, None, "{text}");
        ends.insert(run.registers[thread][register]);
    });
    ends
}

#[test]
fn a_message_in_flight_arrives_at_any_moment() {
    let text = "chan u inf\nthread a; later send u 7\nthread b; tryrecv r5 r0 u";
    assert_eq!(ends(text, &Limits::default(), (1, 0)), BTreeSet::from([0, 7]));
}

#[test]
fn messages_in_flight_overtake_each_other() {
    let text = "chan u inf\nthread a; later send u 1; later send u 2; recv r0 u; recv r1 u";
    assert_eq!(ends(text, &Limits::default(), (0, 0)), BTreeSet::from([1, 2]));
}

#[test]
fn what_the_environment_does_one_after_the_other_stays_in_order() {
    let text = "chan u inf\nthread a; later send u 1 then send u 2; recv r0 u; recv r1 u";
    assert_eq!(ends(text, &Limits::default(), (0, 0)), BTreeSet::from([1]));
}

#[test]
fn nobody_who_waits_for_a_message_in_flight_is_in_a_deadlock() {
    let text = "sem s 0\nthread a; later release s; acquire s";
    every_run(&Program::parse(text), |run| assert_eq!(run.finding, None));
    let text = "sem s 0\nthread a; later release s; acquire s 2";
    every_run(&Program::parse(text), |run| assert_eq!(run.finding.as_deref(), Some("starvation")));
}

#[test]
fn what_is_in_flight_when_the_program_has_ended_still_arrives() {
    let end = run(&Program::parse("sem s 0\nthread a; later release s"), &mut Sequential);
    let last = end.steps.last().expect("a step");
    assert_eq!((last.kind, end.paths[last.task.index()].as_str()), (OpKind::Release, "0.1.1"));
}

/// How many of the faults strike, in any execution.
fn strikes(most: u32) -> BTreeSet<usize> {
    let program = Program::parse("sem s 0\nthread a; fault release s; fault release s; fault release s");
    let released = |run: &Run| run.steps.iter().filter(|step| step.kind == OpKind::Release).count();
    let mut strikes = BTreeSet::new();
    explore(&program, &with_faults(most), |run| {
        strikes.insert(released(run));
    });
    strikes
}

#[test]
fn faults_strike_or_not_as_often_as_their_budget_allows() {
    assert_eq!(strikes(0), BTreeSet::from([0]));
    assert_eq!(strikes(2), BTreeSet::from([0, 1, 2]));
}

#[test]
fn without_a_budget_there_is_no_fault_and_no_step_of_one() {
    let end = run(&Program::parse("sem s 0\nthread a; fault release s; fault release s"), &mut Random::new());
    assert!(end.steps.iter().all(|step| !matches!(step.kind, OpKind::Choose | OpKind::TryAcquire)));
}

#[test]
fn a_deadlock_that_only_a_fault_would_end_is_found() {
    let text = "sem s 0\nthread a; fault release s; acquire s";
    let mut found = BTreeSet::new();
    every_run_within(&Program::parse(text), &with_faults(1), |run| {
        found.insert(run.finding.clone());
    });
    assert_eq!(found, BTreeSet::from([None, Some("starvation".to_owned())]));
}

#[test]
fn what_is_left_to_the_environment_has_no_other_classes() {
    let compared = compare_those(generate_left, 0..300, 400, |_, _| None, exactly);
    assert!(compared > 80, "{compared}");
}

#[test]
#[ignore = "a long run: use --release"]
fn much_that_is_left_to_the_environment_has_no_other_classes() {
    println!("{} programs", compare_those(generate_left, 0..10_000, 5_000, |_, _| None, exactly));
}

#[test]
fn what_is_left_to_the_environment_has_no_other_classes_within_a_bound_of_preemptions() {
    let compared = preemptions::compare(generate_left, 0..150, 400);
    assert!(compared.programs > 40, "{}", compared.programs);
}

#[test]
#[ignore = "a long run: use --release"]
fn much_that_is_left_to_the_environment_has_no_other_classes_within_a_bound_of_preemptions() {
    println!("{} programs", preemptions::compare(generate_left, 0..6_000, 4_000).programs);
}

#[test]
fn steps_of_the_environment_that_are_not_ordered_can_be_swapped_without_anybody_noticing() {
    let swapped: usize = (0..300).map(|seed| swap_everywhere(generate_left(seed), seed)).sum();
    assert!(swapped > 300, "only {swapped} pairs were tried");
    hashes_tell_classes(generate_left);
}

#[test]
fn a_token_brings_messages_and_faults_back() {
    let limits = with_faults(1);
    for seed in 0..200 {
        let (program, text) = generate_left(seed);
        let mut engine = Engine::new();
        let original = run_on(&mut engine, &program, &mut Random::new(), &limits, seed);
        let token = Schedule::of(&engine, "a test", line_of).token();
        let again = |strategy: &mut dyn Strategy| run_on(&mut Engine::new(), &program, strategy, &limits, 0);
        let schedule = || Schedule::from_token(&token, "a test").expect("a token");
        let exactly = again(&mut Replay::new(schedule(), line_of));
        assert_eq!((&exactly.steps, &exactly.kind), (&original.steps, &original.kind), "seed {seed}\n{text}");
        let leniently = again(&mut Lenient::of(&schedule()));
        assert_eq!(leniently.steps, original.steps, "leniently: seed {seed}\n{text}");
    }
}

#[test]
fn every_strategy_lets_the_environment_go_first_and_last() {
    let program = Program::parse("var x; chan u inf\nthread a; later send u 7\nthread b; load r1 x; tryrecv r5 r0 u");
    let strategies: [Box<dyn Strategy>; 4] =
        [Box::new(Random::new()), Box::new(Pos::new()), Box::new(Pct::new(3)), Box::new(Surw::new())];
    for mut strategy in strategies {
        let received = |run: Run| run.registers[1][0];
        let seen: BTreeSet<i64> = (0..200)
            .map(|seed| received(run_on(&mut Engine::new(), &program, &mut *strategy, &Limits::default(), seed)))
            .collect();
        assert_eq!(seen, BTreeSet::from([0, 7]));
    }
}
