//! Who would have ended a wait that nobody ends, as executions show that pass.
//!
//! A trace that ends in a wait does not say whose turn it was: who should have sent, notified or unparked has done
//! something else. Executions that pass show who does so. Then there are two questions. Does that task wait itself, in the
//! end for the one that waits for it? And if not, what did it look at before, and did it look too early?

use drawloom_engine::sorted::Set;

use drawloom_engine::act::Act;

use super::accesses::Accesses;
use super::acts::act;
use super::awaits::AWAIT;
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::RaceWindow;
use super::parting::{self, Looks, Parting};
use crate::names::Names;
use crate::record::{BlockedRecord, PASSED, Place, Record, StepRecord};

/// Tasks that wait for each other in a circle, each for what only the next one would do.
pub(super) fn circle<'b>(case: &Case<'_>, involved: &[&'b BlockedRecord]) -> Option<Vec<&'b BlockedRecord>> {
    let find = |task: u32| involved.iter().copied().find(|b| b.task == task);
    let next: Vec<Option<u32>> = involved.iter().map(|b| waker(case, b)).collect();
    let after = |b: &BlockedRecord| {
        let at = involved.iter().position(|other| other.task == b.task)?;
        find(next[at]?)
    };
    involved.iter().find_map(|first| {
        let mut circle = vec![*first];
        while circle.len() <= involved.len() {
            let next = after(circle[circle.len() - 1])?;
            if next.task == first.task {
                return (circle.len() > 1).then_some(circle);
            }
            circle.push(next);
        }
        None
    })
}

/// The one task that ends this wait in executions that pass.
fn waker(case: &Case<'_>, b: &BlockedRecord) -> Option<u32> {
    let mut all: Set<String> = Set::default();
    for other in passing(case) {
        let names = Names::of(other, case.sources);
        let there = There::of(case, other, &names.keys(), b);
        all.extend(there.wakes().map(|(_, step)| other.tasks[step.task as usize].path.clone()));
    }
    let path = all.first().filter(|_| all.len() == 1)?;
    let task = (0..).zip(&case.record.tasks).find(|(_, task)| task.path == *path)?.0;
    (task != b.task).then_some(task)
}

/// A task that ends the wait of another one in executions that pass, and here looked whether there is somebody to wake
/// before that one was to be seen.
pub(super) fn looked_too_early(case: &Case<'_>, involved: &[&BlockedRecord]) -> Option<Blame> {
    let own = Looks::of(case.record, case.whole, &case.names, &case.accesses);
    let all = passing(case).flat_map(|other| {
        let names = Names::of(other, case.sources);
        let keys = names.keys();
        let accesses = Accesses::of(other, &names, case.sources);
        let looks = Looks::of(other, other, &names, &accesses);
        let found = involved.iter().filter_map(|b| {
            let there = There::of(case, other, &keys, b);
            let (at, wake) = there.wakes().next()?;
            let path = &other.tasks[wake.task as usize].path;
            let here = There::of(case, case.record, &case.names.keys(), b);
            // It does so here, too: then that was not enough.
            let woke = here.wakes().any(|(_, step)| case.record.tasks[step.task as usize].path == *path);
            let missed = if woke { None } else { parting::before_step(case, (&own, &looks), path, at, b.task) };
            missed.map(|(differences, missed)| (differences, missed, (*b).clone()))
        });
        found.collect::<Vec<_>>()
    });
    let (_, missed, b) = all.min_by_key(|(differences, ..)| *differences)?;
    Some(told(case, missed, &b))
}

fn told(case: &Case<'_>, missed: Parting, b: &BlockedRecord) -> Blame {
    let names = &case.names;
    let Parting { read, write, .. } = missed;
    let (waker, waiter, x) = (names.quoted(read.task), names.quoted(b.task), names.short(read.resource));
    let woken = match b.method() {
        "recv" => "sent it nothing",
        "wait" | "notified" => "did not notify it",
        _ => "did not wake it",
    };
    let wait = (0..case.end()).rev().find(|i| case.record.steps[*i as usize].task == b.task);
    Blame {
        class: Some(Class::LostWakeup),
        subkind: Some("looked-too-early"),
        sentence: format!(
            "Lost wake-up: task {waker} checked {x} before task {waiter} had changed it, so it {woken}; task {waiter} \
             waits, and no task will end the wait"
        ),
        reasons: vec![format!(
            "in a passing execution, task {waker} reached {x} after that change, and woke task {waiter}"
        )],
        window: Some(RaceWindow {
            from: read.step,
            to: Some(write.step),
            task: read.task,
            resource: Some(read.resource),
            reason: format!("{} has seen no task to wake", names.path(read.task)),
        }),
        harm: Some(read.step),
        resources: vec![read.resource],
        steps: [read.step, write.step].into_iter().chain(wait).collect(),
        ..Blame::default()
    }
}

/// Executions that are asked, and steps that each of them may have.
const MOST: usize = 24;
const MOST_STEPS: usize = 5_000;

fn passing<'c>(case: &'c Case<'_>) -> impl Iterator<Item = &'c Record> {
    let passes = |other: &&Record| other.finding.kind == PASSED && other.steps.len() <= MOST_STEPS;
    case.knowledge.others().iter().filter(passes).take(MOST)
}

/// Another execution, and what is waited for there: a resource, or that a task is unparked.
struct There<'r> {
    record: &'r Record,
    resource: Option<u32>,
    task: Option<u32>,
}

impl<'r> There<'r> {
    fn of(case: &Case<'_>, record: &'r Record, keys: &[String], b: &BlockedRecord) -> There<'r> {
        let path = &case.record.tasks[b.task as usize].path;
        let task = record.tasks.iter().position(|task| task.path == *path).map(|at| at as u32);
        let key = b.resource.map(|resource| case.key(resource));
        // Channels that are made in one line, each for one answer, have no names of their own: it is the one that the same
        // task waits for in the same place.
        let own = awaited_at(case.record, b.task, case.record.place(b.place));
        let nth = own.iter().position(|resource| Some(*resource) == b.resource);
        let awaited = || Some(*awaited_at(record, task?, case.record.place(b.place)).get(nth?)?);
        let known = || keys.iter().position(|other| Some(other.as_str()) == key).map(|at| at as u32);
        let resource = awaited().or_else(known);
        // Of a park that waits for nothing else it is the task that is woken.
        let parks = b.operation == "park" && b.resource.is_none();
        let waits = matches!(b.operation.as_str(), "wait" | "recv" | AWAIT);
        There { record, resource: resource.filter(|_| waits), task: task.filter(|_| parks) }
    }

    /// The steps that end such a wait, or would.
    fn wakes(&self) -> impl Iterator<Item = (u32, &'r StepRecord)> {
        let (record, resource, task) = (self.record, self.resource, self.task);
        (0..).zip(&record.steps).filter(move |(_, step)| {
            let on_it = resource.is_some() && step.resource == resource;
            match record.operation(step) {
                "unpark" => task.is_some() && step.argument == task.map(u64::from),
                "notify_one" | "notify_all" | "send" | "try_send" => on_it,
                "use" => on_it && brings(record, step),
                _ => false,
            }
        })
    }
}

/// Whether a use of an object may bring what is waited for there. An end that is dropped, at the line that has made it,
/// brings nothing.
fn brings(record: &Record, step: &StepRecord) -> bool {
    let made = step.resource.and_then(|resource| record.resources[resource as usize].created_at);
    match act(record, step) {
        Some(Act::Sends | Act::Wakes | Act::WakesNobody) => true,
        Some(Act::Uses) => step.place != made,
        _ => false,
    }
}

/// What a task has waited for, or got, at a place, each once.
fn awaited_at(record: &Record, task: u32, place: Option<&Place>) -> Vec<u32> {
    let mut all = Vec::new();
    for step in record.steps.iter().filter(|step| step.task == task && record.place(step.place) == place) {
        let awaits = matches!(act(record, step), Some(Act::Awaits(_) | Act::Receives));
        all.extend(step.resource.filter(|resource| awaits && !all.contains(resource)));
    }
    all
}
