//! Each strategy needs as many schedules as it should: twelve cells of the table, with fixed seeds.
//!
//! The mean of 200 trials has a standard error of 7 %; a correct implementation lands within 25 % of what the
//! simulator needs. Cells in which our rules matter (`book/src/explanation/strategies.md` says where, and why) are not among
//! them; of `random` they are in `tickets.rs`.

use drawloom_suite::{Program, Trials, explore, schedules_to_first_bug};

const TRIALS: u64 = 200;
const CUT: u64 = 10_000;

fn check(strategy: &str, programs: &[&str]) {
    for name in programs {
        let program = Program::named(name).expect("a program");
        let expected = program.expected(strategy).expect("measured");
        let mut trials = Trials::default();
        for trial in 0..TRIALS {
            trials.add(schedules_to_first_bug(&program.body, strategy, trial, CUT), CUT);
        }
        let mean = trials.mean().unwrap_or(f64::INFINITY);
        assert!((mean / expected - 1.0).abs() <= 0.25, "{name} with {strategy}: {mean:.1} instead of {expected}");
    }
}

#[test]
fn random_conforms() {
    check("random", &["lost_update", "cve_2017_6346"]);
}

#[test]
fn pct_conforms() {
    check("pct(depth = 3)", &["account", "twostage"]);
}

#[test]
fn pos_conforms() {
    check("pos", &["deadlock01", "twostage"]);
}

#[test]
fn urw_conforms() {
    check("urw", &["account", "lost_update"]);
}

#[test]
fn surw_conforms() {
    check("surw", &["account", "lost_update", "cve_2016_7911"]);
}

#[test]
fn race_directed_conforms() {
    check("race_directed", &["reorder_3"]);
}

#[test]
fn fixed_twins_are_silent_whatever_the_strategy() {
    let strategies =
        ["sticky", "pct(depth = 3)", "pos", "urw", "surw", "race_directed", "delay_bounded", "corpus", "auto"];
    for name in ["account", "deadlock01", "twostage", "bounded_buffer", "wsq_spin", "stale_read", "lost_update"] {
        let program = Program::named(name).expect("a program");
        for strategy in strategies {
            let explored = explore(&format!("{strategy}, iterations = 30"), program.body.fixed);
            let first = explored.findings().first().map(drawloom::Failure::report);
            assert!(first.is_none(), "{name} with {strategy}: {}", first.unwrap_or_default());
        }
    }
}
