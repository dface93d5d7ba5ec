//! A task that does not come back: where it stands, what it holds, and where the others are.

use std::fmt::Write as _;

use super::MOST_LISTED;
use crate::names::{Names, count};
use crate::record::{Record, StuckRecord};

/// Functions of a stack that are shown: the innermost ones.
const MOST_FRAMES: usize = 12;

/// What there is to say of it, below the headline.
pub(super) fn stuck_task(record: &Record, names: &Names<'_>, stuck: &StuckRecord) -> String {
    let mut out = String::new();
    let at = |place: Option<u32>| record.place(place).map(|p| format!(" at {p}")).unwrap_or_default();
    let who = names.full(record.finding.task);
    let does = if stuck.sleeps { "blocks its OS thread" } else { "is busy" };
    let whence = if stuck.in_teardown { ", in a destructor at the end of the execution," } else { "" };
    let _ = writeln!(out, "  {who} has not made a step for {}.", count(stuck.seconds, "second"));
    let _ = writeln!(out, "  It {does}{whence} in code that drawloom does not control:");
    for frame in stuck.stack.iter().take(MOST_FRAMES) {
        let _ = writeln!(out, "    {}{}", frame.function, at(frame.place));
    }
    match stuck.stack.len() {
        0 => out.push_str("    (no function of yours is on its stack, or the binary has no symbols)\n"),
        n if n > MOST_FRAMES => {
            let _ = writeln!(out, "    … and {}", count((n - MOST_FRAMES) as u64, "more caller"));
        }
        _ => {}
    }
    for held in &stuck.holds {
        let what = names.resource(Some(held.resource)).unwrap_or("something");
        let _ = writeln!(out, "  It holds {what}, taken{}.", at(held.place));
    }
    if !stuck.others.is_empty() {
        out.push_str("  The other tasks stand still:\n");
    }
    for other in stuck.others.iter().take(MOST_LISTED) {
        let what = names.resource(other.resource).map(|what| format!(" of {what}")).unwrap_or_default();
        let _ =
            writeln!(out, "    {}: before its {}{what}{}", names.full(other.task), other.operation, at(other.place));
    }
    if stuck.others.len() > MOST_LISTED {
        let _ = writeln!(out, "    … and {}", count((stuck.others.len() - MOST_LISTED) as u64, "more task"));
    }
    out.push_str(match stuck.sleeps {
        true => {
            "\n  All tasks share one OS thread, so a task that blocks it waits for ever if another task must \
             wake it. A lock of\n  std or of another library must not be held over a step: use \
             `drawloom::sync` (or the facade of that library)\n  here and where the other tasks stand. A wait \
             for something outside of the test may take as long as `timeout`.\n"
        }
        false => {
            "\n  No other task can run before this one makes a step. A loop that waits for another task needs one: an atomic of\n  \
             `drawloom::sync`, `hint::spin_loop()` or `yield_now()`. A long computation may take as long as `timeout`.\n"
        }
    });
    out
}
