//! A yield is a hint: it changes no set of outcomes.
//!
//! The oracle is metamorphic. A program with yields between its instructions must have the outcomes of the program without
//! them: all of these under exhaustive exploration, in as many executions, and no other ones under any strategy.

use std::collections::BTreeSet;

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::strategy::{Pct, Pos, Random, Strategy, Surw, Urw};
use drawloom_engine::{Engine, Limits};

use crate::driver::{
    ALONE, Program, Run, generate, generate_awaiting, generate_exchanging, generate_preferring, generate_waiting,
    run_on, up_to, with_yields,
};

type Outcome = (Vec<[i64; 8]>, Vec<i64>, Option<String>);

fn outcome(run: &Run) -> Outcome {
    (run.registers.clone(), run.memory.clone(), run.finding.clone())
}

fn exhaustive(rounds: u32) -> Limits {
    Limits { run_on: true, starvation_bound: u64::MAX, spin_rounds: Some(rounds), ..Limits::default() }
}

/// All outcomes that exhaustive exploration finds, in how many executions, and whether a spin loop was cut. `None` if
/// there are more than `most` executions.
fn exhaust(program: &Program, rounds: u32, most: usize) -> Option<(BTreeSet<Outcome>, usize, bool)> {
    let (explorer, mut engine) = (Explorer::new(ALONE, u64::MAX), Engine::new());
    let (mut found, mut executions, mut cut) = (BTreeSet::new(), 0, false);
    while let Some(mut strategy) = explorer.claim() {
        let run = run_on(&mut engine, program, &mut strategy, &exhaustive(rounds), 0);
        assert_ne!(run.finding.as_deref(), Some("divergence"), "{:?}", run.kind);
        found.insert(outcome(&run));
        executions += 1;
        cut |= engine.spins_were_cut();
        if executions > most {
            return None;
        }
    }
    assert!(explorer.progress().exhausted, "{:?}", explorer.take_divergence());
    Some((found, executions, cut))
}

/// Registers and memory, shortly: those of the first thread's r0 … and of variables.
fn registers(outcomes: &BTreeSet<Outcome>, of: &[(usize, usize)]) -> Vec<Vec<i64>> {
    let seen: BTreeSet<Vec<i64>> = outcomes
        .iter()
        .map(|(registers, _, _)| of.iter().map(|(thread, r)| registers[*thread][*r]).collect())
        .collect();
    seen.into_iter().collect()
}

fn compare(seeds: std::ops::Range<u64>, most: usize) -> u64 {
    let mut compared = 0;
    for seed in seeds {
        let generators = [generate, generate_awaiting, generate_exchanging, generate_waiting, generate_preferring];
        let (program, text) = generators[(seed % 5) as usize](seed);
        let Some((expected, classes, _)) = exhaust(&program, 3, most) else { continue };
        let yielding = with_yields(&text, seed);
        let (found, executions, cut) = exhaust(&Program::parse(&yielding), 3, usize::MAX).expect("as many");
        assert_eq!((found == expected, executions, cut), (true, classes, false), "seed {seed}\n{yielding}");
        compared += 1;
    }
    compared
}

#[test]
fn yields_change_no_outcome_under_exhaustive_exploration() {
    assert!(compare(0..400, 300) > 250);
}

#[test]
#[ignore = "a long run: use --release"]
fn yields_change_no_outcome_of_many_programs() {
    println!("{} programs", compare(0..4_000, 20_000));
}

/// A program, the registers of threads in which its outcome is, and all outcomes.
type Case = (&'static str, &'static [(usize, usize)], &'static [&'static [i64]]);

const TABLE: [Case; 4] = [
    ("var x\nthread a; store x 1; yield; store x 2\nthread b; load r0 x", &[(1, 0)], &[&[0], &[1], &[2]]),
    (
        "var x\nthread a; load r0 x; yield; load r1 x\nthread b; store x 1; store x 2",
        &[(0, 0), (0, 1)],
        &[&[0, 0], &[0, 1], &[0, 2], &[1, 1], &[1, 2], &[2, 2]],
    ),
    (
        "mutex m
        thread a; trylock r0 m; jnz r0 first; yield; trylock r0 m; jnz r0 second; set r1 3; jmp over
            label first; set r1 1; unlock m; jmp over; label second; set r1 2; unlock m; label over
        thread b; lock m; unlock m",
        &[(0, 1)],
        &[&[1], &[2], &[3]],
    ),
    (
        "var x
        thread a; set r7 3; label top; load r0 x; jnz r0 over; yield; set r7 r7 - 1; jnz r7 top; set r0 9; label over
        thread b; store x 1; store x 2",
        &[(0, 0)],
        &[&[1], &[2], &[9]],
    ),
];

#[test]
fn what_follows_a_yield_at_once_is_explored() {
    for (text, of, expected) in TABLE {
        let (found, _, cut) = exhaust(&Program::parse(text), 3, usize::MAX).expect("few");
        assert_eq!((registers(&found, of), cut), (expected.iter().map(|e| e.to_vec()).collect(), false), "{text}");
    }
}

#[test]
fn what_follows_a_yield_at_once_is_sampled() {
    type Make = fn() -> Box<dyn Strategy>;
    let strategies: [(&str, Make); 6] = [
        ("random", || Box::new(Random::new())),
        ("sticky", || Box::new(Random::sticky(3))),
        ("pos", || Box::new(Pos::new())),
        ("pct", || Box::new(Pct::new(3))),
        ("surw", || Box::new(Surw::new())),
        ("urw", || Box::new(Urw::new())),
    ];
    for (text, of, expected) in TABLE {
        let program = Program::parse(text);
        for (name, strategy) in strategies {
            let (mut engine, mut strategy, mut found) = (Engine::new(), strategy(), BTreeSet::new());
            for seed in 0..5_000 {
                found.insert(outcome(&run_on(&mut engine, &program, &mut *strategy, &Limits::default(), seed)));
            }
            let found = registers(&found, of);
            assert_eq!(found, expected.iter().map(|e| e.to_vec()).collect::<Vec<_>>(), "{name}: {text}");
        }
    }
}

/// A lock that spins for a while and then waits: the fallback is reached while another holds the lock.
#[test]
fn a_loop_that_gives_up_after_a_hundred_rounds_does_so_in_some_execution() {
    let text = "var locked; var work
        thread a; set r7 100; label top; load r0 locked; jz r0 over; yield; set r7 r7 - 1; jnz r7 top; set r1 9; label over
        thread b; store locked 1; faa _ work 1; faa _ work 1; store locked 0";
    let program = Program::parse(text);
    let (mut engine, mut strategy) = (Engine::new(), Pct::new(3));
    let mut gives_up =
        |seed| run_on(&mut engine, &program, &mut strategy, &Limits::default(), seed).registers[0][1] == 9;
    assert!((0..1_000).any(&mut gives_up));
}

/// Rounds in loops with and without a yield: the yield makes no difference to what is explored, as far as it is explored.
#[test]
fn bounded_loops_have_the_outcomes_of_every_schedule() {
    for (rounds, writers) in [(1, 1), (2, 1), (3, 1), (3, 2), (2, 2)] {
        let text = |hint: &str| {
            let spin = format!(
                "set r7 {rounds}; label L; load r0 x; jnz r0 M; {hint} set r7 r7 - 1; jnz r7 L; set r0 9; label M"
            );
            let writers: String = (0..writers).map(|w| format!("thread w{w}; faa r1 x 1; faa r2 x 1\n")).collect();
            format!("var x\nthread a; {spin}; faa r3 x 10\n{writers}")
        };
        let mut expected = BTreeSet::new();
        up_to(1_000_000, &Program::parse(&text("")), &Limits::default(), |run| {
            expected.insert(outcome(run));
        })
        .expect("few schedules");
        let (found, _, cut) = exhaust(&Program::parse(&text("yield;")), 3, usize::MAX).expect("few");
        assert_eq!((found, cut), (expected, false), "{rounds} rounds, {writers} writers");
    }
}

/// The number of rounds is bounded, and that is told.
#[test]
fn loops_without_an_end_are_cut_and_that_is_known() {
    let spin = "label top; load r0 x; jnz r0 over; yield; jmp top; label over";
    let counting = "label top; faa _ n 1; load r0 x; jnz r0 over; yield; jmp top; label over";
    let swapping = "label top; xchg r0 x 1; jz r0 over; yield; jmp top; label over; store x 0";
    let alternating = "label top; load r0 x; jnz r0 over; yield; load r1 y; jnz r1 over; yield; jmp top; label over";
    let backing_off = "label top; load r0 x; jnz r0 over; yield; yield; yield; jmp top; label over";
    for (text, most) in [
        (format!("var x\nthread a; {spin}\nthread b; store x 1"), 6),
        (format!("var x\nthread a; {spin}\nthread b; {spin}\nthread c; store x 1"), 40),
        (format!("var x; var n\nthread a; {counting}\nthread b; store x 1"), 30),
        (format!("var x; var y\nthread a; {alternating}\nthread b; store y 1; store x 1"), 80),
        (format!("var x\nthread a; {backing_off}\nthread b; store x 1"), 6),
        (format!("var x\nthread a; {swapping}\nthread b; {swapping}"), 200),
    ] {
        let (found, executions, cut) = exhaust(&Program::parse(&text), 3, most).unwrap_or_else(|| panic!("{text}"));
        assert!(cut, "{text}");
        assert!(found.iter().all(|(_, _, finding)| finding.is_none()), "{text}: {found:?}");
        println!("{executions} executions: {text}");
    }
}

/// What a held task does next is explored when nobody else can go on.
#[test]
fn a_loop_that_gives_up_late_gives_up_when_nobody_else_can_go_on() {
    let text = "var x\nthread a; set r7 20; label top; load r0 x; jnz r0 over; yield; set r7 r7 - 1; jnz r7 top; set r0 9; label over
        thread b; store x 0";
    let (found, _, cut) = exhaust(&Program::parse(text), 3, 1_000).expect("few");
    assert_eq!((registers(&found, &[(0, 0)]), cut), (vec![vec![9]], true));
}

#[test]
fn a_program_that_yields_is_deterministic() {
    let text = "mutex m; mutex n; var y
        thread a; trylock r0 m; jz r0 L; unlock m; label L; cas r1 y 0 1; yield
        thread b; lock n; yield; await r0 y == 0; lock m; unlock m; unlock n";
    let (with, executions, _) = exhaust(&Program::parse(text), 3, 1_000).expect("few");
    let (without, classes, _) = exhaust(&Program::parse(&text.replace("; yield", "")), 3, 1_000).expect("few");
    assert_eq!((with, executions), (without, classes));
}
