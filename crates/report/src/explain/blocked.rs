//! Tasks that wait for ever: for each other, or for nothing at all; `wakeups` asks whether a notification was missed.

use drawloom_engine::sorted::{Map, sort_by_key};
use std::fmt::Write as _;

use drawloom_engine::act::Act;

use super::acts::act;
use super::awaits::{self, AWAIT};
use super::case::{Blame, Case};
use super::class::Class;
use super::explanation::{Stack, Taken};
use super::parting::parting;
use super::trace::verb;
use super::{wakers, wakeups};
use crate::html::walk::Bar;
use crate::processes::{call_of, lost};
use crate::record::{BLOCKED, BlockedRecord};
use crate::terminal::operation::{describe, waits_for};
use crate::terminal::reason::blocked as blocked_tasks;

/// Why nobody goes on.
pub(super) fn blocked(case: &Case<'_>, all: &[BlockedRecord], cycle: &[u32]) -> Blame {
    let all: Vec<BlockedRecord> = all.iter().map(awaits::resolved).collect();
    let involved: Vec<&BlockedRecord> = match cycle.is_empty() {
        false => {
            let waits: Map<u32, &BlockedRecord> = all.iter().rev().map(|b| (b.task, b)).collect();
            cycle.iter().filter_map(|task| waits.get(task).copied()).collect()
        }
        // Who waits for a task to end is stuck only because that one is.
        true => {
            let causes: Vec<_> = all.iter().filter(|b| b.operation != "join").collect();
            if causes.is_empty() { all.iter().collect() } else { causes }
        }
    };
    let mut blame = match wakeups::lost(case, &involved) {
        Some(blame) => blame,
        None if case.record.finding.kind == "deadlock" || !cycle.is_empty() => deadlock(case, &involved, cycle),
        None => match behind(case, &involved) {
            Some(stuck) => deadlock(case, &stuck, &stuck.iter().map(|b| b.task).collect::<Vec<_>>()),
            None => permits(case, &involved)
                .or_else(|| senders(case, &involved))
                .or_else(|| wakers::circle(case, &involved).map(|circle| circular(case, &circle)))
                .or_else(|| wakers::looked_too_early(case, &involved))
                .unwrap_or_else(|| starvation(case, &involved)),
        },
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
        blame.reasons.push(
            "a task that panics never releases its locks and never sends the messages that others wait for".to_owned(),
        );
    }
}

fn deadlock(case: &Case<'_>, involved: &[&BlockedRecord], cycle: &[u32]) -> Blame {
    let names = &case.names;
    let (involved, others) = involved.split_at(involved.len().min(MOST_TOLD));
    let part = |b: &&BlockedRecord| {
        if let Some(call) = call_of(case.told(), b) {
            let (who, whom) = (names.quoted(call.by), names.quoted(call.of));
            return format!("{who} calls {whom} with `{}` and waits for the reply", call.text);
        }
        if let ("receive", Some(asked)) = (b.operation.as_str(), b.blockers.first().filter(|_| cycle.len() > 1)) {
            let (who, whom) = (names.quoted(b.task), names.quoted(asked.task));
            return format!("{who} waits for a message after it has asked {whom}");
        }
        let wants = wanted(case, b);
        // Of all that it holds, what matters is what another one of them waits for.
        let holds: Vec<&str> = held(case, b.task)
            .into_iter()
            .filter(|held| involved.iter().any(|other| other.resource == Some(held.lock)))
            .map(|held| names.short(held.lock))
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
            "Deadlock: task {} waits for {}, which it {} itself",
            names.quoted(cycle[0]),
            wanted(case, involved[0]),
            if involved[0].awaited.is_some() { "has taken" } else { "holds" }
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
            let held: Vec<&str> = held(case, b.task).into_iter().map(|held| names.short(held.lock)).collect();
            let wanted = b.resource.map(|r| names.short(r))?;
            (!held.is_empty()).then(|| format!("{} takes {} and then {wanted}", names.path(b.task), held.join(", ")))
        };
        let orders: Vec<String> = involved.iter().filter_map(order).collect();
        let event_loop = involved.iter().filter_map(|b| b.resource).find(|r| case.record.is_event_loop(Some(*r)));
        match (event_loop, orders.as_slice()) {
            // It is no lock that a program takes, in an order that could be another one: who runs has it.
            (Some(event_loop), _) => {
                blame.subkind = Some("circular-wait");
                let kept = names.short(event_loop);
                blame.reasons.push(format!("a task that blocks where it could await keeps {kept} from all others"));
            }
            // One of them waits for something else: that another one ends, say.
            (None, [] | [_]) => blame.subkind = Some("circular-wait"),
            (None, orders) => {
                blame.reasons.push(format!("the locks are taken in different orders: {}", orders.join("; ")))
            }
        }
    }
    blame
}

/// A task that waits for others to do something while it holds what all of them wait for, and they.
fn behind<'b>(case: &Case<'_>, involved: &[&'b BlockedRecord]) -> Option<Vec<&'b BlockedRecord>> {
    let is_lock = |b: &BlockedRecord| matches!(b.operation.as_str(), "lock" | "read" | "write");
    let has = |first: u32, b: &BlockedRecord| {
        let wanted = b.resource.filter(|_| is_lock(b) || b.operation == AWAIT);
        wanted.is_some_and(|wanted| held(case, first).iter().any(|held| held.lock == wanted))
    };
    let others = |first: &BlockedRecord| involved.iter().filter(|b| b.task != first.task).copied().collect::<Vec<_>>();
    let first = involved.iter().find(|first| {
        let others = others(first);
        // Of a wait that was told, it is known who would end it.
        let is_open = !is_lock(first) && !case.record.is_told(first);
        is_open && !others.is_empty() && others.iter().all(|b| has(first.task, b))
    })?;
    Some([vec![*first], others(first)].concat())
}

/// Tasks each of which has a permit of what all of them wait for another one of.
fn permits(case: &Case<'_>, involved: &[&BlockedRecord]) -> Option<Blame> {
    let record = case.record;
    let wanted = involved.first()?.resource?;
    let taken = |task: u32| {
        let own = record.steps.iter().filter(|step| (step.task, step.resource) == (task, Some(wanted)));
        let count = |word: Act| own.clone().filter(|step| act(record, step) == Some(word)).count();
        count(Act::Acquires) > count(Act::Releases)
    };
    let alike = |b: &&BlockedRecord| b.operation == AWAIT && b.resource == Some(wanted) && taken(b.task);
    if involved.len() < 2 || !involved.iter().all(alike) {
        return None;
    }
    let (name, names) = (case.names.short(wanted), &case.names);
    let all: Vec<String> = involved.iter().take(MOST_TOLD).map(|b| names.quoted(b.task)).collect();
    Some(Blame {
        class: Some(Class::Deadlock),
        subkind: Some("permits"),
        sentence: format!(
            "Deadlock: tasks {} each have a permit of {name} and wait for another one, and none is left",
            all.join(" and ")
        ),
        ..Blame::default()
    })
}

/// Tasks that all send where there is no room, each to another channel: each could receive what another one sends.
fn senders(case: &Case<'_>, involved: &[&BlockedRecord]) -> Option<Blame> {
    let sends = |b: &&BlockedRecord| b.operation == "send" && b.resource.is_some() && !case.record.is_told(b);
    let differ = involved.iter().any(|b| b.resource != involved[0].resource);
    if !differ || !involved.iter().all(sends) {
        return None;
    }
    let names = &case.names;
    let part = |b: &&BlockedRecord| {
        let channel = b.resource.map(|channel| names.short(channel)).unwrap_or_default();
        format!("task {} waits until somebody receives from {channel}", names.quoted(b.task))
    };
    let parts: Vec<String> = involved.iter().take(MOST_TOLD).map(part).collect();
    Some(Blame {
        class: Some(Class::Deadlock),
        subkind: Some("circular-wait"),
        sentence: format!("Deadlock: {}, and no task is left that could", parts.join(", ")),
        reasons: vec!["all of them send first: one that received first would let another one continue".to_owned()],
        ..Blame::default()
    })
}

/// Tasks each of which waits for what the next one would do, if it did not wait.
fn circular(case: &Case<'_>, circle: &[&BlockedRecord]) -> Blame {
    let names = &case.names;
    let next = circle.iter().skip(1).chain(circle.first());
    let parts: Vec<String> = circle
        .iter()
        .zip(next)
        .map(|(b, next)| {
            let (who, wants, next) = (names.quoted(b.task), wanted(case, b), names.quoted(next.task));
            format!("task {who} waits for {wants}, which comes from task {next}")
        })
        .collect();
    Blame {
        class: Some(Class::Deadlock),
        subkind: Some("circular-wait"),
        sentence: format!("Deadlock: {}", parts.join(", and ")),
        reasons: vec![
            "passing executions show which task ends each wait; in this one, all of them wait for each other"
                .to_owned(),
        ],
        ..Blame::default()
    }
}

fn starvation(case: &Case<'_>, involved: &[&BlockedRecord]) -> Blame {
    let mut blame = Blame { class: Some(Class::Starvation), ..Blame::default() };
    let Some(first) = involved.first() else {
        blame.sentence = "Starvation: no running task can end the wait".to_owned();
        return blame;
    };
    let who = case.names.quoted(first.task);
    let what = waits_text(case, first);
    let why = why_nobody(case, first);
    let why = lost_to(case, &why);
    blame.subkind = Some(match first.method() {
        "recv" | "send" => "channel",
        "lock" | "read" | "write" => "never-released",
        "wait" | "notified" => "never-notified",
        "spin_until" => "never-written",
        _ => "unbounded-wait",
    });
    blame.sentence = format!("Starvation: task {who} {what}{why}");
    // Where others pass, somebody has found something else than it does there; a panic is reason enough by itself.
    let panicked = case.record.tasks.iter().any(|task| task.panic.is_some());
    let otherwise = if panicked { None } else { parting(case) };
    let otherwise = otherwise.filter(|parting| parting.parts && case.names.tells(parting.read.resource));
    if let Some(parting) = otherwise {
        let _ = write!(blame.sentence, "; {}", parting.sentence(case));
        blame.reasons.push(parting.reason(case));
        blame.resources.push(parting.read.resource);
        blame.steps.extend([parting.read.step, parting.write.step]);
        blame.harm = Some(parting.write.step);
    }
    if involved.len() > 1 {
        blame.reasons.push(format!("{} tasks are stuck like that", involved.len()));
    }
    blame
}

/// Why, and which message was lost that could have ended it.
fn lost_to(case: &Case<'_>, why: &str) -> String {
    let lost = lost(case.told());
    let [.., last] = lost.as_slice() else { return why.to_owned() };
    let whom = case.names.quoted(last.to);
    let when = if last.late { "had ended before it was sent" } else { "ended before it received it" };
    format!("{why}: `{}` of {} was lost, since {whom} {when}", last.text, last.from)
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
    if let Some(why) = why_nobody_as_told(case, b) {
        return why.to_owned();
    }
    match b.operation.as_str() {
        // It would have ended with an error, if no sender were left.
        "recv" => " that no task sends, and the channel is never closed: an unused sender is still alive".to_owned(),
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
        "acquire" if case.record.is_told(b) && !b.blockers.is_empty() => {
            let holder = b.blockers[0].task;
            let over = if finished(holder) { ": it has finished" } else { "" };
            format!(", which task {} took and never gives back{over}", names.quoted(holder))
        }
        AWAIT => match (b.awaited.as_deref(), b.blockers.first()) {
            (Some("lock" | "read" | "write" | "acquire"), Some(holder)) => {
                let over = if finished(holder.task) { ": it has finished" } else { "" };
                format!(", which task {} took and never gives back{over}", names.quoted(holder.task))
            }
            (Some("send"), _) => ", and nobody receives".to_owned(),
            (Some("notified"), Some(last)) => {
                format!(", and nobody will notify it again: task {} was the last to do so", names.quoted(last.task))
            }
            (Some("notified"), None) => ", and nobody notifies it".to_owned(),
            (Some("await"), Some(last)) => {
                format!(", and nobody will change it again: task {} was the last to do so", names.quoted(last.task))
            }
            _ => match on_it(&["use"]).filter(|task| *task != b.task) {
                Some(task) => {
                    format!(
                        ", and no task will end the wait: task {} was the last of the others to use it",
                        names.quoted(task)
                    )
                }
                None => ", and no task is left to end the wait".to_owned(),
            },
        },
        "park" if b.argument.is_some() => {
            ", and nobody is left to wake it: the wake-up was lost, or never due".to_owned()
        }
        "park" => ", and nobody is left to unpark it".to_owned(),
        "receive" => match call_of(case.told(), b) {
            Some(call) => format!(", and {} never answers `{}`", names.quoted(call.of), call.text),
            None => ", and nobody is left to send one".to_owned(),
        },
        _ => ", and no task is left to end the wait".to_owned(),
    }
}

/// The same of waits that the front end has told of.
fn why_nobody_as_told(case: &Case<'_>, b: &BlockedRecord) -> Option<&'static str> {
    let language = case.record.meta.language;
    if !case.record.is_told(b) {
        return None;
    }
    let name = given_name(case, b);
    match (b.operation.as_str(), language.made_of_locks(name)) {
        ("recv", _) if language.is_connection(name) => Some(", and nobody sends anything"),
        ("send", _) if language.is_connection(name) => Some(", and nobody receives"),
        ("recv", _) => Some(", and nobody puts one there"),
        ("send", _) => Some(", and nobody takes anything out"),
        ("wait", Some("event")) => Some(", and nobody sets it"),
        _ => None,
    }
}

/// What the engine calls the resource of a wait.
fn given_name<'c>(case: &'c Case<'_>, b: &BlockedRecord) -> &'c str {
    b.resource.and_then(|i| case.record.resources.get(i as usize)?.name.as_deref()).unwrap_or_default()
}

/// A lock that a task holds.
pub(super) struct Held {
    pub(super) lock: u32,
    /// The step that asked for it; none if only who waits for it knows of that.
    pub(super) step: Option<u32>,
    /// Where it was taken then.
    place: Option<u32>,
}

/// What the task holds, in the order of taking.
pub(super) fn held(case: &Case<'_>, task: u32) -> Vec<Held> {
    let end = case.end();
    let mut bars: Vec<_> = case.accesses.holds.iter().enumerate().collect();
    bars.retain(|(_, bar)| bar.task == task && bar.from < end && bar.to >= end);
    sort_by_key(&mut bars, |(_, bar)| bar.from);
    let known = |(at, bar): &(usize, &Bar)| {
        Some(Held { lock: bar.resource?, step: Some(case.accesses.request(*at)), place: None })
    };
    let mut all: Vec<Held> = bars.iter().filter_map(known).collect();
    // A lock of an event loop is taken within a piece, which is no step of its own.
    for b in blocked_tasks(case.record).iter().filter(|b| case.record.is_told(b)) {
        let (Some(lock), "lock" | "acquire") = (b.resource, b.operation.as_str()) else { continue };
        let own = b.blockers.iter().find(|blocker| blocker.task == task);
        if let Some(own) = own.filter(|_| all.iter().all(|held| held.lock != lock)) {
            all.push(Held { lock, step: None, place: own.place });
        }
    }
    all
}

fn wanted(case: &Case<'_>, b: &BlockedRecord) -> String {
    match (b.operation.as_str(), b.resource) {
        ("join", _) => match case.names.target(b.argument) {
            Some(task) => format!("task {} to finish", case.names.quoted(task)),
            None => "a task to finish".to_owned(),
        },
        ("recv", Some(_)) if case.record.meta.language.is_connection(given_name(case, b)) => {
            format!("something to receive from {}", given_name(case, b))
        }
        ("recv", Some(r)) => format!("{} in {}", case.record.meta.language.words.received, case.names.short(r)),
        ("receive", _) => "a message".to_owned(),
        ("spin_until", Some(r)) => format!("another value of {}", case.names.short(r)),
        ("send", Some(r)) => format!("room in {}", case.names.short(r)),
        (AWAIT, Some(r)) => awaits::wanted(case, b, r),
        (_, Some(r)) => case.names.short(r).to_owned(),
        _ if awaited_name(case, b).is_some() => format!("`{}`", awaited_name(case, b).unwrap_or_default()),
        ("park", None) if b.argument.is_some() => "a wake-up".to_owned(),
        ("park", None) => "an unpark".to_owned(),
        (_, None) => waits_for(case.record, &case.names, &b.operation, None, b.argument),
    }
}

fn stack(case: &Case<'_>, b: &BlockedRecord) -> Stack {
    let record = case.record;
    let taken = |step: u32| {
        let place = case.place_of(step).cloned();
        Taken {
            text: match act(record, &record.steps[step as usize]) {
                Some(_) => verb(case, step),
                None => describe(record, &case.names, &record.steps[step as usize]),
            },
            step: Some(step),
            source: place.as_ref().and_then(|place| case.sources.line(place)),
            place,
        }
    };
    let all = || {
        held(case, b.task).into_iter().map(|held| match held.step {
            Some(step) => taken(step),
            None => {
                let place = record.place(held.place).cloned();
                let source = place.as_ref().and_then(|place| case.sources.line(place));
                let lock = case.names.resource(Some(held.lock)).unwrap_or_default();
                let text = match record.is_event_loop(Some(held.lock)) {
                    true => format!("keeps {lock}"),
                    false => format!("{} {lock}", record.meta.language.verb("lock")),
                };
                Taken { text, step: None, place, source }
            }
        })
    };
    let last = (0..case.end()).rev().find(|i| record.steps[*i as usize].task == b.task);
    if let Some((step, _)) = awaits::awaited(case, b.task).filter(|_| b.operation == AWAIT) {
        return Stack {
            task: b.task,
            held: all().collect(),
            wanted: Taken { text: wanted_text(case, b), ..taken(step) },
        };
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
    Stack { task: b.task, held: all().collect(), wanted }
}

fn wanted_text(case: &Case<'_>, b: &BlockedRecord) -> String {
    waits_text(case, b)
}

/// What a coroutine waits for, as the line calls it at which it does: `await self.bell.wait()`.
fn awaited_name(case: &Case<'_>, b: &BlockedRecord) -> Option<String> {
    let awaits = b.operation == "park" && b.resource.is_none();
    let place = case.record.place(b.place).filter(|_| awaits)?;
    case.sources.begins_piece(place).then(|| case.sources.name_at(place)).flatten()
}

/// `waits for …`
fn waits_text(case: &Case<'_>, b: &BlockedRecord) -> String {
    if let Some(name) = awaited_name(case, b) {
        return format!("waits for `{name}`");
    }
    match (b.operation.as_str(), b.resource) {
        (AWAIT, Some(r)) => format!("waits for {}", awaits::wanted(case, b, r)),
        ("receive", _) => match call_of(case.told(), b) {
            Some(call) => format!("the reply of {} to `{}`", case.names.tag(call.of), call.text),
            None => "waits for a message".to_owned(),
        },
        _ => waits_for(case.record, &case.names, &b.operation, b.resource, b.argument),
    }
}
