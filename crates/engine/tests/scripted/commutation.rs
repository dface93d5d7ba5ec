//! The rules of the dependence table, on random programs.

use std::collections::HashSet;

use drawloom_engine::causality::Causality;
use drawloom_engine::schedule::{Schedule, Segment};
use drawloom_engine::strategy::{Lenient, Random, Replay, Sequential};
use drawloom_engine::{Engine, Limits, OpKind, Step, TaskPath};

use crate::driver::{
    Program, Run, canonical, generate, generate_awaiting, generate_preferring, line_of, run, run_on, up_to,
};
use crate::exhaustive::Generator;

/// A schedule that names the task of every single step.
fn schedule(run: &Run, order: impl Iterator<Item = usize>) -> Schedule {
    let path = |step: &Step| {
        // The clock's path is empty.
        TaskPath(run.paths[step.task.index()].split('.').filter_map(|part| part.parse().ok()).collect())
    };
    let mut schedule = Schedule::default();
    for j in order {
        let step = &run.steps[j];
        schedule.segments.push(Segment { task: path(step), count: 1, first: None });
        if step.kind == OpKind::Choose {
            schedule.outcomes.push(step.value);
        }
    }
    schedule
}

fn end(run: &Run) -> (&[[i64; 8]], &[i64], Option<&str>) {
    (&run.registers, &run.memory, run.finding.as_deref())
}

fn random_run(program: &Program, seed: u64) -> Run {
    run_on(&mut Engine::new(), program, &mut Random::new(), &Limits::default(), seed)
}

/// Swaps every two adjacent steps that the clocks do not order, and runs the program that way.
pub fn swap_everywhere((program, text): (Program, String), seed: u64) -> usize {
    let original = random_run(&program, seed);
    if original.finding.as_deref() == Some("deadlock") {
        // It is stopped as soon as the circle is closed, and what else was to come depends on when.
        return 0;
    }
    let causality = Causality::of(&original.steps);
    let mut swapped = 0;
    for k in 0..original.steps.len().saturating_sub(1) {
        let (a, b) = (&original.steps[k], &original.steps[k + 1]);
        if a.task == b.task || causality.before(k, k + 1) {
            continue;
        }
        let order = (0..original.steps.len()).map(|j| {
            if j == k {
                k + 1
            } else if j == k + 1 {
                k
            } else {
                j
            }
        });
        let mut replay = Replay::new(schedule(&original, order), line_of);
        let other = run(&program, &mut replay);
        let what = format!("seed {seed}: {} and {} (step {k}) of\n{text}", a.kind.word(), b.kind.word());
        assert_eq!(end(&other), end(&original), "other end: {what}{:?}", other.kind);
        assert_eq!(canonical(&other), canonical(&original), "other order: {what}");
        assert_eq!(other.behaviour, original.behaviour, "other hash: {what}");
        swapped += 1;
    }
    swapped
}

#[test]
fn adjacent_steps_that_are_not_ordered_can_be_swapped_without_anybody_noticing() {
    let swapped: usize = (0..700).map(|seed| swap_everywhere(generate(seed), seed)).sum();
    assert!(swapped > 700, "only {swapped} pairs were tried");
}

#[test]
fn so_can_steps_on_a_lock_that_prefers_one_side() {
    let swapped: usize = (0..300).map(|seed| swap_everywhere(generate_preferring(seed), seed)).sum();
    assert!(swapped > 100, "only {swapped} pairs were tried");
}

#[test]
fn so_can_steps_that_nobody_awaits() {
    let swapped: usize = (0..300).map(|seed| swap_everywhere(generate_awaiting(seed), seed)).sum();
    assert!(swapped > 100, "only {swapped} pairs were tried");
}

#[test]
fn the_behaviour_hash_tells_exactly_what_the_clocks_tell() {
    hashes_tell_classes(generate);
}

pub fn hashes_tell_classes(generate: Generator) {
    for seed in 0..50 {
        let (program, text) = generate(seed);
        let mut pairs: Vec<(u64, u64)> = (0..60)
            .map(|n| random_run(&program, seed * 1000 + n))
            .map(|run| (canonical(&run), run.behaviour))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut hashes: Vec<u64> = pairs.iter().map(|(_, hash)| *hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), pairs.len(), "several classes have one hash: seed {seed}\n{text}");
        pairs.dedup_by_key(|(class, _)| *class);
        assert_eq!(hashes.len(), pairs.len(), "one class has several hashes: seed {seed}\n{text}");
    }
}

/// Runs the schedule `order` of steps of `run`, with the outcome of the last one replaced if asked
/// for, and whatever comes then.
fn follow(program: &Program, run: &Run, order: Vec<usize>, outcome: Option<u64>) -> Run {
    let mut schedule = schedule(run, order.into_iter());
    if let (Some(outcome), Some(last)) = (outcome, schedule.outcomes.last_mut()) {
        *last = outcome;
    }
    crate::driver::run(program, &mut Lenient::of(&schedule))
}

/// All classes that can be reached from one run by reversing races and taking other outcomes.
fn by_reversal(program: &Program) -> HashSet<u64> {
    let mut reached = HashSet::new();
    let mut waiting = vec![run(program, &mut Sequential)];
    while let Some(run) = waiting.pop() {
        if !reached.insert(canonical(&run)) {
            continue;
        }
        let causality = Causality::of(&run.steps);
        for &(i, j) in causality.races() {
            let unaffected = (i + 1..j).filter(|k| !causality.before(i, *k));
            let order = (0..i).chain(unaffected).chain([j]).collect();
            waiting.push(follow(program, &run, order, None));
        }
        for (k, step) in run.steps.iter().enumerate().filter(|(_, s)| s.kind == OpKind::Choose) {
            let others = (0..step.arg).filter(|other| *other != step.value);
            waiting.extend(others.map(|other| follow(program, &run, (0..=k).collect(), Some(other))));
        }
    }
    reached
}

#[test]
fn reversing_the_races_of_one_run_again_and_again_reaches_every_class() {
    let mut compared = 0;
    for seed in 0..200 {
        let (program, text) = generate(seed);
        let (mut classes, mut cut) = (HashSet::new(), text.contains("isfinished"));
        let all = up_to(200, &program, &Limits::default(), |run| {
            // A deadlock is reported at once: what the others were still to do is not in the trace.
            cut |= run.finding.as_deref() == Some("deadlock");
            classes.insert(canonical(run));
        });
        if all.is_some() && !cut {
            let reached = by_reversal(&program);
            assert!(reached == classes, "{} of {} classes: seed {seed}\n{text}", reached.len(), classes.len());
            compared += 1;
        }
    }
    assert!(compared > 30, "only {compared} programs were compared");
}
