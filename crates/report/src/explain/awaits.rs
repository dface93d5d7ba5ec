//! What a future waits for, of which the engine knows.

use drawloom_engine::act::Act;

use super::acts::act;
use super::case::Case;
use crate::record::BlockedRecord;

/// The wait of a task that is parked for a future, as one for a task or for an object.
pub(super) fn resolved(blocked: &BlockedRecord) -> BlockedRecord {
    let (operation, argument) = match blocked.awaited.as_deref() {
        None => (blocked.operation.clone(), blocked.argument),
        Some("join") => ("join".to_owned(), blocked.operand()),
        Some(_) => (AWAIT.to_owned(), None),
    };
    BlockedRecord { operation, argument, ..blocked.clone() }
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

/// What is waited for at an object.
pub(super) fn wanted(case: &Case<'_>, b: &BlockedRecord, resource: u32) -> String {
    let name = case.names.short(resource);
    match b.awaited.as_deref() {
        Some("acquire") => format!("a permit of {name}"),
        Some("send") => format!("room in {name}"),
        Some("recv") => format!("a message in {name}"),
        Some("notified") => format!("a notification of {name}"),
        // What is watched has a lock of the same name.
        Some("await") => format!("a new value of {}", name.strip_prefix("object ").unwrap_or(name)),
        _ => name.to_owned(),
    }
}
