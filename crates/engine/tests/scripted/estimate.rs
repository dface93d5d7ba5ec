//! How many executions there will be is estimated: how well?

use drawloom_engine::exhaustive::Explorer;
use drawloom_engine::{Engine, Limits};

use crate::driver::{ALONE, Program, run_on};
use crate::exhaustive::{LARGE, SMALL};
use crate::published::{Cost, Row, rows};

/// The estimates after each of these fractions of the classes.
fn estimates<const N: usize>(row: &Row, fractions: [f64; N]) -> [f64; N] {
    let program = Program::parse(row.text);
    let explorer = Explorer::new(ALONE, u64::MAX);
    let mut engine = Engine::new();
    let mut made = 0;
    fractions.map(|fraction| {
        while made < (row.classes as f64 * fraction) as usize {
            let mut strategy = explorer.claim().expect("there are more");
            run_on(&mut engine, &program, &mut strategy, &Limits::default(), 0);
            made += 1;
        }
        explorer.estimate() as f64
    })
}

/// Of the programs of more than fifty classes: how many there are, and of how many the estimates after a
/// fifth of the executions, and after half of them, are wrong by a factor of 2.5 at most.
fn check(costs: &'static [Cost]) -> (usize, [usize; 2]) {
    let (mut programs, mut good) = (0, [0, 0]);
    for row in rows(costs).filter(|row| row.classes > 50) {
        programs += 1;
        let classes = row.classes as f64;
        let estimates = estimates(row, [0.05, 0.2, 0.5, 1.0]);
        let factors = estimates.map(|estimate| estimate / classes);
        println!(
            "{:16} {:6} classes, estimated after 5, 20, 50 %: {:.2?} times that",
            row.name,
            classes,
            &factors[..3]
        );
        assert_eq!(estimates[3], classes, "{}: when all is done it is known", row.name);
        for (good, factor) in good.iter_mut().zip(&factors[1..3]) {
            *good += usize::from((0.4..=2.5).contains(factor));
        }
    }
    println!("{programs} programs; wrong by a factor of 2.5 at most after 20 %, 50 %: {good:?}");
    (programs, good)
}

#[test]
fn the_estimate_is_of_the_right_size_for_most_small_programs() {
    let (programs, [after_a_fifth, after_half]) = check(SMALL);
    assert!(after_a_fifth * 10 >= programs * 8 && after_half * 10 >= programs * 8);
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn the_estimate_is_of_the_right_size_for_most_large_programs() {
    let (programs, [after_a_fifth, after_half]) = check(LARGE);
    assert!(after_a_fifth * 10 >= programs * 8 && after_half * 10 >= programs * 8);
}
