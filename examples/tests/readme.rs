//! The README and the book show what is printed, and name what can be configured.

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../README.md");
const FIRST_BUG: &str = include_str!("../../book/src/tutorials/first-bug.md");
const CONFIGURATION: &str = include_str!("../../book/src/reference/configuration.md");

#[test]
fn the_reference_names_every_strategy_and_argument_with_its_default() {
    for line in drawloom_engine::config::reference().lines().filter(|line| line.starts_with(' ')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let forms = match words[..] {
            // `<a string>`: none.
            [name, "=", default, ..] if !default.starts_with('<') => {
                vec![format!("`{name}` | {default} |"), format!("`{name}` = {default}")]
            }
            [name, ..] => vec![format!("`{name}`")],
            [] => continue,
        };
        let found = forms.iter().any(|form| CONFIGURATION.contains(form));
        assert!(found, "book/src/reference/configuration.md does not say {}", forms[0]);
    }
}

/// The first block of printed text on the page that holds `words`.
fn block<'a>(page: &'a str, words: &str) -> &'a str {
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    blocks.map(|(block, _)| block).find(|block| block.contains(words)).expect("the page shows a report")
}

#[test]
fn what_the_run_command_prints_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let output = Command::new(env!("CARGO_BIN_EXE_bank"))
        .current_dir(root)
        .env("RUST_BACKTRACE", "0")
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .expect("the example runs");
    assert!(output.status.success());
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        block(FIRST_BUG, "Lost update") == printed.trim_end(),
        "book/src/tutorials/first-bug.md shows something else; paste what is printed now:\n\n{printed}"
    );
    // The README shows parts of it, with `…` between.
    for part in block(README, "Lost update").split("\n…\n") {
        assert!(printed.contains(part), "README.md shows\n\n{part}\n\nand this is printed now:\n\n{printed}");
    }
}
