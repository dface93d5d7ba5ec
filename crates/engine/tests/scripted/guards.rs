//! Programs under a virtual guard do what they would do if they had been edited.

use std::collections::HashSet;
use std::sync::Arc;

use drawloom_engine::finding::FindingKind;
use drawloom_engine::guard::{Armed, Guard, Region, Site};
use drawloom_engine::strategy::{Pct, Pos, Random, Strategy, Surw, Tape};
use drawloom_engine::{Engine, Limits};

use super::exhaustive::{compare_those, compare_under, exactly, explore};
use crate::driver::{Program, Run, generate_in_turns, run_on};

/// The place of a line of a program, from 1.
fn line(line: usize) -> Site {
    Site { file: String::new(), line: line as u32, column: 0 }
}

fn place(site: drawloom_engine::Site) -> Option<Site> {
    (site.0 > 0).then(|| line(site.0))
}

fn region(enter: usize, leave: usize) -> Region {
    Region { enter: line(enter), leave: line(leave), whole: false }
}

fn under(guard: Guard) -> Limits {
    Limits { guard: Some(Arc::new(Armed { guard, place })), run_on: true, ..Limits::default() }
}

fn lock(regions: &[(usize, usize)]) -> Guard {
    Guard::Lock(regions.iter().map(|(enter, leave)| region(*enter, *leave)).collect())
}

fn atomic(regions: &[(usize, usize)]) -> Guard {
    Guard::Atomic(regions.iter().map(|(enter, leave)| region(*enter, *leave)).collect())
}

/// The lines of `text` that begin with `word`.
fn lines(text: &str, word: &str) -> Vec<usize> {
    (1..).zip(text.lines()).filter(|(_, line)| line.starts_with(word)).map(|(number, _)| number).collect()
}

/// The memory, and the finding.
type End = (Vec<i64>, Option<String>);

/// How many executions there are, and what they end with.
fn ends(text: &str, limits: &Limits) -> (usize, HashSet<End>) {
    let mut ends = HashSet::new();
    let executions = explore(&Program::parse(text), limits, |run: &Run| {
        ends.insert((run.memory.clone(), run.finding.clone()));
    });
    (executions, ends)
}

#[test]
fn increments_under_a_new_lock_have_the_classes_of_increments_with_a_lock() {
    for (plain, locked, classes) in [
        (include_str!("../programs/ninc-2-1.txt"), None, 2),
        (include_str!("../programs/ninc-2-2.txt"), None, 6),
        (include_str!("../programs/ninc-3-1.txt"), None, 6),
        (include_str!("../programs/ninc-3-2.txt"), Some(include_str!("../programs/ninclock-3-2.txt")), 90),
    ] {
        let regions: Vec<_> = lines(plain, "load").into_iter().zip(lines(plain, "store")).collect();
        let (executions, ends) = ends(plain, &under(lock(&regions)));
        assert_eq!((executions, ends.len()), (classes, 1), "no update is lost: {ends:?}");
        if let Some(locked) = locked {
            let mut written = 0;
            explore(&Program::parse(locked), &Limits::default(), |_| written += 1);
            assert_eq!(written, classes, "as if the lock had been written down");
        }
    }
}

#[test]
fn a_guard_that_covers_too_little_changes_nothing_that_matters() {
    let text = include_str!("../programs/ninc-2-1.txt");
    let (_, free) = ends(text, &Limits { run_on: true, ..Limits::default() });
    assert_eq!(free.len(), 2, "an update may be lost");
    let each_access: Vec<_> = lines(text, "load").into_iter().chain(lines(text, "store")).map(|l| (l, l)).collect();
    let one_task: Vec<_> = lines(text, "load").into_iter().zip(lines(text, "store")).take(1).collect();
    for regions in [each_access, one_task] {
        assert_eq!(ends(text, &under(lock(&regions))).1, free, "{regions:?}");
    }
}

#[test]
fn a_lock_around_both_acquisitions_ends_a_deadlock_and_one_in_between_makes_one() {
    let text = "mutex a; mutex b; var x\nthread t0\nlock a\nlock b\nunlock b\nunlock a\n\
                thread t1\nlock b\nlock a\nunlock a\nunlock b\n";
    let (_, free) = ends(text, &under(lock(&[])));
    assert!(free.iter().any(|(_, finding)| finding.as_deref() == Some("deadlock")));
    let (_, around) = ends(text, &under(lock(&[(3, 6), (8, 11)])));
    assert_eq!(around, HashSet::from([(vec![0, 0, 0], None)]));
    // In one task only, taken while the other's lock is held: a new cycle.
    let text = "mutex a; var x\nthread t0\nlock a\nstore x 1\nunlock a\nthread t1\nstore x 2\nlock a\nunlock a\n";
    let mut cycles = 0;
    explore(&Program::parse(text), &under(lock(&[(4, 4), (7, 9)])), |run| {
        if let Some(FindingKind::Deadlock(deadlock)) = &run.kind {
            cycles += usize::from(deadlock.cycle.len() == 2);
        }
    });
    assert_eq!(cycles, 1, "each has what the other wants");
}

#[test]
fn a_wait_gives_the_new_lock_back_so_that_a_wake_up_is_not_lost() {
    // The flag is looked at without the mutex: a notification may come in between.
    let text = "var flag; mutex m; cond c\nthread waiter\nload r0 flag\njnz r0 done\nlock m\ncvwait c m\nunlock m\n\
                label done\nthread setter\nstore flag 1\nnotify c\n";
    let stuck = |limits: &Limits| ends(text, limits).1.iter().any(|(_, finding)| finding.is_some());
    assert!(stuck(&under(lock(&[]))), "the wake-up is lost");
    assert!(!stuck(&under(lock(&[(3, 6), (10, 10)]))), "look and wait are one");
    assert!(stuck(&under(lock(&[(3, 3), (10, 10)]))), "the look alone is not enough");
}

#[test]
fn what_is_to_come_after_waits_for_what_is_to_come_before() {
    let text = "var x; var y\nthread t0\nstore x 1\nthread t1\nload r0 x\nstore y r0\n";
    let order = |before, after| under(Guard::Order { before: line(before), after: line(after) });
    assert_eq!(ends(text, &order(3, 5)), (1, HashSet::from([(vec![1, 1], None)])));
    assert_eq!(ends(text, &order(5, 3)), (1, HashSet::from([(vec![1, 0], None)])));
    let (executions, wrong) = ends(text, &order(99, 5));
    assert_eq!((executions, wrong), (1, HashSet::from([(vec![1, 0], Some("starvation".into()))])));
}

#[test]
fn a_region_that_is_left_by_another_way_ends_when_it_begins_again_or_with_its_task() {
    // `leave` is never reached: the loop comes round to `enter` and lets the other one in between.
    let text = "var x; var y\nthread t0\nload _ x\nload _ y\nload _ x\nload _ y\nthread t1\nstore x 1\n";
    let (executions, ends) = ends(text, &under(lock(&[(3, 99), (5, 99), (8, 8)])));
    assert_eq!(ends, HashSet::from([(vec![1, 0], None)]), "nobody is kept out for ever");
    assert!(executions > 1);
}

#[test]
fn nobody_runs_while_a_task_is_in_an_atomic_region() {
    let text = include_str!("../programs/ninc-3-2.txt");
    let regions: Vec<_> = lines(text, "load").into_iter().zip(lines(text, "store")).collect();
    let strategies: [Box<dyn Strategy>; 4] =
        [Box::new(Random::new()), Box::new(Pos::new()), Box::new(Pct::new(3)), Box::new(Surw::new())];
    let mut engine = Engine::new();
    for mut strategy in strategies {
        for guard in [atomic(&regions), lock(&regions)] {
            for seed in 0..50 {
                let limits = Limits { run_on: false, ..under(guard.clone()) };
                let run = run_on(&mut engine, &Program::parse(text), &mut *strategy, &limits, seed);
                assert_eq!((run.memory, run.finding), (vec![6], None));
            }
        }
    }
}

#[test]
fn a_wait_ends_an_atomic_region() {
    let text = "var x; chan q inf\nthread t0\nload _ x\nrecv r0 q\nstore x r0\nthread t1\nsend q 7\n";
    let run = |seed| {
        let mut random = Random::new();
        run_on(&mut Engine::new(), &Program::parse(text), &mut random, &under(atomic(&[(3, 5)])), seed)
    };
    assert!((0..20).map(run).all(|run| run.finding.is_none() && run.memory[0] == 7));
}

#[test]
fn who_waits_for_the_new_lock_lets_others_have_the_turn() {
    // Both await something between look and write: on one thread, which they share by turns.
    let task = "lock t\nload r0 x\nunlock t\nlock t\nset r0 r0 + 1\nstore x r0\nunlock t\n";
    let text = format!("var x; turn t\nthread t0\n{task}thread t1\n{task}");
    let (_, free) = ends(&text, &Limits { run_on: true, ..Limits::default() });
    assert!(free.contains(&(vec![1, 0], None)), "an update may be lost: {free:?}");
    let (executions, ends) = ends(&text, &under(lock(&[(4, 8), (11, 15)])));
    assert_eq!(ends, HashSet::from([(vec![2, 0], None)]), "none is lost, and nobody stands still");
    assert!(executions > 2, "the other one is let in at the await, and finds the lock taken");
}

/// A guard over random lines of a program.
pub fn random_guard(seed: u64, text: &str) -> Option<Arc<Armed>> {
    let mut tape = Tape::new(seed ^ 0x9e37);
    let count = text.split(['\n', ';']).count() as u64 + 4;
    let mut any = || line(1 + tape.below(count) as usize);
    let guard = match seed % 4 {
        // A wait for a notification gives the new lock back without a step of its own.
        0 | 1 if text.contains("cvwait") => Guard::Order { before: any(), after: any() },
        _ if text.contains("cvwait") => return None,
        0 => Guard::Order { before: any(), after: any() },
        n => Guard::Lock((0..n + 1).map(|_| Region { enter: any(), leave: any(), whole: false }).collect()),
    };
    Some(Arc::new(Armed { guard, place }))
}

#[test]
fn random_programs_under_random_guards_have_no_other_classes_than_every_schedule_shows() {
    assert!(compare_under(0..400, 300, random_guard, exactly) > 100);
}

/// A lock over random lines.
fn random_lock(seed: u64, text: &str) -> Option<Arc<Armed>> {
    random_guard(4 * seed + 1 + seed % 3, text)
}

#[test]
fn random_programs_that_take_turns_under_random_locks_have_no_other_classes_than_every_schedule_shows() {
    assert!(compare_those(generate_in_turns, 0..150, 400, random_lock, exactly) > 50);
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_that_take_turns_under_random_locks_have_no_other_classes() {
    println!("{} programs", compare_those(generate_in_turns, 0..10_000, 4_000, random_lock, exactly));
}

#[test]
#[ignore = "a long run: use --release"]
fn many_random_programs_under_random_guards_have_no_other_classes() {
    println!("{} programs", compare_under(0..10_000, 3_000, random_guard, exactly));
}
