//! What is done to the objects of libraries: to the engine a lock of tokio is an object, and so is a channel.

use drawloom_engine::act::Act;
use drawloom_engine::sorted::sort_by_key;

use crate::html::walk::Bar;
use crate::record::{Record, StepRecord};

/// What a step does to an object; none if it is no use of one.
pub(super) fn act(record: &Record, step: &StepRecord) -> Option<Act> {
    let is_use = record.meta.language.facts.uses_are_acts && record.operation(step) == "use";
    is_use.then(|| Act::of(step.value.unwrap_or_default()))
}

/// Who held which of the locks that are objects, and from which step to which.
pub(super) fn holds(record: &Record) -> Vec<Bar> {
    let mut open: Vec<Bar> = Vec::new();
    let mut all = Vec::new();
    for (i, step) in (0..).zip(&record.steps) {
        let bar =
            |shared| Bar { task: step.task, resource: step.resource, from: i, to: record.steps.len() as u32, shared };
        match act(record, step) {
            Some(Act::Locks) => open.push(bar(false)),
            Some(Act::LocksShared) => open.push(bar(true)),
            Some(Act::Unlocks) => {
                // A guard may be dropped by another task than took it.
                let own = open.iter().rposition(|b| b.resource == step.resource && b.task == step.task);
                let at = own.or_else(|| open.iter().rposition(|b| b.resource == step.resource));
                if let Some(at) = at {
                    all.push(Bar { to: i, ..open.remove(at) });
                }
            }
            _ => {}
        }
    }
    all.extend(open);
    sort_by_key(&mut all, |bar| bar.from);
    all
}

/// The resources to which this is done somewhere.
pub(super) fn with_act(record: &Record, wanted: &[Act]) -> drawloom_engine::sorted::Set<u32> {
    with_any_act(record, |act| wanted.contains(&act))
}

/// The resources to which something that is `wanted` is done somewhere.
pub(super) fn with_any_act(record: &Record, wanted: impl Fn(Act) -> bool) -> drawloom_engine::sorted::Set<u32> {
    let does = |step: &&StepRecord| act(record, step).is_some_and(&wanted);
    record.steps.iter().filter(does).filter_map(|step| step.resource).collect()
}
