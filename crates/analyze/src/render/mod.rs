//! An analysis for people, programs, code scanning and browsers.

pub mod markdown;
pub mod page;
pub mod sarif;
pub mod terminal;

use crate::finding::{Analysis, SCHEMA};
use serde::Serialize;

#[derive(Serialize)]
struct Whole<'a> {
    schema: &'static str,
    files: &'a [Analysis],
}

/// Analyses as JSON.
pub fn json(analyses: &[Analysis]) -> String {
    let whole = Whole { schema: SCHEMA, files: analyses };
    serde_json::to_string_pretty(&whole).expect("an analysis has only texts, numbers and lists") + "\n"
}
