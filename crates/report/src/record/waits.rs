//! Which steps waited, and which step ended each wait.
//!
//! A wait is no step of its own, so the trace tells of it only afterwards: the next step of the same
//! task names the step that granted it. A join or a sleep is announced first and made when its wait is
//! over, so there the wait came *before* the step.

use super::Record;

/// How one step and the wait around it relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Wait {
    /// The step that ended the wait that followed this step.
    pub(crate) ended_by: Option<u32>,
    /// This step was itself waited for: a join, a sleep.
    pub(crate) came_late: bool,
    /// The next step of the same task.
    pub(crate) next: Option<u32>,
}

/// For every step, the wait that belongs to it.
pub(crate) fn waits(record: &Record) -> Vec<Wait> {
    let mut waits = vec![Wait::default(); record.steps.len()];
    let mut last: Vec<Option<u32>> = vec![None; record.tasks.len()];
    // By task: its exit, and what last woke it from a sleep or a park.
    let mut exits: Vec<Option<u32>> = vec![None; record.tasks.len()];
    let mut wakes: Vec<Option<u32>> = vec![None; record.tasks.len()];
    // By mailbox and number: what has arrived there.
    let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); record.resources.len()];
    let mut writes: Vec<Option<u32>> = vec![None; record.resources.len()];
    for (i, step) in record.steps.iter().enumerate() {
        let i = i as u32;
        let previous = last[step.task as usize].replace(i);
        if let Some(previous) = previous {
            waits[previous as usize].next = Some(i);
        }
        let aim = step.argument.map(|argument| argument as usize).filter(|task| *task < record.tasks.len());
        let enabled_by = match record.operation(step) {
            "join" => aim.and_then(|task| exits[task]),
            "sleep" | "park" => wakes[step.task as usize],
            "receive" => step
                .resource
                .zip(step.value)
                .and_then(|(mailbox, n)| arrived[mailbox as usize].get(n as usize).copied()),
            "spin_until" => step.resource.and_then(|resource| writes[resource as usize]),
            _ => None,
        };
        waits[i as usize].came_late = enabled_by.is_some_and(|by| previous.is_none_or(|p| by > p));
        match (record.operation(step), aim) {
            ("exit", _) => exits[step.task as usize] = Some(i),
            // The timer of a wait on a resource names that resource; a sleep has none.
            ("timer", Some(task)) if step.resource.is_none() => wakes[task] = Some(i),
            ("unpark", Some(task)) => wakes[task] = Some(i),
            _ => {}
        }
        let of_process = record.is_of_process(step);
        if let ("send" | "exit signal" | "down", Some(mailbox), Some(_), true) =
            (record.operation(step), step.resource, step.value, of_process)
        {
            arrived[mailbox as usize].push(i);
        }
        if let ("store" | "read-modify-write" | "compare-exchange", Some(resource)) =
            (record.operation(step), step.resource)
        {
            writes[resource as usize] = Some(i);
        }
        let granted_by = step.after.filter(|g| previous.is_none_or(|p| *g > p));
        if let (Some(after), Some(previous)) = (granted_by, previous) {
            let previous_step = &record.steps[previous as usize];
            // To send to a process is not to wait.
            if may_wait(record.operation(previous_step)) && !record.is_of_process(previous_step) {
                waits[previous as usize].ended_by = Some(after);
            }
        }
    }
    waits
}

/// Whether a step of this kind may have to wait after it was made.
pub(crate) fn may_wait(operation: &str) -> bool {
    matches!(operation, "lock" | "read" | "write" | "wait" | "acquire" | "barrier wait" | "call_once" | "send" | "recv")
}
