//! What environment variables change.

use super::*;

fn run(written: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    parsed(written).with_environment(|wanted| {
        let found = variables.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn no_variable_changes_nothing() {
    let written = "sticky(stickiness = 5, seed = 1), max_steps = 7";
    assert_eq!(run(written, &[]), Ok(parsed(written)));
    assert_eq!(run(written, &[("DRAWLOOM_SEED", " ")]), Ok(parsed(written)));
}

#[test]
fn the_strategy_variable_replaces_what_it_mentions() {
    let written = "random(iterations = 5, seed = 1), max_steps = 7";
    let variables = [("DRAWLOOM_STRATEGY", "sticky(seed = 2)")];
    let expected = parsed("sticky(iterations = 5, seed = 2), max_steps = 7");
    assert_eq!(run(written, &variables), Ok(expected));
    let variables = [("DRAWLOOM_STRATEGY", "threads = 3")];
    let expected = parsed("random(iterations = 5, seed = 1), max_steps = 7, threads = 3");
    assert_eq!(run(written, &variables), Ok(expected));
}

#[test]
fn the_more_special_variable_wins() {
    let variables = [
        ("DRAWLOOM_STRATEGY", "auto(seed = 2, iterations = 2)"),
        ("DRAWLOOM_SEED", "0x10"),
        ("DRAWLOOM_ITERATIONS", "1_000_000"),
        ("DRAWLOOM_TIMEOUT", "250ms"),
        ("DRAWLOOM_THREADS", "3"),
    ];
    let expected = Config::new().seed(16).iterations(1_000_000).timeout(Duration::from_millis(250)).threads(3);
    assert_eq!(run("", &variables), Ok(expected.clone()));

    let replay = StrategySpec::Replay { token: "d1:a\"b".to_owned(), lenient: true };
    let variables = [&variables[..], &[("DRAWLOOM_REPLAY", "d1:a\"b\n")]].concat();
    assert_eq!(run("", &variables), Ok(expected.strategy(replay)));
}

#[test]
fn errors_name_the_variable() {
    for (variable, value, line) in [
        ("DRAWLOOM_SEED", "lucky number", "DRAWLOOM_SEED: `seed` takes a whole number, found `lucky number`"),
        ("DRAWLOOM_ITERATIONS", "0", "DRAWLOOM_ITERATIONS: `iterations` must be at least 1, found `0`"),
        ("DRAWLOOM_STRATEGY", "radnom", "DRAWLOOM_STRATEGY: unknown strategy `radnom`; did you mean `random`?"),
    ] {
        let error = run("", &[(variable, value)]).unwrap_err();
        assert_eq!(error.variable(), Some(variable));
        assert!(error.to_string().starts_with(line), "{error}");
    }
}
