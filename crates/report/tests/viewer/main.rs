//! The viewer: what its page contains, and how it behaves in a browser.

mod browser;
mod contents;
mod programs;
#[allow(dead_code)]
#[path = "../report/script.rs"]
mod script;

use drawloom_report::{PageOptions, Record, Shown, page};

/// A page of records of `programs`, with their source.
pub fn page_of(records: &[(&str, &Record)]) -> String {
    let sources = |_: &str| Some(programs::SOURCE.to_owned());
    let shown: Vec<Shown<'_>> = records.iter().map(|(label, record)| Shown { label, record }).collect();
    page(
        &shown,
        &PageOptions { sources: &sources, root: Some("../.."), editor: Some("vscode"), ..PageOptions::default() },
    )
}
