//! Tasks that are killed while the others go on: every moment is explored once, and nothing they leave undone is seen.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::strategy::{Lenient, Random, Replay, Sequential, Strategy};
use drawloom_engine::{Budget, Budgets, Engine, Limits, OpKind, schedule::Schedule};

use crate::commutation::{hashes_tell_classes, swap_everywhere};
use crate::driver::{
    ALONE, Program, Run, canonical, every_run, generate_killed, generate_killing, line_of, run, run_on,
};
use crate::exhaustive::{compare_and_count, compare_those, exactly, explore};

/// The values of the variables at the end of all schedules.
fn memories(text: &str) -> BTreeSet<Vec<i64>> {
    let program = Program::parse(text);
    let mut all = BTreeSet::new();
    every_run(&program, |run| {
        assert_eq!(run.finding, None, "{text}");
        all.insert(run.memory.clone());
    });
    let mut explored = BTreeSet::new();
    explore(&program, &Limits::default(), |run| {
        explored.insert(run.memory.clone());
    });
    assert_eq!(explored, all, "{text}");
    all
}

fn executions(text: &str) -> usize {
    let program = Program::parse(text);
    let mut classes = HashSet::new();
    every_run(&program, |run| {
        classes.insert(canonical(run));
    });
    let executions = explore(&program, &Limits::default(), |_| {});
    assert_eq!(executions, classes.len(), "{text}");
    executions
}

#[test]
fn a_task_is_killed_before_any_of_its_steps_or_after_the_last() {
    let text = "var x; var y\nthread a; store x 1; store y 1\nthread b; kill a";
    assert_eq!(memories(text), BTreeSet::from([vec![0, 0], vec![1, 0], vec![1, 1]]));
    // Before each store, before its end, and after it.
    assert_eq!(executions(text), 4);
}

#[test]
fn a_kill_commutes_with_what_all_others_do() {
    assert_eq!(executions("var x; var y\nthread a; store x 1\nthread b; kill a\nthread c; store y 1; store y 2"), 3);
}

#[test]
fn who_is_killed_twice_is_killed_once() {
    // The first kill comes before the store, before the end or after it. Unless `a` had ended, both may come before its last
    // step, or either of them after it.
    assert_eq!(executions("var x\nthread a; store x 1\nthread b; kill a\nthread c; kill a"), 3 + 3 + 1);
    assert_eq!(memories("var x\nthread a; store x 1\nthread b; kill a; kill a"), BTreeSet::from([vec![0], vec![1]]));
}

#[test]
fn what_a_killed_task_holds_is_never_given_back() {
    let text = "var x; mutex m\nthread a; lock m; store x 1; unlock m\nthread b; kill a; lock m; store x 2; unlock m";
    let mut ends = BTreeMap::new();
    every_run(&Program::parse(text), |run| {
        ends.entry(run.finding.clone()).or_insert_with(BTreeSet::new).insert(run.memory[0]);
    });
    // Either `a` had done with the lock or had not asked for it; or it holds it for ever.
    assert_eq!(ends[&None], BTreeSet::from([2]));
    assert_eq!(ends[&Some("deadlock".to_owned())], BTreeSet::from([0, 1]));
}

#[test]
fn nobody_waits_for_a_killed_task_in_the_end() {
    every_run(&Program::parse("chan u inf\nthread a; recv r0 u\nthread b; kill a"), |run| {
        // Alone it waits for a message as it would if nobody had killed it, and that is no finding.
        assert_eq!(run.finding, None);
    });
}

#[test]
fn a_message_to_a_killed_task_is_lost() {
    let text = "chan u inf; var x\nthread a; recv r0 u; store x 1\nthread b; kill a; send u 1; tryrecv r5 r0 u";
    let program = Program::parse(text);
    let mut seen = BTreeSet::new();
    every_run(&program, |run| {
        seen.insert((run.registers[1][5], run.memory[1]));
    });
    // It was killed before it asked, and nobody else takes the message; or while it waited, and it is lost.
    assert_eq!(seen, BTreeSet::from([(1, 0), (0, 0)]));
}

#[test]
fn who_kills_himself_makes_no_further_step() {
    let end = run(&Program::parse("var x\nthread a; kill a; store x 1"), &mut Sequential);
    assert_eq!((end.finding, end.memory), (None, vec![0]));
}

#[test]
fn a_group_dies_as_one() {
    // What is done later is never there without what was done before.
    let text = "var x; var y; chan u inf
        thread a of 1; store x 1; send u 1
        thread b of 1; recv r0 u; store y 1
        thread c; killall 1";
    assert_eq!(memories(text), BTreeSet::from([vec![0, 0, 0], vec![1, 0, 0], vec![1, 1, 0]]));
}

#[test]
fn children_die_with_their_group() {
    let text = "var x; var y\nthread a of 1; spawn child\nthread child off; store x 1; store y 1\nthread k; killall 1; load r0 x; load r1 y";
    let mut seen = BTreeSet::new();
    every_run(&Program::parse(text), |run| {
        assert_eq!(run.finding, None);
        // Nothing happens after the last one was killed.
        assert_eq!((run.registers[2][0], run.registers[2][1]), (run.memory[0], run.memory[1]));
        seen.insert(run.memory.clone());
    });
    assert_eq!(seen, BTreeSet::from([vec![0, 0], vec![1, 0], vec![1, 1]]));
    executions(text);
}

#[test]
fn the_environment_kills_a_group_too() {
    let text = "var x; var y
        thread a of 1; store x 1
        thread b of 1; store y 1
        thread c; later killall 1";
    assert_eq!(memories(text), BTreeSet::from([vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]]));
    assert_eq!(executions(text), 9);
}

#[test]
fn a_kill_that_is_a_fault_strikes_or_does_not() {
    let program = Program::parse("var x\nthread a; store x 1\nthread b; fault kill a");
    let strikes = |most: u32| {
        let limits = Limits { budgets: Budgets::NONE.with(Budget::Faults, most), ..Limits::default() };
        let mut seen = BTreeSet::new();
        explore(&program, &limits, |run: &Run| {
            seen.insert((run.steps.iter().any(|step| step.kind == OpKind::Kill), run.memory[0]));
        });
        seen
    };
    assert_eq!(strikes(0), BTreeSet::from([(false, 1)]));
    assert_eq!(strikes(1), BTreeSet::from([(false, 1), (true, 0), (true, 1)]));
}

/// Both die before they have done anything, whoever is killed first.
#[test]
fn two_tasks_that_race_are_killed_at_every_moment() {
    let text = "var x\nthread a; store x 1\nthread b; store x 2\nthread c; kill a\nthread d; kill b";
    // Each before its store, before its end, or after it; where both have stored, in either order.
    assert_eq!(executions(text), 9 + 4);
}

#[test]
fn programs_in_which_tasks_are_killed_have_no_other_classes() {
    let compared = compare_those(generate_killed, 0..400, 600, |_, _| None, exactly);
    assert!(compared > 80, "{compared}");
}

/// Where tasks kill each other, or are killed before a comparison, a class may be made twice; none is missed.
#[test]
fn programs_in_which_tasks_kill_each_other_have_no_other_classes() {
    let (compared, twice) = compare_and_count(generate_killing, 0..300, 600, |_, _| None, exactly);
    assert!(compared > 80, "{compared}");
    assert_eq!(twice, 0);
}

#[test]
#[ignore = "a long run: use --release"]
fn many_programs_in_which_tasks_are_killed_have_no_other_classes() {
    println!("{} programs", compare_those(generate_killed, 0..20_000, 4_000, |_, _| None, exactly));
}

#[test]
#[ignore = "a long run: use --release"]
fn many_programs_in_which_tasks_kill_each_other_have_no_other_classes() {
    let (compared, twice) = compare_and_count(generate_killing, 0..12_000, 4_000, |_, _| None, exactly);
    println!("{compared} programs, {twice} classes made twice");
    assert!(twice as u64 * 100 < compared, "{twice} in {compared}");
}

#[test]
fn a_bound_of_preemptions_drops_nothing_where_somebody_is_killed() {
    let text = "var x; mutex m\nthread a; lock m; store x 1; unlock m\nthread b; lock m; store x 2; unlock m; kill a";
    let classes = executions(text);
    let explorer = Explorer::new(ALONE, u64::MAX).with_preemptions(Some(0));
    let mut made = HashSet::new();
    while let Some(mut strategy) = explorer.claim() {
        made.insert(canonical(&run(&Program::parse(text), &mut strategy)));
    }
    assert_eq!(made.len(), classes);
}

#[test]
fn steps_beside_a_kill_that_are_not_ordered_can_be_swapped_without_anybody_noticing() {
    let swapped: usize = (0..300).map(|seed| swap_everywhere(generate_killing(seed), seed)).sum();
    assert!(swapped > 300, "only {swapped} pairs were tried");
    hashes_tell_classes(generate_killing);
}

#[test]
fn a_token_kills_again_at_the_same_moment() {
    for seed in 0..200 {
        let (program, text) = generate_killing(seed);
        let limits = Limits { budgets: Budgets::NONE.with(Budget::Faults, 1), ..Limits::default() };
        let mut engine = Engine::new();
        let original = run_on(&mut engine, &program, &mut Random::new(), &limits, seed);
        let token = Schedule::of(&engine, "a test", line_of).token();
        let again = |strategy: &mut dyn Strategy| run_on(&mut Engine::new(), &program, strategy, &limits, 0);
        let schedule = || Schedule::from_token(&token, "a test").expect("a token");
        let exactly = again(&mut Replay::new(schedule(), line_of));
        assert_eq!((&exactly.steps, &exactly.kind), (&original.steps, &original.kind), "seed {seed}\n{text}");
        assert_eq!(again(&mut Lenient::of(&schedule())).steps, original.steps, "leniently: seed {seed}\n{text}");
    }
}
