//! Executions that are no two equivalent, whatever order they are made in and whoever makes the free choices.

use std::collections::HashSet;
use std::sync::Arc;

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::strategy::{Auto, Fate, Guide, Profile, Strategy, Tape};
use drawloom_engine::{Engine, Limits};

use super::exhaustive::compare;
use crate::driver::{ALONE, Program, Run, canonical, generate, run_on, up_to};

/// As exhaustive exploration, with leaves drawn at random.
fn anywhere(seed: u64, program: &Program, limits: &Limits, visit: &mut dyn FnMut(&Run)) -> usize {
    let explorer = Explorer::new(ALONE, u64::MAX);
    let mut engine = Engine::new();
    let mut executions = 0;
    while let Some(mut strategy) = explorer.claim_on_the_way(Tape::seed_of(seed, executions)) {
        let run = run_on(&mut engine, program, &mut strategy, limits, 0);
        executions += 1;
        visit(&run);
    }
    assert!(explorer.progress().exhausted);
    executions as usize
}

#[test]
fn leaves_may_be_claimed_in_any_order() {
    assert!(compare(0..400, 300, anywhere) > 100);
}

#[test]
fn auto_exhausts_a_small_program_without_doing_anything_twice() {
    let limits = Limits::default();
    let mut compared = 0;
    // Handed on from program to program, as from exploration to exploration: nothing but memory may be left in them.
    let (mut guide, mut auto) = (Guide::new(ALONE, u64::MAX), Auto::new());
    let mut profile = Arc::<Profile>::default();
    for seed in 0..400 {
        let (program, text) = generate(seed);
        let (mut expected, mut fails) = (HashSet::new(), false);
        let runs = up_to(300, &program, &limits, |run| {
            expected.insert(canonical(run));
            fails |= run.finding.is_some();
        });
        if runs.is_none() || fails || text.contains("isfinished") || text.contains("yield") {
            continue;
        }
        auto.renew(None);
        guide.renew();
        auto.renew(Some(guide.clone()));
        Arc::make_mut(&mut profile).forget();
        let mut engine = Engine::new();
        let mut found = HashSet::new();
        for number in 0.. {
            auto.prepare(number, &profile);
            let run = run_on(&mut engine, &program, &mut auto, &limits, Tape::seed_of(seed, number));
            Arc::make_mut(&mut profile).learn(&engine, auto.contested());
            assert!(
                found.insert(canonical(&run)),
                "execution {number} is one that was made before: seed {seed}\n{text}"
            );
            if guide.fate() != Fate::Alive || guide.explorer().progress().exhausted {
                break;
            }
        }
        if guide.fate() == Fate::Alive {
            compared += 1;
            assert_eq!(found.len(), expected.len(), "classes: seed {seed}\n{text}");
            assert!(found.is_subset(&expected), "seed {seed}\n{text}");
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn a_choice_of_very_many_outcomes_is_not_planned_one_by_one() {
    let program = Program::parse("var x\nthread a; choose r0 65536; store x r0\nthread b; load r0 x");
    let guide = Guide::new(ALONE, 16);
    let (mut engine, mut auto) = (Engine::new(), Auto::guided(guide.clone()));
    auto.prepare(0, &Arc::default());
    run_on(&mut engine, &program, &mut auto, &Limits::default(), 0);
    assert_eq!(guide.fate(), Fate::Unfit);
    assert_eq!(guide.explorer().progress().steps_held, 1, "nothing but the root");
}
