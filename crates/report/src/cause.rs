//! When two findings are the same bug.
//!
//! An exploration that goes on after a finding meets the same bug again and again, each time with
//! other task numbers and other values. The key leaves those out: it is the kind, the place where it
//! showed, and the roles of the tasks involved, a role being the place where the task was spawned.

use crate::record::{AccessRecord, BlockedRecord, Details, Place, Record};
use drawloom_engine::sorted::sort;

/// A key that is equal for findings with the same cause, as far as that can be told.
///
/// It is one line that people can read, and the same on every machine.
pub fn cause(record: &Record) -> String {
    let finding = &record.finding;
    let mut parts: Vec<String> = match &finding.details {
        Details::Panic { .. } => {
            let place = exact(record.place(finding.place));
            let at = place.unwrap_or_else(|| format!("`{}`", finding.message.lines().next().unwrap_or_default()));
            return format!("{} at {at} in {}", finding.kind, role(record, finding.task));
        }
        Details::Deadlock { blocked, cycle, .. } => {
            let involved = |b: &&BlockedRecord| {
                if cycle.is_empty() { b.operation != "join" } else { cycle.contains(&b.task) }
            };
            let wait = |b: &BlockedRecord| {
                let at = exact(record.place(b.place)).map(|place| format!(" at {place}")).unwrap_or_default();
                format!("{} in {}{at}", role(record, b.task), b.operation)
            };
            blocked.iter().filter(involved).map(wait).collect()
        }
        Details::DataRace { earlier, later, .. } => {
            let side = |access: &AccessRecord| {
                let word = record.steps.get(access.step as usize).map_or("access", |step| record.operation(step));
                let at = exact(record.place(access.place)).unwrap_or_else(|| "an unknown place".into());
                format!("{word} at {at}")
            };
            vec![side(earlier), side(later)]
        }
        Details::Livelock { .. } => roles(record, |i| record.tasks[i].yields > 0 && !record.tasks[i].finished),
        Details::Stuck(_) => {
            let at = exact(record.place(finding.place)).map(|place| format!(" at {place}")).unwrap_or_default();
            vec![format!("{}{at}", role(record, finding.task))]
        }
        Details::StepLimit { .. } | Details::OutOfTime => {
            roles(record, |i| record.tasks[i].path != "clock" && !record.tasks[i].finished)
        }
        Details::TaskLimit { .. } | Details::OutOfStacks { .. } => {
            let at = exact(record.place(finding.place)).map(|place| format!(" at {place}")).unwrap_or_default();
            vec![format!("spawn{at} in {}", role(record, finding.task))]
        }
        Details::Leak { leaks } => leaks
            .iter()
            .map(|l| exact(record.place(l.created_at)).unwrap_or_else(|| "an unknown place".into()))
            .collect(),
        Details::Unjoined { tasks } => tasks.iter().map(|t| role(record, *t)).collect(),
        Details::Divergence { .. } => Vec::new(),
        // Where it showed, and in whom, tells it from others of its kind.
        _ => exact(record.place(finding.place))
            .map(|at| format!("{} at {at}", role(record, finding.task)))
            .into_iter()
            .collect(),
    };
    sort(&mut parts);
    parts.dedup();
    if parts.is_empty() { finding.kind.clone() } else { format!("{}: {}", finding.kind, parts.join("; ")) }
}

/// Whether `other` shows the bug that `record` shows.
///
/// That is the same cause; but where an execution was cut because it did not end, tasks that were merely not
/// done yet may be done in the other.
pub fn same_bug(record: &Record, other: &Record) -> bool {
    let unfinished = |record: &Record| roles(record, |i| record.tasks[i].path != "clock" && !record.tasks[i].finished);
    match (&record.finding.details, &other.finding.details) {
        (Details::StepLimit { .. }, Details::StepLimit { .. }) => {
            let known = unfinished(record);
            unfinished(other).iter().all(|role| known.contains(role))
        }
        _ => cause(record) == cause(other),
    }
}

fn roles(record: &Record, wanted: impl Fn(usize) -> bool) -> Vec<String> {
    (0..record.tasks.len()).filter(|i| wanted(*i)).map(|i| role(record, i as u32)).collect()
}

/// What a task is, whatever its number: main, or where it was spawned.
fn role(record: &Record, task: u32) -> String {
    let Some(task) = record.tasks.get(task as usize) else {
        return "no task".into();
    };
    if task.path == "0" {
        return "main".into();
    }
    match (exact(record.place(task.spawned_at)), &task.name) {
        (Some(place), _) => format!("task spawned at {place}"),
        (None, Some(name)) => format!("task `{name}`"),
        (None, None) => "a task".into(),
    }
}

/// With the column, since two spawns may share a line.
fn exact(place: Option<&Place>) -> Option<String> {
    place.map(|p| format!("{p}:{}", p.column))
}
