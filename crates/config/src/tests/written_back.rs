//! The canonical text, the reference, and the round trip.

use proptest::prelude::*;

use super::*;

#[test]
fn the_canonical_text_leaves_defaults_out() {
    assert_eq!(Config::new().to_string(), "auto");
    assert_eq!(parsed("max_steps = 0x10, trace = true, seed = 1").to_string(), "auto(seed = 1), max_steps = 16");
    assert_eq!(
        parsed("sequential(seed = 1), timeout = 120s, stack_size = 1MiB").to_string(),
        "sequential, seed = 1, timeout = 2m, stack_size = 1MiB"
    );
}

#[test]
fn the_reference_has_a_line_for_everything() {
    assert_eq!(reference(), include_str!("reference.txt"));
}

fn strategies() -> impl Strategy<Value = StrategySpec> {
    prop_oneof![
        Just(StrategySpec::Sequential),
        Just(StrategySpec::RoundRobin),
        Just(StrategySpec::Random),
        Just(StrategySpec::Auto),
        Just(StrategySpec::Pos),
        Just(StrategySpec::Surw),
        Just(StrategySpec::Urw),
        any::<u32>().prop_map(|constraints| StrategySpec::RaceDirected { constraints }),
        (1..u32::MAX).prop_map(|depth| StrategySpec::Pct { depth }),
        (1..u32::MAX, 1..u32::MAX).prop_map(|(shallowest, deepest)| StrategySpec::Idpct { shallowest, deepest }),
        (1..u32::MAX).prop_map(|fair_depth| StrategySpec::FairPct { fair_depth }),
        (1..u32::MAX).prop_map(|delays| StrategySpec::DelayBounded { delays }),
        (0..=MAX_STICKINESS).prop_map(|stickiness| StrategySpec::Sticky { stickiness }),
        (any::<String>(), any::<bool>()).prop_map(|(token, lenient)| StrategySpec::Replay { token, lenient }),
    ]
}

prop_compose! {
    fn limits()(
        iterations: u64,
        seed: Option<u64>,
        max_steps: u64,
        progress_bound: u64,
        timeout: Option<Duration>,
        threads: usize,
        stack_size in 0..=isize::MAX as usize,
        max_tasks: u32,
    ) -> Config {
        let mut config = Config::new()
            .iterations(iterations)
            .max_steps(max_steps)
            .progress_bound(progress_bound)
            .threads(threads)
            .stack_size(stack_size)
            .max_tasks(max_tasks);
        config.seed = seed;
        match timeout {
            Some(timeout) => config.timeout(timeout),
            None => config,
        }
    }
}

prop_compose! {
    fn configs()(
        limits in limits(),
        strategy in strategies(),
        budgets: [u32; 3],
        flags: [bool; 8],
        shrink in 0..3usize,
        fixes: u64,
        name: Option<String>,
    ) -> Config {
        let [spurious_wakeups, weak_failures, early_fires] = budgets;
        let [keep_going, leaks, unjoined, trace, explore, leak, saturated, regressions] = flags;
        let mut config = limits
            .strategy(strategy)
            .spurious_wakeups(spurious_wakeups)
            .weak_failures(weak_failures)
            .early_fires(early_fires)
            .until(Until::ALL[usize::from(saturated)])
            .keep_going(keep_going)
            .leaks(leaks)
            .unjoined(unjoined)
            .trace(trace)
            .regressions(regressions)
            .shrink(Shrink::ALL[shrink])
            .fixes(fixes)
            .clock(Clock::ALL[usize::from(explore)])
            .teardown(Teardown::ALL[usize::from(leak)]);
        config.name = name;
        config
    }
}

/// Texts made of the grammar's own pieces, which get further into the parser than noise does.
fn almost_configs() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "random", "sticky", "replay", "seed", "timeout", "clock", "(", ")", ",", "=", "5", "60s", "\"", "\\", "\\u{",
        "0x", "-", "é", " ",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn span_fits(source: &str) -> bool {
    match source.parse::<Config>() {
        Ok(config) => parsed(&config.to_string()) == config,
        Err(error) => source.get(error.span()).is_some(),
    }
}

proptest! {
    #[test]
    fn every_config_parses_back(config in configs()) {
        let written = config.to_string();
        prop_assert_eq!(written.parse(), Ok(config), "{}", written);
    }

    #[test]
    fn an_error_always_points_into_the_text(source: String) {
        prop_assert!(span_fits(&source));
    }

    #[test]
    fn an_error_points_into_text_that_is_almost_right(source in almost_configs()) {
        prop_assert!(span_fits(&source));
    }
}
