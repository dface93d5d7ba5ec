//! Tasks that wait for ever: for each other, for a notification that has come already, or for nothing at all.

use std::collections::HashMap;
use std::fmt::Write as _;

use drawloom_engine::act::Act;

use super::accesses::Access;
use super::acts::act;
use super::awaits::{self, AWAIT};
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::{RaceWindow, Stack, Taken};
use crate::record::{BLOCKED, BlockedRecord};
use crate::terminal::operation::{describe, waits_for};

/// Why nobody goes on.
pub(super) fn blocked(case: &Case<'_>, all: &[BlockedRecord], cycle: &[u32]) -> Blame {
    let all: Vec<BlockedRecord> = all.iter().map(|b| awaits::resolved(case, b)).collect();
    let found = if cycle.is_empty() { awaits::cycle(case, &all) } else { Vec::new() };
    let cycle = if found.is_empty() { cycle } else { &found };
    let involved: Vec<&BlockedRecord> = match cycle.is_empty() {
        false => {
            let waits: HashMap<u32, &BlockedRecord> = all.iter().rev().map(|b| (b.task, b)).collect();
            cycle.iter().filter_map(|task| waits.get(task).copied()).collect()
        }
        // Who waits for a task to end is stuck only because that one is.
        true => {
            let causes: Vec<_> = all.iter().filter(|b| b.operation != "join").collect();
            if causes.is_empty() { all.iter().collect() } else { causes }
        }
    };
    let waits = last_waits(case, &involved);
    let lost = || waits.iter().find_map(|(b, wait)| lost_wakeup(case, b, *wait));
    let for_another = || waits.iter().find_map(|(b, wait)| one_of_several(case, b, *wait));
    let unheard = || involved.iter().find_map(|b| unheard(case, b));
    let mut blame = match lost().or_else(for_another).or_else(unheard) {
        Some(blame) => blame,
        None if case.record.finding.kind == "deadlock" || !cycle.is_empty() => deadlock(case, &involved, cycle),
        None => starvation(case, &involved),
    };
    tell_panics(case, &mut blame);
    blame.stacks = involved.iter().take(MOST_TOLD).map(|b| stack(case, b)).collect();
    blame.resources.extend(involved.iter().filter_map(|b| b.resource));
    for stack in &blame.stacks {
        blame.steps.extend(stack.held.iter().filter_map(|taken| taken.step));
        blame.steps.extend(stack.wanted.step);
    }
    blame
}

/// Tasks that are told of one by one.
const MOST_TOLD: usize = 64;

/// Tasks that have panicked may have owed what is waited for, even if their panics were looked after.
fn tell_panics(case: &Case<'_>, blame: &mut Blame) {
    let panicked = case.record.tasks.iter().zip(0..).filter_map(|(task, i)| Some((i, task.panic.as_deref()?)));
    let all: Vec<String> = panicked
        .map(|(task, message)| format!("task {} had panicked with `{message}`", case.names.quoted(task)))
        .collect();
    if !all.is_empty() {
        let _ = write!(blame.sentence, "; before that {}", all.join(", and "));
        blame.reasons.push("what a task holds or owes when it panics, nobody gives back or brings about".to_owned());
    }
}

fn deadlock(case: &Case<'_>, involved: &[&BlockedRecord], cycle: &[u32]) -> Blame {
    let names = &case.names;
    let (involved, others) = involved.split_at(involved.len().min(MOST_TOLD));
    let part = |b: &&BlockedRecord| {
        let wants = wanted(case, b);
        // Of all that it holds, what matters is what another one of them waits for.
        let holds: Vec<&str> = held(case, b.task)
            .into_iter()
            .filter(|(lock, _)| involved.iter().any(|other| other.resource == Some(*lock)))
            .map(|(lock, _)| names.short(lock))
            .collect();
        match holds.as_slice() {
            [] => format!("task {} waits for {wants}", names.quoted(b.task)),
            holds => format!("task {} holds {} and waits for {wants}", names.quoted(b.task), holds.join(", ")),
        }
    };
    let mut parts: Vec<String> = involved.iter().map(part).collect();
    parts.extend((!others.is_empty()).then(|| format!("{} more tasks wait as well", others.len())));
    let sentence = match (cycle.len(), parts.as_slice()) {
        (1, _) if !involved.is_empty() => format!(
            "Deadlock: task {} waits for {}, which it holds itself",
            names.quoted(cycle[0]),
            wanted(case, involved[0])
        ),
        (_, [first @ .., last]) if !first.is_empty() => format!("Deadlock: {}, and {last}", first.join(", ")),
        _ => format!("Deadlock: {}", parts.join(", ")),
    };
    let subkind = match cycle.len() {
        0 => "chain",
        1 => "self",
        _ => "cycle",
    };
    let mut blame = Blame { class: Some(Class::Deadlock), subkind: Some(subkind), sentence, ..Blame::default() };
    if cycle.len() > 1 {
        let order = |b: &&BlockedRecord| {
            let held: Vec<&str> = held(case, b.task).into_iter().map(|(lock, _)| names.short(lock)).collect();
            let wanted = b.resource.map(|r| names.short(r))?;
            (!held.is_empty()).then(|| format!("{} takes {} and then {wanted}", names.path(b.task), held.join(", ")))
        };
        let orders: Vec<String> = involved.iter().filter_map(order).collect();
        match orders.as_slice() {
            // One of them waits for something else: that another one ends, say.
            [] | [_] => blame.subkind = Some("circular-wait"),
            orders => blame.reasons.push(format!("the locks are taken in different orders: {}", orders.join("; "))),
        }
    }
    blame
}

fn starvation(case: &Case<'_>, involved: &[&BlockedRecord]) -> Blame {
    let mut blame = Blame { class: Some(Class::Starvation), ..Blame::default() };
    let Some(first) = involved.first() else {
        blame.sentence = "Starvation: nobody brings about what is waited for".to_owned();
        return blame;
    };
    let who = case.names.quoted(first.task);
    let what = waits_text(case, first);
    let why = why_nobody(case, first);
    blame.subkind = Some(match first.operation.as_str() {
        "recv" | "send" => "channel",
        "lock" | "read" | "write" => "never-released",
        "wait" => "never-notified",
        "spin_until" => "never-written",
        _ => "unbounded-wait",
    });
    blame.sentence = format!("Starvation: task {who} {what}{why}");
    if involved.len() > 1 {
        blame.reasons.push(format!("{} tasks are stuck like that", involved.len()));
    }
    blame
}

/// ` that nobody will send: …`
fn why_nobody(case: &Case<'_>, b: &BlockedRecord) -> String {
    let names = &case.names;
    let finished = |task: u32| case.record.tasks.get(task as usize).is_some_and(|t| t.finished);
    let on_it = |words: &[&str]| {
        let made =
            case.record.steps.iter().filter(|s| s.resource == b.resource && words.contains(&case.record.operation(s)));
        made.map(|s| s.task).next_back()
    };
    match b.operation.as_str() {
        // It would have ended with an error, if no sender were left.
        "recv" => " that nobody sends, and the channel is never closed: a sender is still alive".to_owned(),
        "send" => ", and nobody receives".to_owned(),
        "lock" | "read" | "write" => match b.blockers.first() {
            Some(blocker) if finished(blocker.task) => {
                format!(", which task {} took and never gave back: it has finished", names.quoted(blocker.task))
            }
            _ if b.argument.is_some() => ", which lets others in first, again and again".to_owned(),
            _ => ", which is never given back".to_owned(),
        },
        "wait" => match on_it(&["notify_one", "notify_all"]) {
            Some(task) => {
                format!(", and nobody will notify it again: task {} was the last to do so", names.quoted(task))
            }
            None => ", and nobody notifies it".to_owned(),
        },
        "spin_until" => match on_it(&["store", "read-modify-write", "compare-exchange"]) {
            Some(task) => {
                format!(", and nobody will write to it again: task {} was the last to do so", names.quoted(task))
            }
            None => ", and nobody writes to it".to_owned(),
        },
        AWAIT => match b.resource.and_then(|r| awaits::holder(case, r)) {
            Some(task) => format!(", which task {} has and never gives back", names.quoted(task)),
            None => match on_it(&["use"]).filter(|task| *task != b.task) {
                Some(task) => {
                    format!(
                        ", and nobody will end that: task {} was the last of the others to use it",
                        names.quoted(task)
                    )
                }
                None => ", and nobody is left to end that".to_owned(),
            },
        },
        "park" if b.argument.is_some() => {
            ", and nobody is left to wake it: the wake-up was lost, or never due".to_owned()
        }
        "park" => ", and nobody is left to unpark it".to_owned(),
        _ => ", and nobody is left to end that".to_owned(),
    }
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
    let before = |a: &&Access| a.task == b.task && a.step < wait && a.mode.reads() && !a.section;
    let looked = case.accesses.all.iter().rfind(before);
    let decided = match looked {
        Some(look) => look.step,
        None if waits_in_a_loop(case, wait) => since.unwrap_or(0),
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
        blame.reasons.push(format!(
            "task {waiter} looked at {} in step {}, the notification came in step {}, the wait began in step {}",
            case.names.short(look.resource),
            look.step + 1,
            lost + 1,
            wait + 1
        ));
        blame.window = Some(RaceWindow {
            from: look.step,
            to: Some(wait),
            task: b.task,
            resource: b.resource,
            reason: format!("{} has decided to wait, and does not wait yet", case.names.path(b.task)),
        });
        blame.opens = Some(look.clone());
    } else {
        blame.reasons.push(format!("task {waiter} waits without looking whether what it waits for has come already"));
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
        blame.reasons.push(format!(
            "task {waiter} looked at {} in step {}, the notification came in step {}, the wait began in step {}",
            case.names.short(look.resource),
            look.step + 1,
            lost + 1,
            wait + 1
        ));
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
                "Lost wake-up: task {notifier} woke one of those who wait for {condvar}, which was task {woken} and not \
                 task {waiter}, and nobody notifies it again"
            ),
        },
        ..Blame::default()
    };
    if waits_again.is_some() {
        blame.subkind = Some("wrong-waiter");
    }
    blame.steps.extend(waits_again);
    blame.reasons.push(format!(
        "task {waiter} waits since step {}, and the notification in step {} is for one alone",
        wait + 1,
        notified + 1
    ));
    blame.steps.extend([wait, notified]);
    blame.harm = Some(notified);
    Some(blame)
}

/// Whether the source looks at a condition right before it waits.
fn waits_in_a_loop(case: &Case<'_>, wait: u32) -> bool {
    let Some(place) = case.place_of(wait) else { return false };
    let lines = (place.line.saturating_sub(3)..=place.line).filter_map(|n| case.sources.raw(&place.file, n));
    lines.into_iter().any(|line| line.contains("while ") || line.contains("wait_while"))
}

/// What the task holds, with the steps that asked for it, in the order of taking.
pub(super) fn held(case: &Case<'_>, task: u32) -> Vec<(u32, u32)> {
    let end = case.end();
    let mut bars: Vec<_> = case.accesses.holds.iter().enumerate().collect();
    bars.retain(|(_, bar)| bar.task == task && bar.from < end && bar.to >= end);
    bars.sort_by_key(|(_, bar)| bar.from);
    bars.iter().filter_map(|(at, bar)| Some((bar.resource?, case.accesses.request(*at)))).collect()
}

fn wanted(case: &Case<'_>, b: &BlockedRecord) -> String {
    match (b.operation.as_str(), b.resource) {
        ("join", _) => match case.names.target(b.argument) {
            Some(task) => format!("task {} to finish", case.names.quoted(task)),
            None => "a task to finish".to_owned(),
        },
        ("recv", Some(r)) => format!("a message in {}", case.names.short(r)),
        ("spin_until", Some(r)) => format!("another value of {}", case.names.short(r)),
        ("send", Some(r)) => format!("room in {}", case.names.short(r)),
        (AWAIT, Some(r)) => awaits::wanted(case, r),
        (_, Some(r)) => case.names.short(r).to_owned(),
        (_, None) => waits_for(case.record, &case.names, &b.operation, None, b.argument),
    }
}

fn stack(case: &Case<'_>, b: &BlockedRecord) -> Stack {
    let record = case.record;
    let taken = |step: u32| {
        let place = case.place_of(step).cloned();
        Taken {
            text: describe(record, &case.names, &record.steps[step as usize]),
            step: Some(step),
            source: place.as_ref().and_then(|place| case.sources.line(place)),
            place,
        }
    };
    let last = (0..case.end()).rev().find(|i| record.steps[*i as usize].task == b.task);
    if let Some((step, _)) = awaits::awaited(case, b.task).filter(|_| b.operation == AWAIT) {
        let held = held(case, b.task).into_iter().map(|(_, step)| taken(step)).collect();
        return Stack { task: b.task, held, wanted: Taken { text: wanted_text(case, b), ..taken(step) } };
    }
    let is_wait = |i: &u32| record.outcome(&record.steps[*i as usize]) == BLOCKED;
    let wanted = match last.filter(is_wait) {
        Some(step) => Taken { text: wanted_text(case, b), ..taken(step) },
        None => {
            let place = record.place(b.place).cloned();
            let source = place.as_ref().and_then(|place| case.sources.line(place));
            Taken { text: wanted_text(case, b), step: None, place, source }
        }
    };
    Stack { task: b.task, held: held(case, b.task).into_iter().map(|(_, step)| taken(step)).collect(), wanted }
}

fn wanted_text(case: &Case<'_>, b: &BlockedRecord) -> String {
    waits_text(case, b)
}

/// `waits for …`
fn waits_text(case: &Case<'_>, b: &BlockedRecord) -> String {
    match (b.operation.as_str(), b.resource) {
        (AWAIT, Some(r)) => format!("waits for {}", awaits::wanted(case, r)),
        _ => waits_for(case.record, &case.names, &b.operation, b.resource, b.argument),
    }
}
