//! Notifications that did not reach the wait that they were meant for.

use drawloom_engine::act::Act;

use super::accesses::{Access, Mode};
use super::acts::act;
use super::awaits::{self, AWAIT};
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::RaceWindow;
use crate::record::BlockedRecord;

/// What became of the notification that one of those who wait for ever has missed, if there was one.
pub(super) fn lost(case: &Case<'_>, involved: &[&BlockedRecord]) -> Option<Blame> {
    let waits = last_waits(case, involved);
    let of_waits = |find: fn(&Case<'_>, &BlockedRecord, u32) -> Option<Blame>| {
        waits.iter().find_map(|(b, wait)| find(case, b, *wait))
    };
    of_waits(lost_wakeup)
        .or_else(|| of_waits(wiped_out))
        .or_else(|| of_waits(before_the_change))
        .or_else(|| of_waits(one_of_several))
        .or_else(|| involved.iter().find_map(|b| unheard(case, b)))
}

/// A step that notifies.
fn notifies(case: &Case<'_>, step: u32) -> bool {
    matches!(case.record.operation(&case.record.steps[step as usize]), "notify_one" | "notify_all")
}

/// A notification that nobody waited for came with a change, and the task took that back before it looked and waited.
fn wiped_out(case: &Case<'_>, b: &BlockedRecord, wait: u32) -> Option<Blame> {
    let record = case.record;
    let looked =
        case.accesses.all.iter().rfind(|a| a.task == b.task && a.step < wait && a.mode.reads() && !a.section)?;
    let in_vain = |i: &u32| {
        let step = &record.steps[*i as usize];
        step.resource == b.resource && step.task != b.task && notifies(case, *i) && record.outcome(step) == "refused"
    };
    let lost = (0..wait).rev().find(in_vain)?;
    let notifier = record.steps[lost as usize].task;
    let writes = |a: &&Access| a.resource == looked.resource && a.mode.writes() && !a.section;
    let told = case.accesses.all.iter().rfind(|a| writes(a) && a.task == notifier && a.at < lost)?;
    let own = || case.accesses.all.iter().filter(|a| a.task == b.task && a.resource == looked.resource);
    let wiped = own().find(|a| writes(a) && lost < a.at && a.at <= looked.at)?;
    // Who has looked before it changes something knows what it does.
    if wiped.mode.reads() || own().any(|a| a.mode.reads() && told.at < a.at && a.at < wiped.at) {
        return None;
    }
    let x = case.names.short(looked.resource);
    let (waiter, notifier) = (case.names.quoted(b.task), case.names.quoted(notifier));
    Some(Blame {
        class: Some(Class::LostWakeup),
        subkind: Some("wiped-out"),
        sentence: format!(
            "Lost wake-up: task {notifier} changed {x} and notified, task {waiter} changed {x} back before it waited, and \
             nobody notifies it again"
        ),
        reasons: vec![format!(
            "{x} was changed in step {}, the notification came in step {} when no task was waiting, step {} erased it, and \
             the wait began in step {}",
            told.step + 1,
            lost + 1,
            wiped.step + 1,
            wait + 1
        )],
        window: Some(RaceWindow {
            from: told.step,
            to: Some(wait),
            task: b.task,
            resource: Some(looked.resource),
            reason: format!("{} does not know that {x} was changed", case.names.path(b.task)),
        }),
        harm: Some(wiped.step),
        resources: vec![looked.resource],
        steps: vec![told.step, lost, wiped.step, wait],
        ..Blame::default()
    })
}

/// A task that notifies first, and only then changes what is waited for.
fn before_the_change(case: &Case<'_>, b: &BlockedRecord, wait: u32) -> Option<Blame> {
    let record = case.record;
    let mutex = b.argument.and_then(|m| u32::try_from(m).ok())?;
    let notified = |i: &u32| record.steps[*i as usize].resource == b.resource && notifies(case, *i);
    let early = (0..case.end()).rev().find(notified)?;
    let task = record.steps[early as usize].task;
    let changes = |a: &&Access| a.task == task && a.resource == mutex && a.section && a.mode == Mode::Update;
    let own = || case.accesses.all.iter().filter(changes);
    let change = own().find(|a| a.at > early && a.at > wait)?;
    // What it notifies of may have been changed before, after all.
    let last = (0..early).rev().filter(notified).find(|i| record.steps[*i as usize].task == task).unwrap_or(0);
    if task == b.task || own().any(|a| a.at < early && a.until > last) {
        return None;
    }
    let (waiter, notifier) = (case.names.quoted(b.task), case.names.quoted(task));
    let condvar = b.resource.map(|r| case.names.short(r)).unwrap_or_default();
    let x = case.names.short(mutex);
    Some(Blame {
        class: Some(Class::LostWakeup),
        subkind: Some("before-the-change"),
        sentence: format!(
            "Lost wake-up: task {notifier} notified {condvar} before it changed {x}, task {waiter} found {x} unchanged and \
             waits, and nobody notifies it again"
        ),
        reasons: vec![format!(
            "the notification came in step {}, the wait began in step {}, and {x} was changed in step {}",
            early + 1,
            wait + 1,
            change.step + 1
        )],
        window: Some(RaceWindow {
            from: early,
            to: Some(change.step),
            task,
            resource: Some(mutex),
            reason: format!("{condvar} has been notified, but {x} is not changed yet"),
        }),
        harm: Some(wait),
        resources: vec![mutex],
        steps: vec![early, wait, change.step],
        ..Blame::default()
    })
}

/// Those who wait for a notification, each with the step in which that began.
fn last_waits<'b>(case: &Case<'_>, involved: &[&'b BlockedRecord]) -> Vec<(&'b BlockedRecord, u32)> {
    let waits = involved.iter().filter(|b| b.operation == "wait");
    let began = |b: &&'b BlockedRecord| {
        let begins = |i: &u32| {
            let step = &case.record.steps[*i as usize];
            step.resource == b.resource && step.task == b.task
        };
        Some((*b, (0..case.record.steps.len() as u32).rev().find(begins)?))
    };
    waits.filter_map(began).collect()
}

/// A notification that came when nobody waited, and a wait that began afterwards.
fn lost_wakeup(case: &Case<'_>, b: &BlockedRecord, wait: u32) -> Option<Blame> {
    let record = case.record;
    let on_it = |i: &u32| record.steps[*i as usize].resource == b.resource;
    let in_vain = |i: &u32| {
        let step = &record.steps[*i as usize];
        matches!(record.operation(step), "notify_one" | "notify_all") && record.outcome(step) == "refused"
    };
    // What the decision to wait rests on: the last look at anything, within the round that ended in the wait.
    let mutex = b.argument.and_then(|m| u32::try_from(m).ok());
    let since = case
        .accesses
        .holds
        .iter()
        .filter(|bar| bar.task == b.task && bar.resource == mutex && bar.from < wait)
        .map(|bar| bar.from)
        .max();
    let own = || case.accesses.all.iter().filter(|a| a.task == b.task && a.step < wait);
    // It may have had the lock before, and given it back in between.
    let earlier =
        || own().rfind(|a| a.section && Some(a.resource) == mutex && since.is_some_and(|since| a.until < since));
    let looked = own().rfind(|a| a.mode.reads() && !a.section);
    let in_a_loop = waits_in_a_loop(case, wait);
    let looked = looked.or_else(|| earlier().filter(|a| a.mode == Mode::Read && !in_a_loop));
    let decided = match looked {
        Some(look) => look.step,
        None if in_a_loop => since.unwrap_or(0),
        // It waits without a look: a notification at any time before is lost.
        None => 0,
    };
    let lost = (decided..wait).rev().filter(on_it).find(in_vain)?;
    let (waiter, notifier) = (case.names.quoted(b.task), case.names.quoted(record.steps[lost as usize].task));
    let condvar = b.resource.map(|r| case.names.short(r).to_owned()).unwrap_or_default();
    let mut blame = Blame {
        class: Some(Class::LostWakeup),
        subkind: Some(if looked.is_some() { "between-check-and-wait" } else { "before-the-wait" }),
        sentence: format!(
            "Lost wake-up: task {notifier} notified {condvar} before task {waiter} waited for it, and nobody notifies it again"
        ),
        ..Blame::default()
    };
    blame.steps.extend([lost, wait]);
    blame.harm = Some(lost);
    if let Some(look) = looked {
        blame.resources.push(look.resource);
        blame.reasons.push(too_late(case, look, lost, wait));
        blame.window = Some(RaceWindow {
            from: look.step,
            to: Some(wait),
            task: b.task,
            resource: b.resource,
            reason: format!("{} has decided to wait but is not waiting yet", case.names.path(b.task)),
        });
        blame.opens = Some(look.clone());
    } else {
        if earlier().is_none() {
            blame.reasons.push(format!("task {waiter} waits without checking whether its event has already happened"));
        }
        blame.window = Some(RaceWindow {
            from: lost,
            to: Some(wait),
            task: b.task,
            resource: b.resource,
            reason: format!("the notification of {condvar} is gone, and the wait has not begun"),
        });
    }
    Some(blame)
}

/// Between the `look` of a task and its `wait` came the notification that is `lost`.
fn too_late(case: &Case<'_>, look: &Access, lost: u32, wait: u32) -> String {
    format!(
        "task {} looked at {} in step {}, the notification came in step {}, the wait began in step {}",
        case.names.quoted(look.task),
        case.names.short(look.resource),
        look.step + 1,
        lost + 1,
        wait + 1
    )
}

/// A notification that nobody was there to hear, and the wait of a future for it that began afterwards.
fn unheard(case: &Case<'_>, b: &BlockedRecord) -> Option<Blame> {
    let record = case.record;
    let (wait, resource) = awaits::awaited(case, b.task).filter(|_| b.operation == AWAIT)?;
    let in_vain = |i: &u32| {
        let step = &record.steps[*i as usize];
        step.resource == Some(resource) && step.task != b.task && act(record, step) == Some(Act::WakesNobody)
    };
    let lost = (0..wait).rev().find(in_vain)?;
    let (waiter, notifier) = (case.names.quoted(b.task), case.names.quoted(record.steps[lost as usize].task));
    let name = case.names.short(resource).to_owned();
    let before = |a: &&Access| a.task == b.task && a.at < lost && a.mode.reads() && a.resource != resource;
    let looked = case.accesses.all.iter().rfind(before);
    let mut blame = Blame {
        class: Some(Class::LostWakeup),
        subkind: Some(if looked.is_some() { "between-check-and-wait" } else { "before-the-wait" }),
        sentence: format!(
            "Lost wake-up: task {notifier} notified {name} before task {waiter} waited for it, and nobody notifies it again"
        ),
        harm: Some(lost),
        steps: vec![lost, wait],
        window: Some(RaceWindow {
            from: looked.map_or(lost, |look| look.step),
            to: Some(wait),
            task: b.task,
            resource: Some(resource),
            reason: format!("the notification of {name} is gone, and the wait has not begun"),
        }),
        ..Blame::default()
    };
    if let Some(look) = looked {
        blame.resources.push(look.resource);
        blame.opens = Some(look.clone());
        blame.reasons.push(too_late(case, look, lost, wait));
    }
    Some(blame)
}

/// A notification that woke somebody else, of several who waited.
fn one_of_several(case: &Case<'_>, b: &BlockedRecord, wait: u32) -> Option<Blame> {
    let record = case.record;
    let on_it = |i: &u32| record.steps[*i as usize].resource == b.resource;
    let wakes = |i: &u32| {
        let step = &record.steps[*i as usize];
        record.operation(step) == "notify_one" && record.outcome(step) != "refused"
    };
    let notified = (wait..case.end()).rev().filter(on_it).find(wakes)?;
    let woken = record.steps.iter().find(|step| step.after == Some(notified))?.task;
    let names = &case.names;
    // Who was woken and waits again had no use for it.
    let again = |i: &u32| {
        let step = &record.steps[*i as usize];
        (step.task, step.resource) == (woken, b.resource) && record.operation(step) == "wait"
    };
    let waits_again = (notified + 1..record.steps.len() as u32).find(again);
    let (waiter, woken) = (names.quoted(b.task), names.quoted(woken));
    let notifier = names.quoted(record.steps[notified as usize].task);
    let condvar = b.resource.map(|r| names.short(r)).unwrap_or_default();
    let mut blame = Blame {
        class: Some(Class::LostWakeup),
        subkind: Some("one-of-several"),
        sentence: match waits_again {
            Some(_) => format!(
                "Lost wake-up: the notification of {condvar} by task {notifier} woke task {woken}, which had no use for \
                 it and waits again, and not task {waiter}"
            ),
            None => format!(
                "Lost wake-up: task {notifier} woke one of the tasks that wait for {condvar}: task {woken}, not task {waiter}, and nobody notifies it again"
            ),
        },
        ..Blame::default()
    };
    if waits_again.is_some() {
        blame.subkind = Some("wrong-waiter");
    }
    blame.steps.extend(waits_again);
    blame.reasons.push(format!(
        "task {waiter} waits since step {}, and the notification in step {} wakes only one task",
        wait + 1,
        notified + 1
    ));
    blame.steps.extend([wait, notified]);
    blame.harm = Some(notified);
    Some(blame)
}

/// Whether the source looks at a condition right before it waits.
pub(super) fn waits_in_a_loop(case: &Case<'_>, wait: u32) -> bool {
    let Some(place) = case.place_of(wait) else { return false };
    let lines = (place.line.saturating_sub(3)..=place.line).filter_map(|n| case.sources.raw(&place.file, n));
    lines.into_iter().any(|line| line.contains("while ") || line.contains("wait_while"))
}
