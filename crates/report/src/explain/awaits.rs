//! What a future waits for. To the engine its task is parked; the last thing that it began to wait for says why.

use drawloom_engine::act::Act;

use super::acts::act;
use super::case::Case;
use crate::record::{BlockedRecord, StepRecord};

/// The wait of a task that is parked for a future, as one for a lock, a task, or whatever it is.
pub(super) fn resolved(case: &Case<'_>, blocked: &BlockedRecord) -> BlockedRecord {
    let mut blocked = blocked.clone();
    if blocked.operation != "park" || blocked.argument.is_none() {
        return blocked;
    }
    let Some((step, resource)) = awaited(case, blocked.task) else { return blocked };
    let made_at = case.record.resources[resource as usize].created_at;
    let joined =
        case.record.tasks.iter().zip(0_u64..).find(|(task, _)| made_at.is_some() && task.spawned_at == made_at);
    blocked.resource = Some(resource);
    blocked.place = case.record.steps[step as usize].place;
    (blocked.operation, blocked.argument) = match joined {
        Some((_, task)) => ("join".to_owned(), Some(task)),
        None => (AWAIT.to_owned(), None),
    };
    blocked
}

/// The word for a wait for an object.
pub(super) const AWAIT: &str = "await";

/// The last step in which `task` began to wait for an object without getting it since, and the object.
pub(super) fn awaited(case: &Case<'_>, task: u32) -> Option<(u32, u32)> {
    let record = case.record;
    let mut got: Vec<u32> = Vec::new();
    for (i, step) in (0..record.steps.len() as u32).zip(&record.steps).rev().filter(|(_, step)| step.task == task) {
        match (act(record, step), step.resource) {
            (Some(Act::Awaits(_)), Some(resource)) if !got.contains(&resource) => return Some((i, resource)),
            (Some(_), Some(resource)) => got.push(resource),
            _ => {}
        }
    }
    None
}

/// What is waited for at an object, by what else is done to it.
pub(super) fn wanted(case: &Case<'_>, resource: u32) -> String {
    let name = case.names.short(resource);
    let done = |wanted: &[Act]| {
        let on_it = |step: &&StepRecord| step.resource == Some(resource);
        case.record
            .steps
            .iter()
            .filter(on_it)
            .any(|step| act(case.record, step).is_some_and(|act| wanted.contains(&act)))
    };
    if done(&[Act::Locks, Act::LocksShared, Act::Unlocks]) {
        name.to_owned()
    } else if done(&[Act::Wakes, Act::WakesNobody]) {
        format!("a notification of {name}")
    } else if done(&[Act::Acquires, Act::Releases]) {
        format!("a permit of {name}")
    } else if done(&[Act::Sends, Act::Receives]) {
        format!("a message in {name}, or room for one")
    } else {
        name.to_owned()
    }
}

/// Who has a lock that is an object, in the end.
pub(super) fn holder(case: &Case<'_>, resource: u32) -> Option<u32> {
    let end = case.record.steps.len() as u32;
    let holds = |bar: &&crate::html::walk::Bar| bar.resource == Some(resource) && bar.to >= end;
    case.accesses.holds.iter().find(holds).map(|bar| bar.task)
}

/// Tasks each of which waits for the next, and the last for the first: by locks that are objects, and by joins.
pub(super) fn cycle(case: &Case<'_>, all: &[BlockedRecord]) -> Vec<u32> {
    let next = |task: u32| {
        let b = all.iter().find(|b| b.task == task)?;
        match b.operation.as_str() {
            "join" => case.names.target(b.argument),
            AWAIT => holder(case, b.resource?),
            _ => b.blockers.first().map(|blocker| blocker.task),
        }
    };
    for b in all {
        let mut path = vec![b.task];
        while let Some(task) = next(path[path.len() - 1]) {
            if let Some(at) = path.iter().position(|known| *known == task) {
                return path.split_off(at);
            }
            path.push(task);
        }
    }
    Vec::new()
}
