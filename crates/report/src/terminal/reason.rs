//! Why a task did not go on: at a switch, and in the end.

use super::operation::waits_for;
use crate::names::Names;
use crate::record::waits::Wait;
use crate::record::{BLOCKED, BlockedRecord, Details, Record, StepRecord};

/// Why the task of step `i` did not make the next one, where that is known.
pub(crate) fn reason(record: &Record, names: &Names<'_>, waits: &[Wait], i: u32) -> Option<String> {
    let step_at = |i: u32| &record.steps[i as usize];
    let (step, wait) = (step_at(i), waits[i as usize]);
    let word = record.operation(step);
    if wait.ended_by.is_some() {
        return Some(waits_for(record, names, word, step.resource, step.argument));
    }
    if word == "yield" {
        return Some("yielded".to_owned());
    }
    let preempted = record.meta.minimised.as_ref().map(|m| m.preempting.binary_search(&(i + 1)).is_ok());
    if preempted == Some(true) {
        return Some("preempted".to_owned());
    }
    let Some(next) = wait.next else {
        let blocked = blocked(record).iter().find(|b| b.task == step.task);
        return blocked.filter(|_| record.outcome(step) != BLOCKED).map(|b| {
            let what = waits_for(record, names, b.method(), b.resource, b.operand());
            format!("{what}, for ever")
        });
    };
    let next_word = record.operation(step_at(next));
    let switched_by_choice = || record.steps.get(i as usize + 1).is_some_and(|s| s.choice);
    match next_word {
        "exit" if next == i + 1 => {
            let panicked = record.tasks.get(step.task as usize).is_some_and(|t| t.panicked);
            Some(if panicked { record.meta.language.words.panicked } else { "finished" }.to_owned())
        }
        _ if waits[next as usize].came_late => {
            let StepRecord { resource, argument, .. } = *step_at(next);
            Some(waits_for(record, names, next_word, resource, argument))
        }
        // An unpark leaves no mark on the park that it ends.
        "park" => None,
        _ if preempted.unwrap_or_else(switched_by_choice) => Some("preempted".to_owned()),
        _ => None,
    }
}

/// Where a failing task was in the end.
pub(crate) struct Ending {
    pub(crate) task: u32,
    pub(crate) what: String,
    pub(crate) place: Option<u32>,
}

/// What cannot be seen from the steps of the failing tasks.
pub(crate) fn endings(record: &Record, names: &Names<'_>) -> Vec<Ending> {
    let finding = &record.finding;
    let mut endings = Vec::new();
    if matches!(finding.details, Details::Panic { .. }) {
        endings.push(Ending {
            task: finding.task,
            what: record.meta.language.words.panics.into(),
            place: finding.place,
        });
    }
    // Other waits are steps, and shown. A join, a park or an await becomes one when its wait is over.
    let not_shown = |b: &&BlockedRecord| !record.waits_in_a_step(b);
    endings.extend(blocked(record).iter().filter(not_shown).map(|b| Ending {
        task: b.task,
        what: waits_for(record, names, b.method(), b.resource, b.operand()),
        place: b.place,
    }));
    endings
}

/// The tasks that nobody will let go on.
pub(crate) fn blocked(record: &Record) -> &[BlockedRecord] {
    match &record.finding.details {
        Details::Deadlock { blocked, .. } | Details::Panic { waiting: blocked, .. } => blocked,
        _ => &[],
    }
}
