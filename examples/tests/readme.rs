//! The README says what is.

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../README.md");

#[test]
fn the_readme_names_every_strategy_and_argument_with_its_default() {
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
        assert!(forms.iter().any(|form| README.contains(form)), "README.md does not say {}", forms[0]);
    }
}

#[test]
fn the_readme_shows_what_the_run_command_prints() {
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
    let shown = README.contains(&format!("```text\n{}\n```", printed.trim_end()));
    assert!(shown, "README.md shows something else; paste what is printed now:\n\n{printed}");
}
