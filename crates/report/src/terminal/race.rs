//! Two accesses that nothing orders, and what could have ordered them.

use std::fmt::Write as _;

use super::operation::describe;
use crate::names::Names;
use crate::record::{AccessRecord, Record};
use crate::source::Sources;

/// Both sides with their source lines, and one sentence on what is missing.
pub(super) fn race(
    record: &Record,
    names: &Names<'_>,
    sources: &Sources<'_>,
    [earlier, later]: [&AccessRecord; 2],
) -> String {
    let mut out = String::new();
    for access in [earlier, later] {
        let place = record.place(access.place);
        let at = place.map(|place| format!(" at {place}")).unwrap_or_default();
        let verb = if is_write(record, access) { "writes" } else { "reads" };
        let _ = writeln!(out, "  {}: {verb} it in step {}{at}", names.full(access.task), access.step + 1);
        if let Some(line) = place.and_then(|place| sources.line(place)) {
            let _ = writeln!(out, "      {line}");
        }
    }
    let _ = writeln!(out, "\n  Nothing orders them: {}.", missing(record, names, earlier, later));
    out
}

fn is_write(record: &Record, access: &AccessRecord) -> bool {
    record.steps.get(access.step as usize).is_some_and(|step| record.operation(step) == "write cell")
}

pub(crate) fn missing(record: &Record, names: &Names<'_>, earlier: &AccessRecord, later: &AccessRecord) -> String {
    let noun = |access| if is_write(record, access) { "write" } else { "read" };
    let synchronises = |access: &AccessRecord| {
        let index = access.sync?;
        let step = record.steps.get(index as usize)?;
        let at = record.place(step.place).map(|place| format!(", {place}")).unwrap_or_default();
        Some(format!("(last: {}, step {}{at})", describe(record, names, step), index + 1))
    };
    let (a, b) = (names.tag(earlier.task), names.tag(later.task));
    let (after, before) = (format!("after its {}", noun(earlier)), format!("before its {}", noun(later)));
    match (synchronises(earlier), synchronises(later)) {
        (None, None) => format!("task {a} released nothing {after}, and task {b} acquired nothing {before}"),
        (Some(released), None) => {
            format!("what task {a} released {after} {released} is lost, since task {b} acquired nothing {before}")
        }
        (None, Some(acquired)) => {
            format!("task {a} released nothing {after} that task {b} could have acquired {before} {acquired}")
        }
        (Some(released), Some(acquired)) => {
            format!("what task {a} released {after} {released} is not what task {b} acquired {before} {acquired}")
        }
    }
}
