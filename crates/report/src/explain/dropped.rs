//! Futures that were dropped while they waited: by a timeout, or by a `select!` that another branch has won.
//!
//! Nothing is torn apart by another task then. But what the future had done before its wait stays done, and what was to
//! follow never comes.

use drawloom_engine::act::Act;

use super::accesses::Access;
use super::acts::act;
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::RaceWindow;

/// A wait that its task never came back to.
struct Dropped {
    task: u32,
    resource: u32,
    /// The step in which it began to wait.
    wait: u32,
    /// The one by which it is known that it is gone.
    gone: u32,
    /// The timer that fired for its task meanwhile.
    timer: Option<u32>,
}

/// The last future that the failing program has dropped before it failed, if what it had done may be the reason.
pub(super) fn dropped(case: &Case<'_>) -> Option<Blame> {
    let (dropped, done) = all(case).into_iter().rev().find_map(|dropped| {
        let done = left_behind(case, &dropped)?;
        Some((dropped, done))
    })?;
    let Dropped { task, resource, wait, gone, timer } = dropped;
    let who = case.names.quoted(task);
    let x = case.names.short(resource);
    let place = case.place_of(wait).map(|place| format!(" ({place})")).unwrap_or_default();
    let y = case.names.short(done.resource);
    let why =
        if timer.is_some() { "when its time was up: a timeout dropped it" } else { "when another branch was taken" };
    let sentence = format!(
        "Atomicity gap: task {who} dropped a future that waited for {x}{place}, {why}; what it had done to {y} before stays \
         done, and the rest never comes"
    );
    let mut blame = Blame {
        class: Some(Class::AtomicityGap),
        subkind: Some("dropped-future"),
        sentence,
        reasons: vec![format!(
            "the wait for {x} began in step {} and was never over; in step {} the future is gone",
            wait + 1,
            gone + 1
        )],
        window: Some(RaceWindow {
            from: done.step,
            to: Some(gone),
            task,
            resource: Some(done.resource),
            reason: format!("{} has changed {y}, and what belongs to it is still to come", case.names.path(task)),
        }),
        opens: Some(done.clone()),
        harm: timer,
        resources: vec![done.resource],
        steps: vec![done.step, wait, gone],
        ..Blame::default()
    };
    blame.resources.extend((resource != done.resource).then_some(resource));
    blame.steps.extend(timer);
    Some(blame)
}

/// What it had changed, or taken, before it waited, in the same function.
fn left_behind<'c>(case: &'c Case<'_>, dropped: &Dropped) -> Option<&'c Access> {
    let function = |step: u32| case.place_of(step).and_then(|place| Some((&place.file, case.sources.function(place)?)));
    let within = function(dropped.wait)?;
    let changed = |a: &&Access| a.task == dropped.task && a.step < dropped.wait && a.mode.writes();
    let done = case.accesses.all.iter().rfind(changed)?;
    // What was awaited in an earlier round of a loop is no part of this one.
    let again = case.place_of(done.step) == case.place_of(dropped.wait);
    (function(done.step)? == within && !again).then_some(done)
}

fn all(case: &Case<'_>) -> Vec<Dropped> {
    let record = case.record;
    let mut found = Vec::new();
    // By task and resource: the wait that is not over.
    let mut waits: Vec<(u32, u32, u32)> = Vec::new();
    for (i, step) in (0..case.end()).zip(&record.steps) {
        let (Some(act), Some(resource)) = (act(record, step), step.resource) else { continue };
        let known = waits.iter().position(|(task, on, _)| (*task, *on) == (step.task, resource));
        if let Some(at) = known {
            let (task, _, wait) = waits.remove(at);
            let elsewhere = record.steps[wait as usize].place != step.place;
            if act == Act::Abandons || elsewhere {
                let fires = |k: &u32| {
                    let step = &record.steps[*k as usize];
                    record.operation(step) == "timer" && step.argument == Some(u64::from(task))
                };
                found.push(Dropped { task, resource, wait, gone: i, timer: (wait..i).rev().find(fires) });
            }
        }
        if act.waits() {
            waits.push((step.task, resource, i));
        }
    }
    found
}
