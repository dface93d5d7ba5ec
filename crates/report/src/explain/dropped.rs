//! Futures that were dropped while they waited: by a timeout, by a `select!` that another branch has won, or because their
//! task was aborted.
//!
//! Nothing is torn apart by another task then. But what the future had done before its wait stays done, and what was to
//! follow never comes.

use drawloom_engine::act::Act;
use drawloom_engine::sorted::sort_by_key;

use super::accesses::Access;
use super::acts::act;
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::RaceWindow;
use crate::record::Place;

/// A wait that its task never came back to.
struct Dropped {
    task: u32,
    /// What it waited for; none if that was a time.
    resource: Option<u32>,
    /// The step in which it began to wait.
    wait: u32,
    /// The one by which it is known that it is gone.
    gone: u32,
    why: Why,
}

/// What has ended a wait.
#[derive(Clone, Copy)]
enum Why {
    /// A timer that fired for its task meanwhile.
    Timeout(u32),
    /// Another branch of a `select!`.
    Branch,
    /// A step of another task that aborts it.
    Aborted(u32),
}

impl Why {
    /// The step that does it, if that is known.
    fn step(self) -> Option<u32> {
        match self {
            Why::Timeout(step) | Why::Aborted(step) => Some(step),
            Why::Branch => None,
        }
    }
}

/// The last future that the failing program has dropped before it failed, if what it had done may be the reason.
pub(super) fn dropped(case: &Case<'_>) -> Option<Blame> {
    let mut all = all(case);
    all.extend(aborted(case));
    sort_by_key(&mut all, |dropped| dropped.gone);
    let (dropped, done) = all.into_iter().rev().find_map(|dropped| {
        let done = left_behind(case, &dropped)?;
        Some((dropped, done))
    })?;
    let Dropped { task, resource, wait, gone, why } = dropped;
    let who = case.names.quoted(task);
    let place = case.place_of(wait).map(|place| format!(" ({place})")).unwrap_or_default();
    let y = case.names.short(done.resource);
    let what = resource.map(|resource| format!(" for {}", case.names.short(resource))).unwrap_or_default();
    let happened = match why {
        Why::Timeout(_) => {
            format!("task {who} dropped a future that waited{what}{place}, when its time was up: a timeout dropped it")
        }
        Why::Branch => {
            format!("task {who} dropped a future that waited{what}{place}, when another branch was taken")
        }
        Why::Aborted(by) => {
            let by = case.names.quoted(case.record.steps[by as usize].task);
            format!("task {by} aborted task {who} while it waited{what}{place}")
        }
    };
    let sentence = format!("Atomicity gap: {happened}; its change of {y} remains, and the rest never happens");
    let mut blame = Blame {
        class: Some(Class::AtomicityGap),
        subkind: Some(if matches!(why, Why::Aborted(_)) { "aborted-task" } else { "dropped-future" }),
        sentence,
        reasons: vec![format!(
            "the wait{what} began in step {} and never ended; in step {} the future is dropped",
            wait + 1,
            gone + 1
        )],
        window: Some(RaceWindow {
            from: done.step,
            to: Some(gone),
            task,
            resource: Some(done.resource),
            reason: format!("{} has changed {y}, and the rest of the change is still to come", case.names.path(task)),
        }),
        opens: Some(done.clone()),
        harm: why.step(),
        resources: vec![done.resource],
        steps: vec![done.step, wait, gone],
        ..Blame::default()
    };
    blame.resources.extend(resource.filter(|resource| *resource != done.resource));
    blame.steps.extend(why.step());
    Some(blame)
}

/// What it had changed, or taken, before it waited, in the same function or in one that called that.
fn left_behind<'c>(case: &'c Case<'_>, dropped: &Dropped) -> Option<&'c Access> {
    let place = case.place_of(dropped.wait)?;
    let changed = |a: &&Access| a.task == dropped.task && a.step < dropped.wait && a.mode.writes();
    let done = case.accesses.all.iter().rfind(changed)?;
    let at = case.place_of(done.step)?;
    // What was awaited in an earlier round of a loop is no part of this one.
    let again = at == place;
    let within = at.file == place.file && calls(case, at, place, DEPTH);
    (within && !again).then_some(done)
}

/// Helpers of helpers in which the wait may be.
const DEPTH: u32 = 3;

/// Whether `place` is in the function around `from`, or in one that is called there further down.
fn calls(case: &Case<'_>, from: &Place, place: &Place, depth: u32) -> bool {
    let (Some(function), Some(around)) = (case.sources.function(from), case.sources.function(place)) else {
        return false;
    };
    if function == around {
        return true;
    }
    let callers = || case.sources.calls(&place.file, &around).into_iter();
    depth > 0 && callers().any(|call| from.line <= call.line && calls(case, from, &call, depth - 1))
}

/// Tasks that were aborted while they waited: who wakes one to abort it does so where that is asked for.
fn aborted(case: &Case<'_>) -> Vec<Dropped> {
    let record = case.record;
    let aborts = |i: &u32| {
        let step = &record.steps[*i as usize];
        let asked = || record.place(step.place).and_then(|place| case.sources.after(place));
        record.operation(step) == "unpark"
            && asked().is_some_and(|text| text.starts_with("abort") || text.starts_with("shutdown"))
    };
    let found = (0..case.end()).filter(aborts).filter_map(|by| {
        let task = u32::try_from(record.steps[by as usize].argument?).ok()?;
        let own = |i: &u32| record.steps[*i as usize].task == task;
        let ends = |i: &u32| own(i) && record.operation(&record.steps[*i as usize]) == "exit";
        let gone = (by..record.steps.len() as u32).find(ends)?;
        // Whoever did something afterwards was not stopped there.
        let goes_on = case.accesses.all.iter().any(|a| a.task == task && a.at > by);
        let wait = (0..by).rev().filter(own).find(|i| record.operation(&record.steps[*i as usize]) != "park")?;
        let waits = act(record, &record.steps[wait as usize]).is_some_and(Act::waits);
        let resource = record.steps[wait as usize].resource.filter(|_| waits);
        (!goes_on).then_some(Dropped { task, resource, wait, gone, why: Why::Aborted(by) })
    });
    found.collect()
}

fn all(case: &Case<'_>) -> Vec<Dropped> {
    let record = case.record;
    let mut found = Vec::new();
    // By task and resource: the wait that is not over, and the last two times that it was polled.
    let mut waits: Vec<(u32, u32, u32, [u32; 2])> = Vec::new();
    for (i, step) in (0..case.end()).zip(&record.steps) {
        let (Some(act), Some(resource)) = (act(record, step), step.resource) else { continue };
        let known = waits.iter().position(|(task, on, ..)| (*task, *on) == (step.task, resource));
        let known = known.map(|at| waits.remove(at));
        let elsewhere = |wait: u32| record.steps[wait as usize].place != step.place;
        match known {
            Some((task, _, wait, polled)) if act == Act::Abandons || elsewhere(wait) => {
                let fires = |k: &u32| {
                    let step = &record.steps[*k as usize];
                    record.operation(step) == "timer" && step.argument == Some(u64::from(task))
                };
                // Who is woken by a timer may look once more before it gives up.
                let why = (polled[0]..i).rev().find(fires).map_or(Why::Branch, Why::Timeout);
                found.push(Dropped { task, resource: Some(resource), wait, gone: i, why });
                waits.extend(act.waits().then_some((step.task, resource, i, [i; 2])));
            }
            Some((task, _, wait, polled)) if act.waits() => waits.push((task, resource, wait, [polled[1], i])),
            _ => waits.extend(act.waits().then_some((step.task, resource, i, [i; 2]))),
        }
    }
    found
}
