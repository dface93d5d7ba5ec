//! book/src/reference/cli.md says what is.

use crate::sample::Sample;

const DOCS: &str = include_str!("../../../../book/src/reference/cli.md");

#[test]
fn every_command_is_documented() {
    let help = Sample::unbuilt().run(&["help"]).out;
    let commands = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
    let names = commands.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let mut count = 0;
    for name in names {
        assert!(DOCS.contains(&format!("`{name}")), "book/src/reference/cli.md does not say `{name}`");
        count += 1;
    }
    assert!(count > 10, "{help}");
}

#[test]
fn every_code_of_an_error_is_documented() {
    let source = include_str!("../../src/error.rs");
    let codes = source.split("fn code(&self)").nth(1).and_then(|rest| rest.split("    }\n\n").next()).expect("codes");
    for code in codes.split('"').skip(1).step_by(2) {
        assert!(DOCS.contains(&format!("`{code}`")), "book/src/reference/cli.md does not say `{code}`");
    }
}
