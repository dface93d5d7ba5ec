//! Fixes that are tried out get the right verdict.
//!
//! For each program: what its explanation proposes, with the verdict that is printed; and guards that are
//! known to be right, as the twin of the program is, or as another way out would be, and ones that are known
//! to be wrong: a region that is too small, a lock that only one side takes, the other order.

mod guards;

use drawloom::{Config, Exploration, Failure};
use drawloom_suite::Program;

use guards::{Known, known};

/// Programs with many tasks take long in a debug build.
const LARGE: [&str; 9] = [
    "wsq_state",
    "reorder_10",
    "reorder_20",
    "reorder_50",
    "reorder_100",
    "twostage_20",
    "twostage_50",
    "twostage_100",
    "bounded_buffer",
];

/// Marks a verdict that is not as it is known to be.
const MISTAKEN: &str = " <- MISTAKEN";

fn config() -> Config {
    let text = "auto, iterations = 20_000, spurious_wakeups = 0, weak_failures = 0, trace = false, threads = 1, \
                fixes = 150";
    text.parse().expect("a configuration")
}

fn explore(program: &Program) -> Exploration {
    program.show(config())
}

/// What the explanation of a failure proposes, and what trying that came to.
fn proposed(failure: &Failure) -> String {
    let Some(explanation) = &failure.record().explanation else { return String::new() };
    let counterfactual = explanation.evidence.counterfactual.iter().map(|text| format!("  {text}\n"));
    let fixes = explanation.fixes.iter().map(|fix| {
        let verdict = fix.verified.as_ref().map_or("cannot be tried", |verified| &verified.text);
        format!("  {}: {verdict}\n", fix.title)
    });
    counterfactual.chain(fixes).collect()
}

/// Tries a guard of which it is known whether it helps.
fn try_known(program: &Program, failure: &Failure, known: &Known) -> String {
    let verdict = drawloom::try_fix(config(), failure.token(), &known.guard, program.body.buggy);
    let verdict = verdict.unwrap_or_else(|error| panic!("{}: {error}", program.body.name));
    let (word, mistaken) = (if known.helps { "right" } else { "wrong" }, verdict.helps != known.helps && known.seen);
    format!("  [{word}] {}: {}{}\n", known.what, verdict.text, if mistaken { MISTAKEN } else { "" })
}

fn verdicts(name: &str) -> String {
    let program = Program::named(name).expect("a program");
    let found = explore(program);
    let failure = found.findings().first().unwrap_or_else(|| panic!("{name}: nothing found"));
    let known = known(name);
    assert!(known.iter().any(|known| !known.helps), "{name}: nothing that must be refused");
    let known: String = known.iter().map(|known| try_known(program, failure, known)).collect();
    format!("{name}\n{}{known}", proposed(failure))
}

/// The verdicts of all of these programs, none of which is mistaken.
fn right_verdicts<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let text: String = names.map(verdicts).collect();
    assert!(!text.contains(MISTAKEN), "{text}");
    text
}

fn small() -> impl Iterator<Item = &'static str> {
    let names = drawloom_suite::catalogue().iter().map(|program| program.body.name);
    names.filter(|name| !LARGE.contains(name))
}

#[test]
fn right_fixes_are_verified_and_wrong_ones_are_refused() {
    insta::assert_snapshot!(right_verdicts(small()));
}

#[test]
#[ignore = "takes long in a debug build: run with --release"]
fn right_fixes_of_large_programs_are_verified_and_wrong_ones_are_refused() {
    insta::assert_snapshot!(right_verdicts(LARGE.into_iter()));
}

#[test]
fn the_same_seed_gives_the_same_verdicts() {
    for name in ["bluetooth", "cve_2017_6346", "stale_read"] {
        assert_eq!(verdicts(name), verdicts(name));
    }
}

#[test]
fn nothing_is_tried_where_that_is_switched_off() {
    let program = Program::named("lost_update").expect("a program");
    let found = drawloom::explore(config().fixes(0), program.body.buggy);
    let explanation = found.findings()[0].record().explanation.as_ref().expect("an explanation");
    assert!(explanation.fixes.iter().all(|fix| fix.verified.is_none()));
    assert_eq!(explanation.evidence.counterfactual, None);
}
