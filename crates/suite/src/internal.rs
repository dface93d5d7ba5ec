//! Whether a report shows what is ours instead of the user's: a path of our own sources, or a word that stands for nothing.
//!
//! Other crates' tests include this file by its path: it needs nothing.

/// Crates of ours whose sources no report of a user's program may name. (The programs of this suite are users'.)
const OURS: [&str; 11] =
    ["drawloom", "engine", "explore", "fiber", "gates", "macros", "preload", "python", "report", "sim", "tokio"];

/// What reports say where they have nothing to say; none of it may be printed.
const PLACEHOLDERS: [&str; 4] = ["look at `it` first", "Let the other wait for the other", "`?`", "task ? "];

/// Everything in `report` that is ours, a line each.
#[must_use]
pub fn internals(report: &str) -> Vec<String> {
    let is_ours = |line: &str| {
        let sources = OURS.iter().map(|name| format!("crates/{name}/src/"));
        let packaged = OURS.iter().flat_map(|name| [format!("/drawloom-{name}-0."), "/drawloom-0.".to_owned()]);
        // Beside our own, a path that the compiler has cut: `runtime/handle.rs`.
        let cut = ["runtime/handle.rs", "src/turns.rs", "src/rt/", "task/local_set.rs"].map(str::to_owned);
        sources.chain(packaged).chain(cut).any(|path| line.contains(&path))
    };
    let is_placeholder = |line: &str| PLACEHOLDERS.iter().any(|word| line.contains(word));
    report.lines().filter(|line| is_ours(line) || is_placeholder(line)).map(str::to_owned).collect()
}

/// Fails if `report` shows anything of ours.
pub fn assert_no_internals(report: &str) {
    let found = internals(report);
    assert!(found.is_empty(), "a report shows what is ours:\n{}\n\nin\n{report}", found.join("\n"));
}
