//! Failures that are no matter of one window: tasks that spin for ever, accesses that nothing orders.

use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::RaceWindow;
use crate::names::count;
use crate::record::{AccessRecord, Details};
use crate::terminal::race::missing;

/// Steps of the end that are looked at for the round that repeats itself.
const LAST: usize = 64;

/// Tasks that yield, or run, without getting anywhere.
pub(super) fn livelock(case: &Case<'_>) -> Blame {
    let record = case.record;
    let first = record.steps.len().saturating_sub(LAST);
    let mut tasks: Vec<u32> = Vec::new();
    let mut resources: Vec<u32> = Vec::new();
    for step in &record.steps[first..] {
        if !tasks.contains(&step.task) {
            tasks.push(step.task);
        }
        resources.extend(step.resource.filter(|r| !resources.contains(r)));
    }
    tasks.sort_unstable();
    let named = |tasks: &[u32]| tasks.iter().map(|t| case.names.quoted(*t)).collect::<Vec<_>>().join(" and ");
    let about: Vec<&str> = resources.iter().take(3).map(|r| case.names.short(*r)).collect();
    let looks = if about.is_empty() { String::new() } else { format!(" over {}", about.join(", ")) };
    let sentence = match (&record.finding.details, tasks.as_slice()) {
        (Details::StepLimit { limit }, tasks) => {
            format!("Endless: after {} {} still busy{looks}", count(*limit, "step"), are(tasks.len(), &named(tasks)))
        }
        (_, [one]) => {
            format!("Livelock: task {} spins{looks} for ever: nobody changes what it waits for", named(&[*one]))
        }
        (_, tasks) => format!("Livelock: tasks {} give way to each other for ever{looks}", named(tasks)),
    };
    let yields: Vec<String> = tasks
        .iter()
        .filter_map(|t| {
            let task = &record.tasks[*t as usize];
            (task.yields > 0).then(|| format!("{} yielded {}", case.names.path(*t), count(task.yields, "time")))
        })
        .collect();
    let mut blame = Blame {
        class: Some(Class::Livelock),
        subkind: Some(if tasks.len() == 1 { "spin" } else { "mutual" }),
        sentence,
        resources,
        ..Blame::default()
    };
    blame.reasons.extend((!yields.is_empty()).then(|| yields.join(", ")));
    blame.steps.extend(first as u32..record.steps.len() as u32);
    blame
}

fn are(number: usize, tasks: &str) -> String {
    if number == 1 { format!("task {tasks} is") } else { format!("tasks {tasks} are") }
}

/// Accesses to plain memory that nothing orders.
pub(super) fn data_race(case: &Case<'_>, cell: u32, earlier: &AccessRecord, later: &AccessRecord) -> Blame {
    let verb = |access: &AccessRecord| match case.operation(access.step) {
        "write cell" => "writes",
        _ => "reads",
    };
    let (a, b) = (case.names.quoted(earlier.task), case.names.quoted(later.task));
    let x = case.names.short(cell);
    let access = |side: &AccessRecord| case.accesses.all.iter().find(|a| a.step == side.step).cloned();
    Blame {
        class: Some(Class::DataRace),
        subkind: Some(match (verb(earlier), verb(later)) {
            ("writes", "writes") => "write-write",
            _ => "read-write",
        }),
        sentence: format!(
            "Data race: task {a} {} {x} and task {b} {} it, and nothing orders the two",
            verb(earlier),
            verb(later)
        ),
        pattern: Some(format!("no edge from step {} to step {}", earlier.step + 1, later.step + 1)),
        reasons: vec![missing(case.record, &case.names, earlier, later)],
        window: Some(RaceWindow {
            from: earlier.step,
            to: Some(later.step),
            task: earlier.task,
            resource: Some(cell),
            reason: format!(
                "no lock, join, message or atomic leads from step {} to step {}",
                earlier.step + 1,
                later.step + 1
            ),
        }),
        opens: access(earlier),
        closes: access(later),
        resources: vec![cell],
        steps: [earlier.sync, later.sync].into_iter().flatten().collect(),
        ..Blame::default()
    }
}
