//! Protocols: their bugs are found, and their fixed twins are clean.

use drawloom::Config;
use drawloom_suite::clusters::{self, Difficulty, PROTOCOLS, Protocol};

#[allow(dead_code)]
#[path = "../../drawloom/tests/cluster/brute.rs"]
mod brute;

const RULES: &str = "shrink = false, trace = false";

fn exhaust(body: impl Fn() + Send + Sync + 'static) -> (u64, u64) {
    let config = format!("exhaustive(max_schedules = 100_000, resume = false), keep_going = true, {RULES}");
    let explored = drawloom::explore(config.parse().expect("a configuration"), body);
    assert!(explored.exhausted(), "{}", explored.summary());
    (explored.executions(), explored.failing_executions())
}

/// Executions within which the bug is to be found.
fn most(protocol: &Protocol) -> u64 {
    match protocol.difficulty {
        Difficulty::Easy => 100,
        Difficulty::Medium => 10_000,
    }
}

fn sampled(protocol: &Protocol, seed: u64, body: fn()) -> drawloom::Exploration {
    let config: Config = format!("auto(seed = {seed}), {RULES}").parse().expect("a configuration");
    drawloom::explore(config.iterations(most(protocol).max(1_000)), body)
}

#[test]
fn reading_without_writing_back_has_11_664_classes() {
    let run = || {
        let (cluster, inversion) = clusters::register_of(false, false);
        cluster.run();
        assert!(!*inversion.get(), "the second read sees an older value than the first");
    };
    // The orders in which the writer and both readers hear three servers, and those of three messages at each server: at two of them the
    // first reader asks before the second, since the second one begins when the first has heard of two.
    assert_eq!(6 * 6 * 6 * (3 * 3 * 6), 11_664);
    assert_eq!(exhaust(run), (11_664, 432));
}

#[test]
#[ignore = "half a minute: `cargo test -p drawloom-suite --test clusters -- --ignored brute`"]
fn reading_without_writing_back_has_as_many_classes_as_there_are_by_brute_force() {
    assert_eq!(brute::count(|host| drop(clusters::register_of(false, false).0.run_on(host))), 11_664);
}

#[test]
fn an_election_has_8_classes_and_24_with_a_crash() {
    for (is_fixed, reboots, expected) in
        [(false, None, (8, 0)), (true, None, (8, 0)), (false, Some(2), (24, 8)), (true, Some(2), (20, 0))]
    {
        let explored = exhaust(move || drop(clusters::one_election(is_fixed, reboots).run()));
        assert_eq!(explored, expected, "{is_fixed} {reboots:?}");
    }
}

#[test]
fn an_election_has_260_orders_and_up_to_2040_with_a_crash() {
    for (reboots, expected) in [(None, (260, 8)), (Some(2), (2040, 20))] {
        let run = |host: &mut dyn drawloom::cluster::Host| drop(clusters::one_election(true, reboots).run_on(host));
        let (orders, classes) = brute::classes(10_000, run).expect("few orders");
        assert_eq!((orders, classes.len()), expected, "{reboots:?}");
    }
}

#[test]
fn the_bugs_are_found() {
    for protocol in PROTOCOLS {
        let found = |seed| {
            let found = sampled(protocol, seed, protocol.buggy);
            if found.findings().is_empty() { u64::MAX } else { found.executions() }
        };
        let mut needed = [0, 1, 2, 3, 4].map(found);
        needed.sort_unstable();
        assert!(needed[2] <= most(protocol), "{}: {needed:?}", protocol.name);
    }
}

#[test]
fn the_fixed_twins_are_clean() {
    for protocol in PROTOCOLS {
        let clean = sampled(protocol, 0, protocol.fixed);
        let first = clean.findings().first().map(drawloom::Failure::report);
        assert!(first.is_none(), "{}: {}", protocol.name, first.unwrap_or_default());
        assert!(clean.exhausted() || clean.executions() >= most(protocol), "{}", protocol.name);
    }
}
