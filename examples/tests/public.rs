//! Every public item of `drawloom` that is not std's, or another crate's, has an example in its documentation. `cargo test --doc`
//! runs them.

mod support;

use support::{INSIDE, files, root, text};

/// Modules with the names and the meaning of std's, or of the crate that they stand for.
const OF_OTHERS: &[&str] = &[
    "cell/",
    "crossbeam/",
    "lazy_static.rs",
    "once_cell/",
    "parking_lot/",
    "production/",
    "sync/",
    "thread/",
    "time.rs",
    "hint.rs",
];

/// Public in a private module, and not exported.
const NOT_EXPORTED: &[&str] = &["pub trait Held<T> {"];

#[test]
fn every_public_item_has_an_example() {
    let sources = root().join("crates/drawloom/src");
    let mut missing = Vec::new();
    let mut seen = 0;
    for path in files(&sources, "rs") {
        let name = path.strip_prefix(&sources).expect("a source").display().to_string();
        if [OF_OTHERS, INSIDE].concat().iter().any(|other| name.starts_with(other)) {
            continue;
        }
        let source = text(&path);
        let lines: Vec<&str> = source.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let item =
                line.strip_prefix("pub ").map(|rest| rest.trim_start_matches("const ").trim_start_matches("async "));
            let is_item = item.is_some_and(|item| {
                ["fn ", "struct ", "enum ", "trait ", "type ", "macro "].iter().any(|kind| item.starts_with(kind))
            });
            if !is_item || NOT_EXPORTED.contains(line) {
                continue;
            }
            // Upwards over attributes and comments, to the end of what comes before.
            let above = lines[..at].iter().rev().take_while(|line| !line.is_empty() && **line != "}");
            let above: Vec<&str> = above.copied().collect();
            // Of an item that differs from face to face, one has it.
            let is_production = above.iter().any(|line| line.contains("cfg(not(feature = \"controlled\"))"));
            if is_production || above.iter().any(|line| line.contains("#[doc(hidden)]")) {
                continue;
            }
            seen += 1;
            if !above.iter().any(|line| line.starts_with("/// ```")) {
                missing.push(format!("{name}:{}: {line}", at + 1));
            }
        }
    }
    assert!(seen > 100, "only {seen} items were seen");
    assert!(missing.is_empty(), "{} of {seen} items have no example:\n{}", missing.len(), missing.join("\n"));
}
