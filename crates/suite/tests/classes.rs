//! The class that a report names is that of the bug, on nine of ten programs; the table in `book/src/explanation/findings.md` says
//! on which.

use std::fmt::Write as _;
use std::path::Path;

use drawloom_suite::internal::assert_no_internals;
use drawloom_suite::{Program, catalogue};

/// The rules of the suite, and enough executions for all programs whose bug is looked for.
const RULES: &str = "auto, iterations = 20000, spurious_wakeups = 0, weak_failures = 0, trace = false, threads = 1";

/// What is found in a program, as a row of the table: label, class, and whether that is right.
struct Judged {
    name: &'static str,
    label: &'static str,
    class: Option<String>,
    right: bool,
}

fn judge(program: &'static Program, seed: Option<u64>) -> Judged {
    let seed = seed.map(|seed| format!(", seed = {seed}")).unwrap_or_default();
    let found = program.show(format!("{RULES}{seed}").parse().expect("a configuration"));
    let failure = found.findings().first();
    failure.into_iter().for_each(|failure| assert_no_internals(&failure.report()));
    let explanation = failure.and_then(|failure| failure.record().explanation.as_deref());
    let word = explanation.and_then(|explanation| explanation.class).map(|class| class.word());
    let subkind = explanation.and_then(|explanation| explanation.subkind.as_deref());
    Judged {
        name: program.body.name,
        label: program.class,
        class: word.map(|word| subkind.map_or_else(|| word.to_owned(), |subkind| format!("{word} / {subkind}"))),
        right: word.is_some_and(|word| program.class.split('|').any(|label| label == word)),
    }
}

fn right(all: &[Judged]) -> usize {
    all.iter().filter(|judged| judged.right).count()
}

fn table(all: &[Judged]) -> String {
    let mut text = format!(
        "**{} of {}** are right.\n\n| program | label | class in the report | |\n|---|---|---|---|\n",
        right(all),
        all.len()
    );
    for Judged { name, label, class, right } in all {
        let class = class.as_deref().unwrap_or("not found");
        let label = label.replace('|', " or ");
        let _ = writeln!(text, "| {name} | {label} | {class} | {} |", if *right { "✓" } else { "✗" });
    }
    text
}

#[test]
fn the_class_is_right_and_the_documentation_says_where() {
    let all: Vec<Judged> = catalogue().iter().map(|program| judge(program, None)).collect();
    let table = table(&all);
    assert!(right(&all) * 10 >= all.len() * 9, "{table}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/explanation/findings.md");
    let text = std::fs::read_to_string(&file).expect("book/src/explanation/findings.md");
    let (before, rest) = text.split_once("<!-- classes -->").expect("where the table begins");
    let (_, after) = rest.split_once("<!-- /classes -->").expect("where it ends");
    let expected = format!("{before}<!-- classes -->\n{table}\n<!-- /classes -->{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, expected).expect("book/src/explanation/findings.md can be written");
    } else {
        assert!(
            text == expected,
            "book/src/explanation/findings.md says something else (UPDATE_DOCS=1 writes it):\n\n{table}"
        );
    }
}

/// `cargo test -p drawloom-suite --test classes -- --ignored --nocapture`
#[test]
#[ignore = "a minute"]
fn other_schedules_of_the_same_bugs_are_classified_as_well() {
    let (mut rights, mut found) = (0, 0);
    for seed in 1..=10 {
        let all: Vec<Judged> = catalogue().iter().map(|program| judge(program, Some(seed))).collect();
        for wrong in all.iter().filter(|judged| !judged.right && judged.class.is_some()) {
            println!("seed {seed}: {} is {}, not {:?}", wrong.name, wrong.label, wrong.class);
        }
        rights += right(&all);
        found += all.iter().filter(|judged| judged.class.is_some()).count();
    }
    println!("{rights} of {found} that were found");
    assert!(rights * 10 >= found * 9, "{rights} of {found}");
}
