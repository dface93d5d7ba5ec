//! What the grammar takes.

use super::*;

#[test]
fn nothing_is_all_defaults() {
    assert_eq!(parsed(""), Config::new());
    assert_eq!(parsed("  "), Config::new());
    assert_eq!(parsed("auto"), Config::new());
    assert_eq!(parsed("auto()"), Config::new());
}

#[test]
fn strategies_with_their_own_arguments() {
    assert_eq!(parsed("sequential").strategy, StrategySpec::Sequential);
    assert_eq!(parsed("round_robin").strategy, StrategySpec::RoundRobin);
    assert_eq!(parsed("sticky").strategy, StrategySpec::Sticky { stickiness: 3 });
    assert_eq!(parsed("pct").strategy, StrategySpec::Pct { depth: 3 });
    assert_eq!(parsed("idpct(deepest = 4)").strategy, StrategySpec::Idpct { shallowest: 2, deepest: 4 });
    assert_eq!(parsed("race_directed(constraints = 1)").strategy, StrategySpec::RaceDirected { constraints: 1 });
    assert_eq!(
        parsed(r#"replay(token = "d1:abc", lenient = true)"#).strategy,
        StrategySpec::Replay { token: "d1:abc".to_owned(), lenient: true }
    );
}

#[test]
fn shared_arguments_stand_anywhere_in_any_order() {
    let expected = Config::new().iterations(100).seed(42).progress_bound(50_000);
    for source in [
        "auto(iterations = 100, seed = 42, progress_bound = 50000)",
        "progress_bound = 50_000, auto(seed = 0x2a, iterations = 100,),",
        "seed = 42, iterations = 100, progress_bound = 50000",
        "seed=42,auto,iterations=100,progress_bound=50000",
    ] {
        assert_eq!(parsed(source), expected, "{source}");
    }
}

#[test]
fn durations_and_sizes_bare_or_quoted() {
    for source in ["timeout = 60s", "timeout = \"60s\"", "timeout = 1m"] {
        assert_eq!(parsed(source).timeout, Some(Duration::from_secs(60)));
    }
    for source in ["64KiB", "\"64KiB\"", "65536"] {
        assert_eq!(parsed(&format!("stack_size = {source}")).stack_size, 65536);
    }
}

#[test]
fn the_rest_of_the_arguments() {
    let config = parsed(
        "clock = explore, early_fires = 7, teardown = leak, leaks = false, unjoined = true, \
         trace = false, keep_going = true, spurious_wakeups = 2, weak_failures = 4, \
         threads = 2, max_tasks = 9, max_steps = 5, name = \"a \\\"b\\\"\"",
    );
    let expected = Config::new()
        .clock(Clock::Explore)
        .early_fires(7)
        .teardown(Teardown::Leak)
        .leaks(false)
        .unjoined(true)
        .trace(false)
        .keep_going(true)
        .spurious_wakeups(2)
        .weak_failures(4)
        .threads(2)
        .max_tasks(9)
        .max_steps(5)
        .name("a \"b\"");
    assert_eq!(config, expected);
}

#[test]
fn the_seed_is_fixed_unless_given() {
    assert_eq!(Config::new().effective_seed(), 0x5EED);
    assert_eq!(parsed("seed = 7").effective_seed(), 7);
}

#[test]
fn the_builder_raises_what_is_too_small() {
    let config = Config::new().iterations(0).stack_size(1).timeout(Duration::ZERO);
    assert_eq!(parsed(&config.to_string()), config);
}
