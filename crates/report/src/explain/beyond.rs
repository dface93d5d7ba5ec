//! What tasks would have done next, had the execution not failed: as they did in another one.
//!
//! To let a program run on after a panic would run its destructors, and they may wait for what never comes. So
//! another execution is asked in which the task went the same way until then. What it read there may be something
//! else; where it went, and on what, is what counts.

use crate::names::Names;
use crate::record::{Details, Place, Record, StepRecord};
use crate::source::Sources;

/// `record` with the steps that its unfinished tasks would have made next, as far as `others` show them.
pub(super) fn beyond(record: &Record, others: &[Record], sources: &Sources<'_>) -> Option<Record> {
    if others.is_empty() || !matches!(record.finding.details, Details::Panic { .. }) {
        return None;
    }
    let mut whole = record.clone();
    let keys = Names::of(record, sources).keys();
    let mut all_keys = keys.clone();
    let keys_of_others: Vec<Vec<String>> = others.iter().map(|other| Names::of(other, sources).keys()).collect();
    for (task, _) in (0..).zip(&record.tasks).filter(|(_, task)| !task.finished && !task.panicked) {
        let path = &record.tasks[task as usize].path;
        let done: Vec<&StepRecord> = own(record, task).collect();
        let go_on = others.iter().zip(&keys_of_others).filter_map(|(other, their_keys)| {
            let there = other.tasks.iter().position(|t| t.path == *path)? as u32;
            let steps: Vec<&StepRecord> = own(other, there).collect();
            let alike = |(step, done): (&&StepRecord, &&StepRecord)| {
                signature(other, their_keys, step) == signature(record, &keys, done)
            };
            let same = steps.len() > done.len() && steps.iter().zip(&done).all(alike);
            same.then_some((other, their_keys, steps))
        });
        let go_on: Vec<_> = go_on.collect();
        // Whoever found the same is likelier to go on in the same way than whoever only came the same way.
        let found_the_same = |(other, _, steps): &&(&Record, &Vec<String>, Vec<&StepRecord>)| {
            let alike = |(step, done): (&&StepRecord, &&StepRecord)| {
                step.value == done.value && other.outcome(step) == record.outcome(done)
            };
            steps.iter().zip(&done).all(alike)
        };
        let Some((other, their_keys, steps)) = go_on.iter().find(found_the_same).or(go_on.first()) else { continue };
        let steps = steps[done.len()..].iter().copied();
        for step in steps {
            let step = translated((&mut whole, &mut all_keys), (other, their_keys), step, task);
            whole.steps.push(step);
        }
    }
    (whole.steps.len() > record.steps.len()).then_some(whole)
}

/// Where a step is, what it does, and on what: the same in every execution.
type Signature<'a> = (Option<&'a Place>, &'a str, Option<&'a str>);

fn signature<'a>(record: &'a Record, keys: &'a [String], step: &StepRecord) -> Signature<'a> {
    let resource = step.resource.map(|r| keys[r as usize].as_str());
    (record.place(step.place), record.operation(step), resource)
}

fn own(record: &Record, task: u32) -> impl Iterator<Item = &StepRecord> {
    record.steps.iter().filter(move |step| step.task == task)
}

/// A step of `other` in the tables of `whole`.
fn translated(
    (whole, keys): (&mut Record, &mut Vec<String>),
    (other, their_keys): (&Record, &[String]),
    step: &StepRecord,
    task: u32,
) -> StepRecord {
    let place = other.place(step.place).map(|place| index_of(&mut whole.places, place) as u32);
    let operation = index_of(&mut whole.operations, &other.operation(step).to_owned()) as u16;
    let outcome = index_of(&mut whole.outcomes, &other.outcome(step).to_owned()) as u16;
    let resource = step.resource.map(|r| {
        let resource = &other.resources[r as usize];
        let known = keys.iter().position(|known| *known == their_keys[r as usize]);
        known.unwrap_or_else(|| {
            keys.push(their_keys[r as usize].clone());
            let created_at = other.place(resource.created_at).map(|p| index_of(&mut whole.places, p) as u32);
            whole.resources.push(crate::record::ResourceRecord { created_at, ..resource.clone() });
            whole.resources.len() - 1
        }) as u32
    });
    // What it refers to besides has other numbers there.
    let argument = match other.operation(step) {
        "read-modify-write" | "compare-exchange" | "store" => step.argument,
        _ => None,
    };
    StepRecord { task, operation, outcome, resource, place, choice: false, after: None, argument, value: step.value }
}

fn index_of<T: PartialEq + Clone>(table: &mut Vec<T>, item: &T) -> usize {
    table.iter().position(|known| known == item).unwrap_or_else(|| {
        table.push(item.clone());
        table.len() - 1
    })
}
