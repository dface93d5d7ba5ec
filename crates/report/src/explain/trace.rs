//! The steps that matter, as lines: a slice of the execution, with its source, its switches and its window.
//!
//! What matters are the accesses to what the failure is about, the locks around them, and where a task was in
//! the end. Far from the window only the last few are kept: how the state came to be what it was.

use drawloom_engine::sorted::Set;

use drawloom_engine::act::Act;

use super::accesses::Access;
use super::acts::act;
use super::case::{Blame, Case};
use super::explanation::{Effect, Item, Line, Mark};
use super::flow::Flow;
use super::witness::witnesses;
use crate::processes;
use crate::record::{BLOCKED, Details, Place};
use crate::terminal::fold::{self, fold};
use crate::terminal::operation::{shown, words};
use crate::terminal::reason::{endings, reason};

/// Accesses before the window that are shown.
const BEFORE: usize = 4;
/// Accesses inside the window, or behind it, that are shown.
const INSIDE: usize = 14;
/// Accesses to other things inside the window that are shown.
const FEW: usize = 8;

/// The trace of what `blame` is about.
pub(super) fn trace(case: &Case<'_>, blame: &Blame) -> Vec<Item> {
    let steps = slice(case, blame);
    let mut items: Vec<Item> = Vec::new();
    let mut next = 0;
    for group in groups(case, blame, &steps) {
        match group {
            Group::Steps(steps) => {
                let (first, last) = (steps[0], steps[steps.len() - 1]);
                let left_out = (next..first).filter(|i| counts(case, *i)).count() as u64;
                if left_out > 0 {
                    items.push(Item::Folded { steps: left_out });
                }
                next = last + 1;
                items.push(Item::Line(line(case, blame, &steps)));
            }
            Group::Again { lines, times, last } => {
                next = last + 1;
                items.push(Item::Again { lines, times });
            }
        }
    }
    let rest = (next..case.end()).filter(|i| counts(case, *i)).count() as u64;
    if rest > 0 {
        items.push(Item::Folded { steps: rest });
    }
    tell_switches(case, &mut items);
    let last = items.iter().rev().find_map(|item| match item {
        Item::Line(line) => Some(line.clone()),
        Item::Folded { .. } | Item::Again { .. } => None,
    });
    items.extend(ending(case, blame, last.as_ref()));
    items
}

/// Beginnings and ends of tasks, spawns and joins are not missed by anybody.
fn counts(case: &Case<'_>, step: u32) -> bool {
    !matches!(case.operation(step), "start" | "exit" | "spawn" | "join")
}

/// The steps to show, in order.
fn slice(case: &Case<'_>, blame: &Blame) -> Vec<u32> {
    let end = case.end();
    let mut shown: Set<u32> = blame.steps.iter().copied().filter(|i| *i < end).collect();
    let marked: Vec<&Access> = blame.opens.iter().chain(&blame.intrudes).chain(&blame.closes).collect();
    for access in &marked {
        shown.insert(access.step);
    }
    shown.retain(|i| *i < end);
    let about = |a: &&Access| blame.resources.contains(&a.resource) && a.step < end;
    let all: Vec<&Access> = case.accesses.all.iter().filter(about).collect();
    let opens = blame.window.as_ref().map(|w| w.from).or(blame.opens.as_ref().map(|a| a.step));
    let from = opens.unwrap_or(end);
    // How it came to be what it was: the last write before, and a few more.
    let before: Vec<&&Access> = all.iter().filter(|a| a.step < from).collect();
    shown.extend(before.iter().rev().take(BEFORE).map(|a| a.step));
    let inside: Vec<&&Access> = all.iter().filter(|a| a.step >= from).collect();
    match inside.len() <= INSIDE {
        true => shown.extend(inside.iter().map(|a| a.step)),
        false => {
            shown.extend(inside[..INSIDE / 2].iter().map(|a| a.step));
            shown.extend(inside[inside.len() - INSIDE / 2..].iter().map(|a| a.step));
        }
    }
    shown.extend(wakes(case, blame));
    shown.extend(around(case, blame));
    // What happened to a channel or a condition variable has no accesses, only steps.
    let touches = |i: &u32| {
        let step = &case.whole.steps[*i as usize];
        let parts = case.whole.parts(step).into_iter().map(|(part, _)| part);
        step.resource.into_iter().chain(parts).any(|r| blame.resources.contains(&r))
    };
    let silent =
        |i: &u32| !case.accesses.all.iter().any(|a| Some(a.resource) == case.whole.steps[*i as usize].resource);
    if blame.window.is_none() {
        shown.extend((0..end).rev().filter(touches).take(2 * INSIDE).filter(silent).take(INSIDE / 2));
    }
    // The locks around what is shown, and the unlock that ends a section.
    let visible: Vec<&Access> = all.iter().copied().filter(|a| shown.contains(&a.step)).collect();
    for access in visible {
        for (at, bar) in case.accesses.holds.iter().enumerate().filter(|(_, bar)| bar.task == access.task) {
            let around = if access.section {
                bar.resource == Some(access.resource) && bar.from == access.at
            } else {
                bar.from < access.step && access.step < bar.to && bar.to - bar.from < 64
            };
            if around {
                shown.insert(case.accesses.request(at));
                shown.extend((bar.to < end).then_some(bar.to));
            }
        }
    }
    shown.retain(|i| *i < end);
    shown.into_iter().collect()
}

/// What else the tasks of the window do inside it to what they share, if that is not too much to read. What nothing
/// rests on is left out.
fn around(case: &Case<'_>, blame: &Blame) -> Vec<u32> {
    let (Some(window), Some(harm)) = (&blame.window, blame.intrudes.last()) else { return Vec::new() };
    let tasks = [window.task, harm.task];
    let to = window.to.unwrap_or(case.end());
    let is_shared = |access: &Access| {
        let on_it = || case.accesses.all.iter().filter(|a| a.resource == access.resource && tasks.contains(&a.task));
        on_it().any(|a| a.task != access.task) && on_it().any(|a| a.mode.writes())
    };
    let flow = Flow::of(case);
    let witnesses = witnesses(case, &flow, &case.telling());
    let inside = |a: &&Access| window.from < a.step && a.step < to && tasks.contains(&a.task);
    let more: Vec<&Access> = case.accesses.all.iter().filter(inside).filter(|a| is_shared(a)).collect();
    let matters = |a: &&&Access| !witnesses.contains(&a.resource);
    let more: Vec<u32> = more.iter().filter(matters).map(|a| a.step).collect();
    if more.len() <= FEW { more } else { Vec::new() }
}

/// What let the window's task go on before the window: the last wait that another task ended by a message or a
/// notification.
fn wakes(case: &Case<'_>, blame: &Blame) -> Vec<u32> {
    let Some(window) = &blame.window else { return Vec::new() };
    let own = (0..window.from).rev().filter(|i| case.whole.steps[*i as usize].task == window.task);
    let ended = own.take(8).find_map(|i| Some((i, case.accesses.waits[i as usize].ended_by?)));
    match ended {
        Some((wait, by)) if effect(case, by) == Effect::Wake => vec![wait, by],
        _ => Vec::new(),
    }
}

enum Group {
    Steps(Vec<u32>),
    Again { lines: usize, times: u64, last: u32 },
}

/// Steps of one task at one place become one line; rounds that repeat themselves are told once.
fn groups(case: &Case<'_>, blame: &Blame, steps: &[u32]) -> Vec<Group> {
    let marked = |i: &u32| mark(blame, *i).is_some();
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    for item in fold(case.whole, steps) {
        match item {
            fold::Item::Step(i) => {
                at += 1;
                let step = &case.whole.steps[i as usize];
                if let Some(Group::Steps(last)) = groups.last_mut() {
                    let before = last[last.len() - 1];
                    let previous = &case.whole.steps[before as usize];
                    let adjacent = (before + 1..i).all(|k| case.whole.steps[k as usize].task == step.task);
                    // Two marks on one line could not be told apart.
                    let both = last.iter().any(marked) && marked(&i) && mark(blame, i) != Some(Mark::Closes);
                    let waits = case.whole.outcome(step) == BLOCKED;
                    if (previous.task, previous.place) == (step.task, step.place) && adjacent && !both && !waits {
                        last.push(i);
                        continue;
                    }
                }
                groups.push(Group::Steps(vec![i]));
            }
            fold::Item::Again { length, times } => {
                let lines = lines_of(&groups, length);
                let last = steps[at + length * times - 1];
                at += length * times;
                groups.push(Group::Again { lines, times: times as u64, last });
            }
        }
    }
    groups
}

/// How many of the last groups make up `steps` steps.
fn lines_of(groups: &[Group], steps: usize) -> usize {
    let mut left = steps;
    let mut lines = 0;
    for group in groups.iter().rev() {
        let Group::Steps(all) = group else { break };
        if left == 0 {
            break;
        }
        left = left.saturating_sub(all.len());
        lines += 1;
    }
    lines
}

fn line(case: &Case<'_>, blame: &Blame, steps: &[u32]) -> Line {
    let first = &case.whole.steps[steps[0] as usize];
    let blamed = blame.opens.iter().chain(&blame.intrudes).chain(&blame.closes).find(|a| a.step == steps[0]);
    let place = match blamed {
        Some(access) => case.accessed_at(access),
        None => case.shown_at(steps[0]),
    };
    let for_ever = |i: &u32| case.record.outcome(&case.whole.steps[*i as usize]) == BLOCKED;
    let fails = steps.iter().any(for_ever).then_some(Mark::Fails);
    let mark = steps.iter().find_map(|i| mark(blame, *i)).or(fails);
    Line {
        step: Some(steps[0]),
        last: steps.last().copied(),
        task: first.task,
        text: text(case, steps),
        effect: steps.iter().map(|i| effect(case, *i)).max_by_key(|e| weight(*e)).unwrap_or(Effect::Other),
        source: place.as_ref().and_then(|place| case.sources.line(place)),
        place,
        switch: None,
        mark,
    }
}

fn mark(blame: &Blame, step: u32) -> Option<Mark> {
    let is = |access: &Access| access.step == step;
    match () {
        () if blame.opens.as_ref().is_some_and(is) => Some(Mark::Opens),
        () if blame.closes.as_ref().is_some_and(is) => Some(Mark::Closes),
        () if blame.intrudes.iter().any(is) || blame.harm == Some(step) => Some(Mark::Intrudes),
        () if blame.window.as_ref().is_some_and(|w| w.from == step) => Some(Mark::Opens),
        () if blame.window.as_ref().is_some_and(|w| w.to == Some(step)) => Some(Mark::Closes),
        () => None,
    }
}

/// What the steps do, in few words: `reads `balance`: 100`, `locks and unlocks `account``.
fn text(case: &Case<'_>, steps: &[u32]) -> String {
    // That an event has a lock inside is nothing to who uses it.
    let seen: Vec<u32> = steps.iter().copied().filter(|i| !is_inside(case, *i)).collect();
    if seen.is_empty() {
        let resource = case.whole.steps[steps[0] as usize].resource;
        return format!("uses {}", resource.map(|r| case.names.short(r)).unwrap_or_default());
    }
    let mut parts: Vec<String> = seen.iter().map(|i| verb(case, *i)).collect();
    if seen.len() < steps.len() {
        parts.dedup();
    }
    // "locks `a`, unlocks `a`" is said at once.
    match parts.as_slice() {
        [lock, unlock] if lock.strip_prefix("locks ").is_some_and(|a| unlock == &format!("unlocks {a}")) => {
            format!("locks and unlocks {}", &lock["locks ".len()..])
        }
        parts => parts.join(", then "),
    }
}

/// Whether a step takes or gives back the lock inside of an event, a queue or the like.
fn is_inside(case: &Case<'_>, i: u32) -> bool {
    let step = &case.whole.steps[i as usize];
    let name = step.resource.and_then(|r| case.whole.resources[r as usize].name.as_deref());
    let inside = name.is_some_and(|name| case.whole.meta.language.made_of_locks(name).is_some());
    inside && matches!(case.whole.operation(step), "lock" | "unlock") && case.whole.outcome(step) != BLOCKED
}

/// What a step does: `locks `a``.
pub(super) fn verb(case: &Case<'_>, i: u32) -> String {
    let step = &case.whole.steps[i as usize];
    if let Some((verb, object, told)) = processes::words(case.whole, &case.names, step) {
        let told = if told.is_empty() { told } else { format!(": {told}") };
        return format!("{verb} {object}").trim().to_owned() + &told;
    }
    let name = case.subject(i);
    let value = step.value.map(shown).unwrap_or_default();
    let left = step.argument.map(shown).unwrap_or_default();
    let refused = case.whole.outcome(step) == "refused";
    let outcome = match case.whole.outcome(step) {
        "ok" => String::new(),
        other => format!(", {other}"),
    };
    match case.whole.operation(step) {
        "load" | "spin_until" => format!("reads {name}: {value}"),
        "store" => format!("writes {name}: {value}"),
        "read-modify-write" => format!("changes {name}: {value} → {left}"),
        "compare-exchange" if refused => format!("finds {name} changed: {value}"),
        "compare-exchange" => format!("exchanges {name}: {value} → {left}"),
        "look" => format!("looks at {name}"),
        "use" => match act(case.whole, step).unwrap_or(Act::Uses) {
            Act::Uses => format!("uses {name}"),
            Act::Locks => format!("locks {name}"),
            Act::LocksShared => format!("locks {name} to read"),
            Act::Unlocks => format!("unlocks {name}"),
            Act::Acquires => format!("takes a permit of {name}"),
            Act::Releases => format!("gives a permit of {name}"),
            Act::Awaits(_) => format!("waits for {name}"),
            Act::Wakes => format!("notifies {name}"),
            Act::WakesNobody => format!("notifies {name}: nobody waits"),
            Act::Sends => format!("sends to {name}"),
            Act::Receives => format!("receives from {name}"),
            Act::Abandons => format!("is dropped while it waits for {name}"),
        },
        "choose" if case.is_spurious(i) => "wakes up without a notification".to_owned(),
        "lock" | "try_lock" if case.whole.is_event_loop(step.resource) => format!("takes {name}{outcome}"),
        "unlock" if case.whole.is_event_loop(step.resource) => format!("gives back {name}"),
        "read cell" | "read parts" | "read several" => format!("reads {name}"),
        "write cell" | "write parts" | "write several" => format!("writes {name}"),
        "lock" => format!("locks {name}{outcome}"),
        "read" => format!("locks {name} to read{outcome}"),
        "write" => format!("locks {name} to write{outcome}"),
        "unlock" | "unlock read" | "unlock write" => format!("unlocks {name}"),
        "notify_one" | "notify_all" if refused => format!("notifies {name}: nobody waits"),
        "notify_one" | "notify_all" => format!("notifies {name}{}", woken(case, i)),
        "wait" => format!("waits for {name}{outcome}"),
        "yield" => "yields".to_owned(),
        "recv" | "try_recv" if !outcome.is_empty() => format!("receives from {name}{outcome}"),
        "recv" | "try_recv" => format!("receives message #{} from {name}", step.value.unwrap_or(0).saturating_add(1)),
        "send" | "try_send" if !outcome.is_empty() => format!("sends to {name}{outcome}"),
        "send" | "try_send" => format!("sends message #{} to {name}", step.value.unwrap_or(0).saturating_add(1)),
        "drop sender" => format!("drops a sender of {name}"),
        "drop receiver" => format!("drops the receiver of {name}"),
        "park" => "parks".to_owned(),
        _ => {
            let words = words(case.whole, &case.names, step);
            let told = if words.told.is_empty() { String::new() } else { format!(", {}", words.told) };
            format!("{} {}{told}", words.verb, words.object).trim().to_owned()
        }
    }
}

/// `, wakes 0.2`: who goes on because of the notification that is step `i`.
fn woken(case: &Case<'_>, i: u32) -> String {
    const SHOWN: usize = 3;
    let mut tasks: Vec<u32> =
        case.whole.steps[i as usize..].iter().filter(|step| step.after == Some(i)).map(|step| step.task).collect();
    tasks.dedup();
    let shown: Vec<&str> = tasks.iter().take(SHOWN).map(|task| case.names.path(*task)).collect();
    match tasks.len() {
        0 => String::new(),
        all if all > SHOWN => format!(", wakes {} and {} more", shown.join(", "), all - SHOWN),
        _ => format!(", wakes {}", shown.join(", ")),
    }
}

fn effect(case: &Case<'_>, i: u32) -> Effect {
    let step = &case.whole.steps[i as usize];
    if let Some(act) = act(case.whole, step) {
        return match act {
            Act::Uses | Act::Receives => Effect::Update,
            Act::Locks | Act::LocksShared | Act::Acquires => Effect::Acquire,
            Act::Unlocks | Act::Releases => Effect::Release,
            Act::Awaits(_) | Act::Abandons => Effect::Wait,
            Act::Wakes | Act::WakesNobody | Act::Sends => Effect::Wake,
        };
    }
    match case.whole.operation(step) {
        "load" | "spin_until" | "look" | "read cell" | "read parts" | "read several" | "get" | "is_finished" => {
            Effect::Read
        }
        "store" | "write cell" | "write parts" | "write several" | "initialised" => Effect::Write,
        "read-modify-write" | "compare-exchange" | "use" => Effect::Update,
        "lock" | "try_lock" | "read" | "try_read" | "write" | "try_write" | "acquire" | "try_acquire" | "call_once" => {
            Effect::Acquire
        }
        "unlock" | "unlock read" | "unlock write" | "release" | "downgrade" => Effect::Release,
        "wait" | "recv" | "try_recv" | "join" | "park" | "sleep" | "barrier wait" => Effect::Wait,
        "notify_one" | "notify_all" | "unpark" | "send" | "try_send" | "timer" | "drop sender" | "drop receiver" => {
            Effect::Wake
        }
        _ => Effect::Other,
    }
}

/// Of several steps on one line, the one that says most.
fn weight(effect: Effect) -> u8 {
    match effect {
        Effect::Crash => 6,
        Effect::Write | Effect::Update => 5,
        Effect::Read => 4,
        Effect::Wait | Effect::Wake => 3,
        Effect::Acquire => 2,
        Effect::Release => 1,
        Effect::Other => 0,
    }
}

/// Says where a task did not go on, and why.
fn tell_switches(case: &Case<'_>, items: &mut [Item]) {
    let mut next: Option<(u32, u32)> = None;
    for item in items.iter_mut().rev() {
        let Item::Line(line) = item else { continue };
        let (Some(first), Some(last)) = (line.step, line.last) else { continue };
        if let Some((_, begins)) = next.filter(|(task, _)| *task != line.task) {
            // The last that the task did before the other one came.
            let own = (last..begins).rev().find(|i| case.whole.steps[*i as usize].task == line.task);
            line.switch = own.and_then(|i| reason(case.whole, &case.names, &case.accesses.waits, i));
        }
        next = Some((line.task, first));
    }
}

/// Where it failed, and what was not reached any more.
fn ending(case: &Case<'_>, blame: &Blame, last: Option<&Line>) -> Vec<Item> {
    let record = case.record;
    let mut items = Vec::new();
    let panics = matches!(record.finding.details, Details::Panic { .. });
    for end in endings(record, &case.names) {
        let waits = !panics || end.task != record.finding.task;
        let place = record.place(end.place).cloned();
        let shown = |line: &&Line| {
            let at = |place: &Option<Place>| place.as_ref().map(|p| (p.file.clone(), p.line));
            line.task == end.task && at(&line.place) == at(&place) && line.source.is_some()
        };
        let said = last.filter(shown).is_some();
        let text = if waits { format!("{}, for ever", end.what) } else { record.failing_how() };
        items.push(Item::Line(Line {
            step: None,
            last: None,
            task: end.task,
            text,
            effect: if waits { Effect::Wait } else { Effect::Crash },
            source: place.as_ref().filter(|_| !said).and_then(|place| case.sources.line(place)),
            place,
            switch: None,
            mark: Some(Mark::Fails),
        }));
    }
    let unreached = blame.closes.as_ref().filter(|a| a.step >= case.end());
    let unreached = unreached.or(blame.intrudes.iter().find(|a| a.step >= case.end()));
    if let Some(access) = unreached {
        let place = case.place_of(access.step).cloned();
        let made = Some(access.step).filter(|i| (*i as usize) < record.steps.len());
        let when = if made.is_some() { "too late" } else { "not reached" };
        items.push(Item::Line(Line {
            step: made,
            last: made,
            task: access.task,
            text: format!("{when}: {}", verb(case, access.step)),
            effect: effect(case, access.step),
            source: place.as_ref().and_then(|place| case.sources.line(place)),
            place,
            switch: None,
            mark: blame.closes.as_ref().is_some_and(|c| c.step == access.step).then_some(Mark::Closes),
        }));
    }
    items
}
