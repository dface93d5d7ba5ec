//! Where an execution that passes went another way.
//!
//! Some failures show nothing of their cause in the end: a task has returned early, and what it should have written was
//! never written. Then another execution that passed is asked. A task does the same in both until a step at which it
//! found something else; from there on it goes another way. If that step was reached after another task's change in
//! the one execution, and before it in the other one, the order of the two decides.

use drawloom_engine::sorted::Map;

use super::accesses::{Access, Accesses};
use super::acts::act;
use super::case::Case;
use crate::names::Names;
use crate::record::{PASSED, Record, StepRecord};

use drawloom_engine::act::Act;

/// Executions that are compared with the failing one, and steps that each of them may have.
const MOST: usize = 24;
const MOST_STEPS: usize = 5_000;

/// The step that decides.
pub(super) struct Parting {
    /// What the task found there, or would have.
    pub(super) read: Access,
    /// The other task's change that it came after in the failing execution, or before which it came.
    pub(super) write: Access,
    /// Whether it came after it.
    pub(super) too_late: bool,
    /// Whether the task went another way from there on.
    pub(super) parts: bool,
    /// Of a message that was received: the task whose message it was in the execution that passes.
    instead: Option<u32>,
}

impl Parting {
    /// `task `0.1` came to `x` only after …`
    pub(super) fn sentence(&self, case: &Case<'_>) -> String {
        let (reader, writer) = (case.names.quoted(self.read.task), case.names.quoted(self.write.task));
        let x = case.names.short(self.read.resource);
        if let Some(other) = self.instead.map(|task| case.names.quoted(task)) {
            return format!("task {reader} received from {x} the message of task {writer} before that of task {other}");
        }
        match self.too_late {
            true => {
                format!(
                    "task {reader} reached {x} only after task {writer} had changed it (step {})",
                    self.write.step + 1
                )
            }
            false => format!("task {reader} used {x} before task {writer} had changed it"),
        }
    }

    /// What another execution shows.
    pub(super) fn reason(&self, case: &Case<'_>) -> String {
        if let Some(other) = self.instead.map(|task| case.names.quoted(task)) {
            let reader = case.names.quoted(self.read.task);
            return format!("in a passing execution, task {reader} received there the message of task {other}");
        }
        format!(
            "in a passing execution, task {} reached {} {} that change{}",
            case.names.quoted(self.read.task),
            case.names.short(self.read.resource),
            if self.too_late { "before" } else { "after" },
            if self.parts { ", and then took another path" } else { "" }
        )
    }
}

/// Where the failing execution parts from the one among those that pass which is most like it.
pub(super) fn parting(case: &Case<'_>) -> Option<Parting> {
    let passing = case.knowledge.others().iter().filter(|other| other.finding.kind == PASSED);
    let few = |record: &&Record| record.steps.len() <= MOST_STEPS;
    let own = Looks::of(case.record, case.whole, &case.names, &case.accesses);
    let all = passing.filter(few).take(MOST).filter_map(|other| {
        let names = Names::of(other, case.sources);
        let accesses = Accesses::of(other, &names, case.sources);
        let there = Looks::of(other, other, &names, &accesses);
        compared(case, &own, &there)
    });
    // The first of those that differ in the least.
    all.min_by_key(|(differences, _)| *differences).map(|(_, parting)| parting)
}

/// Where the task at `path` came to something before `waiter` had changed it, and after that in the execution that
/// passes, as the last such step before step `at` there; with the number of steps that found something else.
pub(super) fn before_step(
    case: &Case<'_>,
    (own, there): (&Looks, &Looks),
    path: &str,
    at: u32,
    waiter: u32,
) -> Option<(usize, Parting)> {
    let of = |all: &'_ Looks| all.of.iter().position(|(other, _)| other == path);
    let (looks, others) = (&own.of[of(own)?].1, &there.of[of(there)?].1);
    let waits = &case.record.tasks[waiter as usize].path;
    let count = |look: &Look| look.after.get(waits).copied().unwrap_or(0);
    let alike = looks.iter().zip(others).take_while(|(a, b)| a.code == b.code);
    let changed: Vec<_> = alike.filter(|(a, b)| b.step < at && a.after != b.after).collect();
    let (look, other) = changed.iter().rfind(|(a, b)| count(a) < count(b))?;
    let missed = told(case, look, other, there)?;
    let by_waiter = missed.write.task == waiter && !missed.too_late && missed.instead.is_none();
    (by_waiter && case.names.tells(missed.read.resource)).then_some((changed.len(), missed))
}

/// One step of a task that finds something out.
struct Look {
    /// Where, what, and to what.
    code: (Option<String>, String, String),
    step: u32,
    /// How many changes of each other task to the same it came after; of a message that was received, whose it was.
    after: Map<String, u32>,
    resource: u32,
    /// If it receives a message: the step that has sent it.
    sent: Option<u32>,
}

/// What each task looks at, in its order, by the path of the task.
pub(super) struct Looks {
    of: Vec<(String, Vec<Look>)>,
    /// How often each task changes what, by its path and what that is called in every execution.
    changes: Map<(String, String), u32>,
}

impl Looks {
    /// Of the steps of `record`, which are the first ones of `whole`.
    pub(super) fn of(record: &Record, whole: &Record, names: &Names<'_>, accesses: &Accesses) -> Looks {
        let keys = names.keys();
        let mut changes: Map<u32, Vec<(u32, u32)>> = Map::default();
        for access in accesses.all.iter().filter(|a| changes_it(whole, a)) {
            changes.at(access.resource).push((access.at, access.task));
        }
        let mut taken: Map<u32, u32> = Map::default();
        for access in accesses.all.iter().filter(|a| a.section) {
            taken.insert(access.step, access.at);
        }
        let path = |task: u32| record.tasks[task as usize].path.clone();
        let mut made: Map<(String, String), u32> = Map::default();
        for (resource, (_, task)) in changes.iter().flat_map(|(r, all)| all.iter().map(move |change| (r, change))) {
            *made.at((path(*task), keys[*resource as usize].clone())) += 1;
        }
        // By channel: the steps that have sent, in the order of the messages. Who receives may have waited for them.
        let ok = |step: &StepRecord| record.outcome(step) == "ok";
        let mut sent: Map<u32, Vec<u32>> = Map::default();
        for (i, step) in (0..).zip(&record.steps).filter(|(_, step)| ok(step) && sends(record, step)) {
            step.resource.into_iter().for_each(|resource| sent.at(resource).push(i));
        }
        let mut of: Vec<(String, Vec<Look>)> =
            record.tasks.iter().map(|task| (task.path.clone(), Vec::new())).collect();
        for (i, step) in (0..).zip(&record.steps) {
            let Some(resource) = step.resource.filter(|_| counts(whole, step)) else { continue };
            let at = taken.get(&i).copied().unwrap_or(i);
            let mut after: Map<String, u32> = Map::default();
            let message = step.value.filter(|_| ok(step) && matches!(record.operation(step), "recv" | "try_recv"));
            let sent = message.and_then(|n| sent.get(&resource)?.get(usize::try_from(n).ok()?).copied());
            if let Some(sent) = sent {
                after.insert(path(record.steps[sent as usize].task), 1);
            }
            let others = changes.get(&resource).into_iter().flatten();
            for (_, task) in others.filter(|(when, task)| *when < at && *task != step.task) {
                *after.at(path(*task)) += 1;
            }
            let place = record.place(step.place).map(|place| format!("{place}:{}", place.column));
            let code = (place, record.operation(step).to_owned(), keys[resource as usize].clone());
            of[step.task as usize].1.push(Look { code, step: i, after, resource, sent });
        }
        Looks { of, changes: made }
    }
}

/// Whether an access changes something for others: who receives takes only what was meant for it.
fn changes_it(record: &Record, access: &Access) -> bool {
    access.mode.writes() && act(record, &record.steps[access.step as usize]) != Some(Act::Receives)
}

/// Whether a step is about the state of the program.
fn counts(record: &Record, step: &StepRecord) -> bool {
    let told = !matches!(act(record, step), Some(Act::Abandons | Act::Unlocks));
    told && !matches!(
        record.operation(step),
        "unlock" | "unlock read" | "unlock write" | "drop sender" | "drop receiver"
    )
}

/// The number of steps that found something else, and the one that decides.
fn compared(case: &Case<'_>, own: &Looks, there: &Looks) -> Option<(usize, Parting)> {
    let mut differences = 0;
    let mut found: Option<(bool, u32, Parting)> = None;
    for ((path, looks), task) in own.of.iter().zip(&case.record.tasks) {
        let Some((_, others)) = there.of.iter().find(|(other, _)| other == path) else { continue };
        let alike = looks.iter().zip(others).take_while(|(a, b)| a.code == b.code).count();
        // Who was stopped by the failure would have gone on.
        let parts = alike < looks.len() || (alike < others.len() && task.finished);
        let changed = looks.iter().zip(others).take(alike).filter(|(a, b)| a.after != b.after);
        let changed: Vec<(&Look, &Look)> = changed.collect();
        differences += changed.len() + usize::from(parts);
        // Of a task that goes another way what it found last; else what any of them found first.
        let decides = if parts { changed.last() } else { changed.first() };
        let Some(parting) =
            decides.and_then(|(a, b)| told(case, a, b, there).map(|parting| Parting { parts, ..parting }))
        else {
            continue;
        };
        let rank = (!parts, parting.read.step);
        if found.as_ref().is_none_or(|(kept, step, _)| rank < (*kept, *step)) {
            found = Some((rank.0, rank.1, parting));
        }
    }
    found.map(|(_, _, parting)| (differences, parting))
}

/// The change that `look` came after and `other` did not, or the other way round.
fn told(case: &Case<'_>, look: &Look, other: &Look, passing: &Looks) -> Option<Parting> {
    let step = &case.record.steps[look.step as usize];
    let own = case.accesses.all.iter().find(|a| a.step == look.step).cloned();
    let read = own.unwrap_or_else(|| Access::of_step(look.step, step, look.resource));
    if look.sent.is_some() || other.sent.is_some() {
        return received(case, look, other, read);
    }
    let count = |look: &Look, path: &str| look.after.get(path).copied().unwrap_or(0);
    let changes = |task: u32| {
        let on_it = move |a: &&Access| a.task == task && a.resource == look.resource && changes_it(case.whole, a);
        case.accesses.all.iter().filter(on_it)
    };
    for (task, record) in (0..).zip(&case.record.tasks) {
        let (here, there) = (count(look, &record.path), count(other, &record.path));
        if here == there {
            continue;
        }
        let too_late = here > there;
        // What never happens in the other execution says nothing of an order.
        let made = passing.changes.get(&(record.path.clone(), look.code.2.clone())).copied().unwrap_or(0);
        if too_late && made < here {
            return None;
        }
        let nth = if too_late { here - 1 } else { here };
        let write = changes(task).nth(nth as usize)?.clone();
        return Some(Parting { read, write, too_late, parts: false, instead: None });
    }
    None
}

/// Whose message it was, and whose it is in the other execution.
fn received(case: &Case<'_>, look: &Look, other: &Look, read: Access) -> Option<Parting> {
    let task = |look: &Look| {
        let path = look.after.keys().next()?;
        (0..).zip(&case.record.tasks).find(|(_, task)| task.path == *path).map(|(i, _)| i)
    };
    let (at, instead) = (look.sent?, task(other)?);
    let write = Access::of_step(at, &case.record.steps[at as usize], look.resource);
    Some(Parting { read, write, too_late: true, parts: false, instead: Some(instead) })
}

fn sends(record: &Record, step: &StepRecord) -> bool {
    matches!(record.operation(step), "send" | "try_send")
}
