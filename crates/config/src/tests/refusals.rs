//! What the grammar refuses, where it points and what it says.

use super::*;

#[test]
fn unknown_names_are_answered_with_the_valid_ones() {
    assert_eq!(
        refused("radnom").to_string(),
        "unknown strategy `radnom`; did you mean `random`? valid strategies are \
         `auto`, `sequential`, `round_robin`, `random`, `sticky`, `pos`, `surw`, `urw`, `race_directed`, `pct`, \
         `idpct`, `fair_pct`, `delay_bounded`, `corpus`, `exhaustive`, `replay`"
    );
    assert_eq!(refused("round-robin, seed = 1").message(), "unknown strategy `round-robin`");
    let error = refused("sticky(stickines = 3)");
    assert_eq!(error.message(), "unknown argument `stickines`");
    assert!(error.help().is_some_and(|help| help.starts_with("did you mean `stickiness`? ")));
}

#[test]
fn later_strategies_are_not_accepted_yet() {
    for name in ["tapct", "fest"] {
        assert_refused(name, name, &format!("unknown strategy `{name}`"));
    }
}

#[test]
fn ill_typed_values() {
    for (source, piece, message) in [
        ("random(iterations = \"many\")", "\"many\"", "`iterations` takes a whole number, found `\"many\"`"),
        ("seed = -5", "-5", "`seed` takes a whole number, found `-5`"),
        ("seed = 1.5", "1.5", "`seed` takes a whole number, found `1.5`"),
        ("timeout = 60", "60", "`timeout` takes a duration, found `60`"),
        ("timeout = soon", "soon", "`timeout` takes a duration, found `soon`"),
        ("stack_size = 1KB", "1KB", "`stack_size` takes a size, found `1KB`"),
        ("trace = 1", "1", "`trace` takes `true` or `false`, found `1`"),
        ("name = x", "x", "`name` takes a string, found `x`"),
        ("memory = c11", "c11", "`memory` takes `sc`, found `c11`"),
        ("memory = \"tso\"", "\"tso\"", "`memory` takes `sc`, found `\"tso\"`"),
        ("exhaustive(preemptions = few)", "few", "`preemptions` takes a whole number or `unbounded`, found `few`"),
        ("clock = real", "real", "`clock` takes `quiescent` or `explore`, found `real`"),
    ] {
        assert_refused(source, piece, message);
    }
}

#[test]
fn values_out_of_range() {
    for (source, piece, message) in [
        ("iterations = 0", "0", "`iterations` must be at least 1, found `0`"),
        ("stack_size = 4KiB", "4KiB", "`stack_size` must be at least 16KiB, found `4KiB`"),
        ("timeout = 0s", "0s", "`timeout` must be at least 1ns, found `0s`"),
        ("max_tasks = 5_000_000_000", "5_000_000_000", "`max_tasks` must be at most 4294967295, found `5_000_000_000`"),
        (
            "seed = 18446744073709551616",
            "18446744073709551616",
            "`seed` must be at most 18446744073709551615, found `18446744073709551616`",
        ),
    ] {
        assert_refused(source, piece, message);
    }
}

#[test]
fn too_much_of_something() {
    assert_refused("random, sticky", "sticky", "two strategies: `random` and `sticky`");
    assert_refused("seed = 1, seed = 1", "seed", "argument `seed` is given twice");
    let error = refused("random(seed = 1), seed = 2");
    assert_eq!((error.message().as_str(), error.span()), ("argument `seed` is given twice", 18..22));
}

#[test]
fn too_little_of_something() {
    for (source, piece, message) in [
        ("replay", "replay", "the strategy `replay` needs the argument `token`"),
        ("replay(lenient = true)", "replay", "the strategy `replay` needs the argument `token`"),
        ("keep_going", "keep_going", "argument `keep_going` has no value"),
        ("seed =", "seed", "argument `seed` has no value"),
        ("random(seed)", "seed", "argument `seed` has no value"),
        ("random(seed = 1", "random(", "`random(` is never closed"),
        ("name = \"x", "\"x", "the string is never closed"),
    ] {
        assert_refused(source, piece, message);
    }
}

#[test]
fn things_in_the_wrong_place() {
    for (source, piece, message) in [
        ("sticky, stickiness = 2", "stickiness", "`stickiness` is an argument of the strategy `sticky` alone"),
        ("random(token = \"x\")", "token", "`token` is an argument of the strategy `replay` alone"),
        ("random = 5", "random", "`random` is a strategy, not an argument"),
        ("random seed = 1", "seed", "expected `,` between arguments, found `seed`"),
        ("seed = 1,, trace = true", ",", "expected a strategy or an argument, found `,`"),
        ("random; trace = true", ";", "expected a strategy or an argument, found `;`"),
        ("random(seed = 1 trace = true)", "trace", "expected `,` or `)` after an argument, found `trace`"),
    ] {
        assert_refused(source, piece, message);
    }
}
