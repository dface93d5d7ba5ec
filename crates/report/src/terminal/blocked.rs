//! Blocked tasks in words: what each waits for, and who could end that.

use std::fmt::Write as _;

use crate::names::Names;
use crate::processes::{Told, call_of};
use crate::record::{BlockedRecord, Blocker, Record, ResourceRecord};

/// The cycle from its lowest task round to that task again.
pub(super) fn closed(cycle: &[u32], names: &Names<'_>) -> Vec<u32> {
    let mut closed = cycle.to_vec();
    let key = |path: &str| path.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    if let Some(first) = (0..cycle.len()).min_by_key(|i| key(names.path(cycle[*i]))) {
        closed.rotate_left(first);
        closed.push(closed[0]);
    }
    closed
}

/// `blocked on lock() of mutex `a` at src/x.rs:9, held by task 0.2 since src/x.rs:21`
pub(super) fn blocked_on(
    record: &Record,
    names: &Names<'_>,
    b: &BlockedRecord,
    all: &[BlockedRecord],
    everybody: bool,
) -> String {
    let resource = b.resource.and_then(|i| record.resources.get(i as usize));
    if let Some(text) = awaited(record, b, resource, everybody) {
        return text;
    }
    if let Some(text) = told(record, names, b, all, everybody) {
        return text;
    }
    if record.is_event_loop(b.resource) {
        let place = record.place(b.place).map(|place| format!(" at {place}")).unwrap_or_default();
        let keeps = b.blockers.first().map(|keeper| format!(", which task {} keeps", names.path(keeper.task)));
        let name = names.resource(b.resource).unwrap_or_default();
        return format!("waits for {name}{place}{}", keeps.unwrap_or_default());
    }
    if b.operation == "receive" {
        return receives(record, names, b, all);
    }
    let method = if b.method() == "barrier wait" { "wait" } else { b.method() };
    let mut text = match &b.awaited {
        Some(_) if method == "join" || method == "await" => "blocked on .await".to_owned(),
        Some(_) => format!("blocked on {method}().await"),
        None => format!("blocked on {}()", record.meta.language.verb(method)),
    };
    if method == "join" {
        if let Some(target) = names.target(b.operand()) {
            let _ = write!(text, " {} task {}", if b.awaited.is_some() { "of" } else { "for" }, names.path(target));
        }
        // A future that another one polls only knows where the task was spawned.
        let spawned_at = b.blockers.first().and_then(|joined| joined.place);
        if let Some(place) = record.place(b.place).filter(|_| b.awaited.is_some() && b.place != spawned_at) {
            let _ = write!(text, " at {place}");
        }
        return text;
    }
    if resource.is_some_and(|r| r.kind != "channel" || r.name.is_some()) {
        let _ = write!(text, " of {}", named(names, b).unwrap_or_default());
    }
    if let Some(place) = record.place(b.place) {
        let _ = write!(text, " at {place}");
    }
    let size = resource.and_then(|r| r.size);
    let same = || all.iter().filter(|other| other.resource == b.resource && other.method() == b.method()).count();
    match b.method() {
        // A guard of tokio may have gone to another task since: only who took the lock is known.
        "lock" | "read" | "write" if b.awaited.is_some() => {
            holders(&mut text, record, names, b, all, ("taken by", "at"));
        }
        "lock" | "read" | "write" => holders(&mut text, record, names, b, all, ("held by", "since")),
        "call_once" | "get_or_init" => holders(&mut text, record, names, b, all, ("being initialised by", "since")),
        // Of a library's channel it is not known who has an end of it: only who has used it.
        "recv" if b.awaited.is_some() => {
            text += " — channel empty";
            holders(&mut text, record, names, b, all, ("last sent to by", "at"));
        }
        "send" if b.awaited.is_some() => {
            text += " — channel full";
            holders(&mut text, record, names, b, all, ("last received from by", "at"));
        }
        "notified" if everybody && b.blockers.is_empty() => text += " — nobody is left to notify it",
        "notified" => holders(&mut text, record, names, b, all, ("last notified by", "at")),
        "await" if everybody && b.blockers.is_empty() => text += " — nobody is left to change it",
        "await" => holders(&mut text, record, names, b, all, ("last changed by", "at")),
        "recv" => text += if everybody { " — channel empty, no active senders" } else { " — channel empty" },
        "send" => {
            text += if size == Some(0) { " — nobody receives" } else { " — channel full" };
            text += if everybody { ", no active receivers" } else { "" };
        }
        "wait" if everybody && b.blockers.is_empty() => text += " — nobody is left to notify it",
        "wait" => holders(&mut text, record, names, b, all, ("last notified by", "at")),
        "spin_until" if everybody && b.blockers.is_empty() => text += " — nobody is left to write to it",
        "spin_until" => holders(&mut text, record, names, b, all, ("last written by", "at")),
        "park" if everybody => text += " — nobody is left to unpark it",
        "acquire" => {
            text += " — not enough permits";
            if let Some(wanted) = b.operand() {
                let _ = write!(text, " for {wanted}");
            }
            holders(&mut text, record, names, b, all, ("last taken by", "at"));
        }
        "barrier wait" if b.awaited.is_none() => {
            let _ = write!(text, " — {} of {} have come", same(), size.unwrap_or_default());
        }
        _ => {}
    }
    text
}

/// A process that waits for the reply to a call, or for any message.
fn receives(record: &Record, names: &Names<'_>, b: &BlockedRecord, all: &[BlockedRecord]) -> String {
    let place = record.place(b.place).map(|place| format!(" at {place}")).unwrap_or_default();
    if let Some(call) = call_of(Told { record, names }, b) {
        let finished = record.tasks.get(call.of as usize).is_some_and(|task| task.finished);
        let became = match call.received {
            Some(step) => format!("received at step {}, and not answered", step + 1),
            None if finished => "which has ended".to_owned(),
            None => "not received".to_owned(),
        };
        return format!("calls {}{place}: {} — {became}", names.tag(call.of), call.text);
    }
    let mailbox = match b.queued {
        0 => "mailbox empty".to_owned(),
        1 => "1 message in the mailbox, which it does not accept".to_owned(),
        many => format!("{many} messages in the mailbox, none of which it accepts"),
    };
    let mut text = format!("waits for a message{place} — {mailbox}");
    holders(&mut text, record, names, b, all, ("last asked or heard of", "at"));
    text
}

/// Waits that are no operation of the user's: of a future for its waker, of a channel, a select or a task
/// for whoever serves it.
fn awaited(record: &Record, b: &BlockedRecord, resource: Option<&ResourceRecord>, everybody: bool) -> Option<String> {
    let place = record.place(b.place).map(|place| format!(" at {place}")).unwrap_or_default();
    let (waits, nobody) = match b.operation.as_str() {
        "park" if b.argument.is_some() && b.awaited.is_none() => {
            (format!("awaits the future that it was given{place}"), "wake it")
        }
        "acquire" if resource.is_some_and(|r| r.kind == "signal") => (format!("waits{place}"), "end the wait"),
        _ => return None,
    };
    Some(if everybody { format!("{waits} — nobody is left to {nobody}") } else { waits })
}

/// Waits that the front end has told of: of a coroutine, at a socket or a pipe, for the thread of an event loop.
fn told(
    record: &Record,
    names: &Names<'_>,
    b: &BlockedRecord,
    all: &[BlockedRecord],
    everybody: bool,
) -> Option<String> {
    let language = record.meta.language;
    if !record.is_told(b) {
        return None;
    }
    let given = b.resource.and_then(|i| record.resources.get(i as usize)?.name.as_deref()).unwrap_or_default();
    let name = names.resource(b.resource).unwrap_or_default();
    let place = record.place(b.place).map(|place| format!(" at {place}")).unwrap_or_default();
    let left = if everybody && b.blockers.is_empty() { " — nobody is left to " } else { "" };
    let resource = b.resource.and_then(|i| record.resources.get(i as usize));
    let is = |kind| language.made_of_locks(given) == Some(kind) || resource.is_some_and(|r| r.kind == kind);
    let (mut text, nobody, (held, since)) = match b.operation.as_str() {
        "lock" if language.is_event_loop(given) => {
            let next = record.place(b.place).map(|place| format!(" to continue at {place}")).unwrap_or_default();
            (format!("waits for {name}{next}"), "", ("while it stands still in", "at"))
        }
        "recv" | "send" if language.is_connection(given) => {
            let (waits, nobody) = if b.operation == "recv" { ("receive from", "send") } else { ("send to", "receive") };
            let mut text = format!("waits to {waits} {given}{place}");
            for other in &b.blockers {
                let waits = all.iter().any(|b| b.task == other.task);
                let at = all.iter().find(|b| b.task == other.task).map_or(other.place, |b| b.place);
                let at = record.place(at).map(|place| format!(" at {place}")).unwrap_or_default();
                let does = if waits { ", which waits" } else { "" };
                let _ = write!(text, ", whose other end task {} has{does}{at}", names.path(other.task));
            }
            if everybody && b.blockers.is_empty() {
                let _ = write!(text, " — nobody is left to {nobody}");
            }
            return Some(text);
        }
        "recv" => (format!("blocked on get() of {name}{place} — queue empty"), "put", ("to be filled by", "at")),
        "send" => (format!("blocked on put() of {name}{place} — queue full"), "get", ("to be emptied by", "at")),
        "wait" if is("semaphore") => {
            (format!("blocked on acquire() of {name}{place}"), "release it", ("to be released by", "at"))
        }
        "wait" if is("queue") => {
            (format!("blocked on join() of {name}{place}"), "call task_done()", ("to be done by", "at"))
        }
        "wait" if is("barrier") => {
            (format!("blocked on wait() of {name}{place}"), "reach it", ("to be reached by", "at"))
        }
        "wait" if is("event") => (format!("blocked on wait() of {name}{place}"), "set it", ("to be set by", "at")),
        "wait" => (format!("blocked on wait() of {name}{place}"), "notify it", ("to be notified by", "at")),
        _ => return None,
    };
    if !left.is_empty() && !nobody.is_empty() {
        let and = if text.contains(" — ") { ", nobody is left to " } else { left };
        let _ = write!(text, "{and}{nobody}");
    }
    holders(&mut text, record, names, b, all, (held, since));
    Some(text)
}

/// What is waited on, by its name; an object of a library is what its method says.
fn named(names: &Names<'_>, b: &BlockedRecord) -> Option<String> {
    let name = names.resource(b.resource)?;
    Some(match name.strip_prefix("object ") {
        Some(rest) => format!("{} {rest}", b.noun().unwrap_or_default()).trim_start().to_owned(),
        None => name.to_owned(),
    })
}

/// Who could end the wait: `, held by task 0.2 since src/x.rs:21`.
fn holders(
    text: &mut String,
    record: &Record,
    names: &Names<'_>,
    b: &BlockedRecord,
    all: &[BlockedRecord],
    (held, since): (&str, &str),
) {
    const SHOWN: usize = 3;
    let queued = |blocker: &Blocker| {
        let waits_too = |other: &BlockedRecord| {
            other.task == blocker.task && other.resource == b.resource && other.place == blocker.place
        };
        blocker.task != b.task && all.iter().any(waits_too)
    };
    for blocker in b.blockers.iter().take(SHOWN) {
        let finished = record.tasks.get(blocker.task as usize).is_some_and(|t| t.finished);
        let who = match blocker.task {
            task if task == b.task => "itself".to_owned(),
            task if finished => format!("task {}, which has finished,", names.path(task)),
            task => format!("task {}", names.path(task)),
        };
        let place = record.place(blocker.place);
        let _ = match (queued(blocker), place) {
            (true, Some(place)) => write!(text, ", behind {who}, which waits at {place}"),
            (true, None) => write!(text, ", behind {who}"),
            (false, Some(place)) => write!(text, ", {held} {who} {since} {place}"),
            (false, None) => write!(text, ", {held} {who}"),
        };
    }
    if b.blockers.len() > SHOWN {
        let _ = write!(text, " and {} more", b.blockers.len() - SHOWN);
    }
}
