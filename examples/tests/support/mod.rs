//! The files of the repository, and what is prose in them.
#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files with an extension in a folder and below it, but for what is built.
pub fn files(folder: &Path, ext: &str) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| !path.ends_with("target") && !path.ends_with("node_modules"));
    paths
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => files(&path, ext),
            Some(its) if its == ext => BTreeSet::from([path]),
            _ => BTreeSet::new(),
        })
        .collect()
}

/// Modules of `drawloom` that users cannot reach: the insides of a public one, and what front ends are made of.
pub const INSIDE: &[&str] = &[
    "actor/controlled/",
    "actor/mailbox.rs",
    "actor/native/",
    "channel/arm.rs",
    "channel/core.rs",
    "channel/select.rs",
    "chance.rs",
    "cluster/direct.rs",
    "cluster/host.rs",
    "explore/harness.rs",
    "future/facade.rs",
    "future/native_timer.rs",
    "object/memo.rs",
    "object/queue.rs",
    "object/turn.rs",
    "received.rs",
    "rt/",
    "wait/",
];

pub fn book() -> PathBuf {
    root().join("book/src")
}

/// All pages that people read: the book, those at the root, and those for contributors.
pub fn all_pages() -> BTreeSet<PathBuf> {
    let top = fs::read_dir(root()).expect("the root").map(|entry| entry.expect("an entry").path());
    let top = top.filter(|path| path.extension().is_some_and(|ext| ext == "md"));
    let below = ["book/src", "docs", ".github"].into_iter().flat_map(|folder| files(&root().join(folder), "md"));
    let single = ["bench/README.md", "python/README.md"].into_iter().map(|page| root().join(page));
    top.chain(below).chain(single).collect()
}

/// A page without blocks of code and without code in lines. Every line stays one.
pub fn prose(page: &str) -> String {
    let mut fence = false;
    let lines = page.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        fence ^= is_fence;
        if fence || is_fence || line.starts_with("    ") { "" } else { line }
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split('`').step_by(2).collect::<Vec<_>>().join("code")
}
