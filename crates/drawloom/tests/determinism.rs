//! The same seed gives the same executions: twice, in two processes, on one OS thread and on two.

mod support;

use proptest::prelude::*;
use support::program::{Program, programs};

/// What two explorations must agree on: everything but the time they took.
fn fingerprint(program: &Program, config: &str) -> String {
    let program = program.clone();
    let exploration = drawloom::explore(config.parse().expect("a valid configuration"), move || program.run());
    let findings: Vec<_> =
        exploration.findings().iter().map(|f| (f.kind(), f.iteration(), f.occurrences(), f.record().write())).collect();
    format!("{} {} {} {findings:?}", exploration.executions(), exploration.steps(), exploration.behaviours())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 25, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_seed_gives_the_same_exploration(program in programs(), seed: u64) {
        let config = format!("random(iterations = 40, seed = {seed}), keep_going = true, threads = 1");
        prop_assert_eq!(fingerprint(&program, &config), fingerprint(&program, &config));
    }

    #[test]
    fn two_workers_find_what_one_finds(program in programs(), seed: u64) {
        let config = |threads, keep_going| {
            format!("random(iterations = 300, seed = {seed}), keep_going = {keep_going}, threads = {threads}")
        };
        prop_assert_eq!(fingerprint(&program, &config(1, true)), fingerprint(&program, &config(2, true)));
        prop_assert_eq!(fingerprint(&program, &config(1, false)), fingerprint(&program, &config(2, false)));
    }
}

#[test]
fn another_process_makes_the_same_executions() {
    let here = fingerprints_of_fixed_programs();
    if std::env::var_os("DRAWLOOM_TEST_CHILD").is_some() {
        println!("<<{here}>>");
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().expect("the running test"))
        .args(["--exact", "another_process_makes_the_same_executions", "--nocapture"])
        .env("DRAWLOOM_TEST_CHILD", "1")
        .output()
        .expect("the same test in another process");
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    let there = output.split_once("<<").and_then(|(_, rest)| rest.split_once(">>")).map(|(text, _)| text);
    assert_eq!(there, Some(here.as_str()));
}

fn fingerprints_of_fixed_programs() -> String {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut all = String::new();
    for _ in 0..10 {
        let program = programs().new_tree(&mut runner).expect("a program").current();
        all.push_str(&fingerprint(&program, "random(iterations = 20, seed = 7), keep_going = true, threads = 1"));
        all.push('\n');
    }
    all
}
