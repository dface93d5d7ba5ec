//! Random programs on the public API: exhaustive exploration against every schedule there is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use drawloom_engine::{Budget, Budgets};

use crate::brute::{Classes, Lab, Log, Outcome, exhaust_with_two};
use crate::generate::{generate, generate_awaiting, generate_with_mishaps, generate_with_timers};
use crate::random_program::{Op, Program};

/// What a comparison has been over.
#[derive(Debug, Default)]
struct Compared {
    programs: u64,
    schedules: u64,
    classes: usize,
    deadlocks: usize,
    panics: usize,
}

/// What differs between the classes by brute force and the executions of an exploration.
fn differences(expected: &Classes, ran: &[(u64, Outcome)]) -> Vec<String> {
    let found: BTreeMap<u64, &Outcome> = ran.iter().map(|(class, outcome)| (*class, outcome)).collect();
    let outcomes: BTreeSet<&Outcome> = expected.values().collect();
    let seen: BTreeSet<&Outcome> = ran.iter().map(|(_, outcome)| outcome).collect();
    let mut wrong = Vec::new();
    let mut report = |what: &str, count: usize, example: String| {
        if count > 0 {
            wrong.push(format!("{count} {what}: {example}"));
        }
    };
    let missed: Vec<_> = outcomes.difference(&seen).collect();
    report("outcomes missed", missed.len(), format!("{:?}", missed.first()));
    let impossible: Vec<_> = seen.difference(&outcomes).collect();
    report("impossible outcomes", impossible.len(), format!("{:?}", impossible.first()));
    let missed = expected.keys().filter(|class| !found.contains_key(class)).count();
    report("classes missed", missed, format!("of {}", expected.len()));
    let unknown = found.keys().filter(|class| !expected.contains_key(class)).count();
    report("unknown classes", unknown, format!("beside {}", expected.len()));
    report("executions too many", ran.len() - found.len(), format!("for {} classes", found.len()));
    wrong
}

/// How often each outcome comes. Tasks that wait for ever are a deadlock or starve: which of the two, the
/// engine guesses, and the names of the tasks have a part in that.
fn multiset<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> BTreeMap<Outcome, usize> {
    let mut counts = BTreeMap::new();
    for (seen, finding) in outcomes {
        let finding = finding.map(|word| if word == "starvation" { "deadlock" } else { word });
        *counts.entry((seen.clone(), finding)).or_insert(0) += 1;
    }
    counts
}

/// Explores `program` in every way there is; what is wrong with any of them.
fn check(lab: &mut Lab, program: &Program, expected: &Classes, thorough: bool) -> Vec<String> {
    let subject = program.subject(false);
    let mut wrong = differences(expected, &lab.exhaust(&subject));
    // Timers of one deadline fire in the order in which their tasks were spawned.
    if program.budgets[Budget::EarlyFires] == 0 {
        let reversed = lab.exhaust(&program.subject(true));
        let (theirs, ours) = (multiset(reversed.iter().map(|(_, outcome)| outcome)), multiset(expected.values()));
        if theirs != ours {
            let example = theirs.iter().find(|(outcome, count)| ours.get(*outcome) != Some(*count));
            wrong.push(format!("spawned in reverse: {} classes, not {}: {example:?}", reversed.len(), expected.len()));
        }
    }
    if thorough {
        wrong.extend(differences(expected, &exhaust_with_two(&subject)).iter().map(|w| format!("two workers: {w}")));
        let failing = expected.values().filter(|(_, finding)| finding.is_some()).count() as u64;
        for threads in 1..=2 {
            let clock = match program.budgets[Budget::EarlyFires] {
                0 => String::new(),
                most => format!(", clock = explore, early_fires = {most}"),
            };
            let spurious = program.budgets[Budget::SpuriousWakeups];
            let weak = program.budgets[Budget::WeakFailures];
            let config = format!(
                "exhaustive(max_schedules = 1000000, spurious_wakeups = {spurious}, weak_failures = {weak}, threads = {threads}{clock})"
            );
            let body = subject.body.clone();
            let explored = drawloom::explore(config.parse().unwrap(), move || body(&Default::default()));
            let found = (explored.executions(), explored.failing_executions(), explored.exhausted());
            if found != (expected.len() as u64, failing, true) {
                let kinds: Vec<_> = explored.findings().iter().map(|found| found.kind()).collect();
                wrong.push(format!("{threads} threads: {} {kinds:?}; not {failing} failing", explored.summary()));
            }
        }
    }
    wrong
}

/// Compares the programs of `seeds` that have at most `most` schedules.
fn compare(generate: fn(u64) -> Program, seeds: Range<u64>, most: u64, thorough: bool) -> Compared {
    let mut compared = Compared::default();
    let mut lab = Lab::new();
    let mut bad = 0;
    for seed in seeds {
        let program = generate(seed);
        let Some(made) = lab.every_schedule(&program.subject(false), most) else { continue };
        let expected = made.classes;
        let of = |word: &[&str]| {
            expected.values().filter(|(_, finding)| finding.is_some_and(|found| word.contains(&found))).count()
        };
        compared.programs += 1;
        compared.schedules += made.schedules;
        compared.classes += expected.len();
        compared.deadlocks += of(&["deadlock", "starvation"]);
        compared.panics += of(&["panic"]);
        let mut wrong = Vec::from_iter(made.problems);
        wrong.extend(check(&mut lab, &program, &expected, thorough));
        if !wrong.is_empty() {
            bad += 1;
            eprintln!("seed {seed}: {program:?}\n  {}", wrong.join("\n  "));
        }
    }
    assert_eq!(bad, 0, "programs on which exploration and brute force disagree, of {compared:?}");
    compared
}

/// A poll that takes a message does not care who hangs up; moved before the send, it finds nothing, and
/// does. So the steps that stay before it matter, although they did not where it was made.
#[test]
fn a_poll_that_is_moved_meets_who_hangs_up() {
    let tasks = vec![vec![Op::Send(2, 0)], vec![Op::DropSender(2)], vec![Op::TryRecv(2)]];
    let program = Program { tasks, receivers: [2; 3], joined_by: vec![None; 3], budgets: Budgets::NONE };
    let mut lab = Lab::new();
    let made = lab.every_schedule(&program.subject(false), 1_000).expect("a small program");
    assert_eq!(made.classes.len(), 5);
    assert_eq!(check(&mut lab, &program, &made.classes, true), Vec::<String>::new());
}

/// That time has passed since a park began does not let it go on: its timer has to fire.
#[test]
fn a_park_that_is_moved_waits_for_its_own_timer() {
    let first = vec![Op::ParkTimeout(2), Op::ParkTimeout(2), Op::Unpark(1)];
    let tasks = vec![first, vec![Op::ParkTimeout(2), Op::Unpark(1)]];
    let program = Program {
        tasks,
        receivers: [0; 3],
        joined_by: vec![None; 2],
        budgets: Budgets::NONE.with(Budget::EarlyFires, 3),
    };
    let mut lab = Lab::new();
    let made = lab.every_schedule(&program.subject(false), 10_000).expect("a small program");
    assert_eq!(check(&mut lab, &program, &made.classes, true), Vec::<String>::new());
}

/// Which of several waits ends without a reason must not depend on which comes first: the budget is theirs together.
#[test]
fn every_wait_may_be_the_one_that_ends_without_a_reason() {
    let tasks = vec![vec![Op::Park], vec![Op::Unpark(0), Op::Park, Op::Park]];
    let budgets = Budgets::NONE.with(Budget::SpuriousWakeups, 1);
    let program = Program { tasks, receivers: [0; 3], joined_by: vec![None; 2], budgets };
    let mut lab = Lab::new();
    let made = lab.every_schedule(&program.subject(false), 1_000).expect("a small program");
    // None of them, the first, or the second; who parks after that waits in vain.
    assert_eq!(made.classes.len(), 3);
    assert_eq!(check(&mut lab, &program, &made.classes, true), Vec::<String>::new());
}

#[test]
fn random_programs_have_no_other_classes() {
    let compared = compare(generate, 0..100, 150, false);
    assert!(compared.programs > 40, "{compared:?}");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_have_no_other_classes() {
    let programs = std::env::var("DRAWLOOM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(26_000);
    println!("{:?}", compare(generate, 0..programs, 5_000, true));
}

#[test]
fn random_programs_that_await_values_have_no_other_classes() {
    let compared = compare(generate_awaiting, 0..120, 150, false);
    assert!(compared.programs > 40 && compared.deadlocks > 20, "{compared:?}");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_that_await_values_have_no_other_classes() {
    let programs = std::env::var("DRAWLOOM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(6_000);
    println!("{:?}", compare(generate_awaiting, 0..programs, 4_000, true));
}

#[test]
fn random_programs_whose_timers_fire_early_have_no_other_classes() {
    let compared = compare(generate_with_timers, 0..150, 150, false);
    assert!(compared.programs > 40, "{compared:?}");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_whose_timers_fire_early_have_no_other_classes() {
    let programs = std::env::var("DRAWLOOM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(2_500);
    println!("{:?}", compare(generate_with_timers, 0..programs, 3_000, true));
}

#[test]
fn random_programs_in_which_waits_end_and_exchanges_fail_without_a_reason_have_no_other_classes() {
    let compared = compare(generate_with_mishaps, 0..150, 150, true);
    assert!(compared.programs > 40, "{compared:?}");
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_in_which_waits_end_and_exchanges_fail_without_a_reason_have_no_other_classes() {
    let programs = std::env::var("DRAWLOOM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    println!("{:?}", compare(generate_with_mishaps, 0..programs, 4_000, true));
}

/// What tasks have seen in the executions that came to their end, under `config`: those tasks whose end main waits for. How far
/// others have come, whose joiner panics, is part of no class.
fn explored(program: &Program, config: &str) -> (drawloom::Exploration, BTreeSet<BTreeMap<usize, Vec<i64>>>) {
    let (body, seen) = (program.subject(false).body, Arc::new(Mutex::new(BTreeSet::new())));
    let theirs = seen.clone();
    let (joined_by, can_panic) = (program.joined_by.clone(), program.can_panic());
    let ends = move |task: &usize| !can_panic || joined_by.get(*task).is_none_or(Option::is_none);
    let exploration = drawloom::explore(config.parse().unwrap(), move || {
        let log = Arc::new(Log::default());
        body(&log);
        let mut seen = log.seen();
        seen.retain(|task, _| ends(task));
        theirs.lock().unwrap().insert(seen);
    });
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (exploration, seen)
}

/// Yields that are put into programs lose no outcome: neither under `exhaustive`, nor where `auto` says that it explored all.
/// The programs that were compared.
fn compare_with_yields(generate: fn(u64) -> Program, seeds: Range<u64>, most: u64) -> u64 {
    const WITHOUT: &str = "exhaustive(max_schedules = 1000000, spurious_wakeups = 0, weak_failures = 0)";
    const AUTO: &str = "auto(spurious_wakeups = 0, weak_failures = 0, shrink = false, fixes = 0)";
    let mut compared = 0;
    for seed in seeds {
        let program = generate(seed);
        let limited = WITHOUT.replace("1000000", &most.to_string());
        let (without, expected) = explored(&program, &limited);
        if !without.exhausted() {
            continue;
        }
        compared += 1;
        let yielding = program.with_yields(seed);
        let (with, found) = explored(&yielding, WITHOUT);
        if with.cut_spin_rounds().is_some() {
            // The same load before each of several yields is a spin loop for all that is known: it is cut, and says so.
            assert!(!with.exhausted() && found.is_subset(&expected), "seed {seed}: {yielding:?}");
            continue;
        }
        let counts = |e: &drawloom::Exploration| (e.executions(), e.failing_executions(), e.exhausted());
        let (expects, finds) = ((counts(&without), &expected), (counts(&with), &found));
        assert_eq!(finds, expects, "seed {seed}: {yielding:?}");
        let (auto, found) = explored(&yielding, AUTO);
        // What tasks see while an execution that has failed is torn down is none of its outcomes.
        if !auto.findings().is_empty() {
            continue;
        }
        let more: Vec<_> = found.difference(&expected).collect();
        assert!(more.is_empty(), "seed {seed}: {yielding:?} has {more:?} beyond {expected:?}");
        if auto.exhausted() {
            assert_eq!((0, &found), (without.failing_executions(), &expected), "auto, seed {seed}: {yielding:?}");
        }
    }
    compared
}

#[test]
fn yields_lose_no_outcome() {
    assert!(compare_with_yields(generate, 0..40, 200) > 15);
    assert!(compare_with_yields(generate_awaiting, 0..20, 200) > 5);
}

#[test]
#[ignore = "a long run: use --release"]
fn yields_lose_no_outcome_of_many_programs() {
    let programs = std::env::var("DRAWLOOM_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    println!("{} programs", compare_with_yields(generate, 0..programs, 5_000));
    println!("{} programs that await values", compare_with_yields(generate_awaiting, 0..programs / 2, 5_000));
}

/// In whichever order workers claim what is to be explored, and make it, nothing is left out.
fn compare_turns(generate: fn(u64) -> Program, seeds: Range<u64>, turns: u64) -> u64 {
    let (mut compared, mut lab) = (0, Lab::new());
    let mut wrong = Vec::new();
    for seed in seeds {
        let program = generate(seed);
        let subject = program.subject(false);
        let Some(made) = lab.every_schedule(&subject, 200) else { continue };
        compared += 1;
        let differs = |turns: &u64| !differences(&made.classes, &lab.exhaust_in_turns(&subject, *turns)).is_empty();
        let bad: Vec<_> = (0..turns).filter(differs).collect();
        if !bad.is_empty() {
            wrong.push(format!("seed {seed}, turns {bad:?}: {program:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    compared
}

#[test]
fn workers_in_any_order_leave_nothing_out() {
    assert!(compare_turns(generate_with_timers, 0..20, 10) > 8);
    assert!(compare_turns(generate, 0..20, 5) > 8);
}

#[test]
#[ignore = "a long run: use --release"]
fn workers_in_any_order_leave_nothing_out_of_many_programs() {
    println!("{} with timers", compare_turns(generate_with_timers, 0..2_500, 30));
    println!("{} others", compare_turns(generate, 0..1_500, 30));
    println!("{} that await values", compare_turns(generate_awaiting, 0..1_000, 30));
}
