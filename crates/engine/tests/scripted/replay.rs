//! Replay: the same schedule makes the same steps, elsewhere and later.

use drawloom_engine::finding::FindingKind;
use drawloom_engine::schedule::Schedule;
use drawloom_engine::strategy::{Lenient, Random, Replay, Sequential, Strategy};
use drawloom_engine::{Budget, Budgets, Engine, Limits};

use crate::driver::{Program, Run, generate, line_of, run, run_on};

/// Runs under `strategy`, and returns the token of what it did.
fn recorded(program: &Program, strategy: &mut dyn Strategy, limits: &Limits, seed: u64) -> (Run, String) {
    let mut engine = Engine::new();
    let run = run_on(&mut engine, program, strategy, limits, seed);
    let token = Schedule::of(&engine, "a test", line_of).token();
    (run, token)
}

fn replayed(program: &Program, token: &str, lenient: bool) -> Run {
    let schedule = Schedule::from_token(token, "a test").expect("a token that was just made");
    if lenient {
        return run(program, &mut Lenient::of(&schedule));
    }
    run(program, &mut Replay::new(schedule, line_of))
}

#[test]
fn the_same_seed_makes_the_same_steps_also_on_a_used_engine() {
    let mut used = Engine::new();
    for seed in 0..300 {
        let (program, text) = generate(seed);
        let limits = Limits { budgets: Budgets::NONE.with(Budget::EarlyFires, 1), ..Limits::default() };
        for mut strategy in [Random::new(), Random::sticky(2)] {
            let first = run_on(&mut Engine::new(), &program, &mut strategy, &limits, seed);
            let second = run_on(&mut used, &program, &mut strategy, &limits, seed);
            assert_eq!(first.steps, second.steps, "seed {seed}\n{text}");
            assert_eq!(first.kind, second.kind, "seed {seed}\n{text}");
        }
    }
}

#[test]
fn a_token_makes_the_same_steps_in_another_engine() {
    for seed in 0..300 {
        let (program, text) = generate(seed);
        let (original, token) = recorded(&program, &mut Random::new(), &Limits::default(), seed);
        let again = replayed(&program, &token, false);
        assert_eq!(again.steps, original.steps, "seed {seed}\n{text}{:?}", again.kind);
        assert_eq!(again.kind, original.kind, "seed {seed}\n{text}");
        let leniently = replayed(&program, &token, true);
        assert_eq!(leniently.steps, original.steps, "leniently: seed {seed}\n{text}");
    }
}

#[test]
fn a_run_with_early_timers_is_replayed_under_the_same_limits() {
    let program = Program::parse(
        "var n\nthread a; sleep 1; faa r0 n 1\nthread b; sleep 2; faa r0 n 1\nthread c; faa _ n 1; faa _ n 1",
    );
    let limits = Limits { budgets: Budgets::NONE.with(Budget::EarlyFires, 2), ..Limits::default() };
    for seed in 0..50 {
        let (original, token) = recorded(&program, &mut Random::new(), &limits, seed);
        let schedule = Schedule::from_token(&token, "a test").expect("a token");
        let again = run_on(&mut Engine::new(), &program, &mut Replay::new(schedule, line_of), &limits, 0);
        assert_eq!(again.steps, original.steps, "seed {seed}: {:?}", again.kind);
    }
}

#[test]
fn a_run_in_which_the_starvation_guard_stepped_in_is_replayed() {
    let program = Program::parse("var x\nthread a; label top; load r0 x; jz r0 top\nthread b; store x 1");
    let limits = Limits { starvation_bound: 100, ..Limits::default() };
    let (original, token) = recorded(&program, &mut Sequential, &limits, 0);
    assert_eq!(original.finding, None);
    assert_eq!(replayed(&program, &token, false).steps, original.steps);
}

const BEFORE: &str = "var x; mutex m
thread a
lock m
store x 1
unlock m
thread b
lock m
load r0 x
unlock m";

#[test]
fn a_changed_program_diverges_and_both_operations_are_named() {
    let after = BEFORE
        .replacen("store x 1", "load r0 x", 1)
        .replacen("lock m", "rlock l", 1)
        .replace("var x", "rwlock l; var x");
    let (_, token) = recorded(&Program::parse(BEFORE), &mut Sequential, &Limits::default(), 0);
    let Some(FindingKind::Divergence(divergence)) = replayed(&Program::parse(&after), &token, false).kind else {
        panic!("it was replayed without objection");
    };
    assert!(divergence.expected.contains("`lock` by task 0.1 on line 3"), "{divergence:?}");
    assert!(divergence.found.contains("`read` by task 0.1 on line 3"), "{divergence:?}");
}

#[test]
fn a_program_that_has_become_shorter_or_longer_diverges_at_its_end() {
    let shorter = BEFORE.trim_end_matches("\nunlock m");
    let (_, token) = recorded(&Program::parse(BEFORE), &mut Sequential, &Limits::default(), 0);
    assert_eq!(replayed(&Program::parse(shorter), &token, false).finding.as_deref(), Some("divergence"));
    let (_, token) = recorded(&Program::parse(shorter), &mut Sequential, &Limits::default(), 0);
    assert_eq!(replayed(&Program::parse(BEFORE), &token, false).finding.as_deref(), Some("divergence"));
}

#[test]
fn a_lenient_replay_of_a_shortened_program_goes_on() {
    let shorter = BEFORE.replacen("store x 1\n", "", 1);
    for seed in 0..20 {
        let (_, token) = recorded(&Program::parse(BEFORE), &mut Random::new(), &Limits::default(), seed);
        let run = replayed(&Program::parse(&shorter), &token, true);
        assert_eq!((run.finding.as_deref(), run.steps.len()), (None, 8), "seed {seed}");
    }
}
