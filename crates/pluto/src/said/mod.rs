//! Verdicts in words: as Pluto's own tests expect them, and as a report.

mod plain;
mod report;

pub(crate) use plain::plain;
pub(crate) use report::{report, summary};

/// Steps of a schedule that are shown.
const MOST_SHOWN: usize = 48;

/// `[0, 1, 1, …]`
fn schedule(fibers: &[usize]) -> String {
    let shown: Vec<String> = fibers.iter().take(MOST_SHOWN).map(usize::to_string).collect();
    let rest = if fibers.len() > MOST_SHOWN { ", ..." } else { "" };
    format!("[{}{rest}]", shown.join(", "))
}
