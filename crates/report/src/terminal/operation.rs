//! One step in words: what was done, on what, and what it came to.

use std::fmt::Write as _;

use crate::names::{Names, count};
use crate::processes;
use crate::record::{Record, StepRecord};

/// A step in words that can be set apart: `load`, `atomic `hits``, `reads 3`.
pub(crate) struct Words {
    /// What was done.
    pub(crate) verb: String,
    /// On what, or to whom.
    pub(crate) object: String,
    /// What is known of its operands, value and outcome.
    pub(crate) told: String,
    /// Whether the verb names the kind of the object itself.
    colon: bool,
}

/// What `step` did.
pub(crate) fn words(record: &Record, names: &Names<'_>, step: &StepRecord) -> Words {
    if let Some((verb, object, told)) = processes::words(record, names, step) {
        return Words { verb, object, told, colon: false };
    }
    let word = record.operation(step);
    let aim = || names.target(step.argument).map(|target| names.tag(target));
    let mut colon = false;
    let (verb, object) = match word {
        "spawn" | "join" | "is_finished" | "unpark" | "kill" => (word, aim().map(|tag| format!("task {tag}"))),
        "timer" => ("timer fires", aim().map(|tag| format!("for task {tag}"))),
        "lock" | "try_lock" if record.is_event_loop(step.resource) => ("take", subject(record, names, step)),
        "unlock" if record.is_event_loop(step.resource) => ("give back", subject(record, names, step)),
        _ => {
            colon = matches!(
                word,
                "barrier wait" | "drop sender" | "drop receiver" | "read cell" | "write cell" | "initialised"
            );
            let verb = record.meta.language.verb(word);
            colon &= verb == word;
            (verb, subject(record, names, step))
        }
    };
    Words { verb: verb.to_owned(), object: object.unwrap_or_default(), told: told(record, names, step), colon }
}

/// What a step is about, with its kind.
fn subject(record: &Record, names: &Names<'_>, step: &StepRecord) -> Option<String> {
    let parts = record.parts_told(step);
    if parts.is_empty() {
        return names.resource(step.resource).map(str::to_owned);
    }
    let named: Vec<&str> = parts.iter().filter_map(|part| names.resource(Some(*part))).collect();
    Some(named.join(", "))
}

/// `lock mutex `a``, `load atomic `hits`, reads 3`, `try_lock mutex `a`, refused`
pub(crate) fn describe(record: &Record, names: &Names<'_>, step: &StepRecord) -> String {
    let Words { verb: mut text, object, told, colon } = words(record, names, step);
    if !object.is_empty() {
        let _ = write!(text, "{} {object}", if colon { ":" } else { "" });
    }
    if !told.is_empty() {
        let _ = write!(text, ", {told}");
    }
    text
}

/// What is known of its operands, value and outcome.
fn told(record: &Record, names: &Names<'_>, step: &StepRecord) -> String {
    let outcome = record.outcome(step);
    let value = step.value.map(shown).unwrap_or_default();
    let left = step.argument.map(|left| format!(", now {}", shown(left))).unwrap_or_default();
    match record.operation(step) {
        "load" | "spin_until" => format!("reads {value}"),
        "store" => format!("writes {value}"),
        "read-modify-write" => format!("was {value}{left}"),
        "compare-exchange" if outcome == "refused" => format!("fails, was {value}"),
        "compare-exchange" => format!("succeeds, was {value}{left}"),
        "choose" => format!("{value} of {} outcomes", step.argument.unwrap_or_default()),
        "is_finished" => if outcome == "refused" { "no" } else { "yes" }.to_owned(),
        "wait" => {
            let mutex = step.argument.and_then(|i| names.resource(u32::try_from(i).ok()));
            let unlocks = mutex.map(|mutex| format!("gives back {mutex}")).unwrap_or_default();
            join(unlocks, outcome)
        }
        "acquire" | "try_acquire" | "release" => {
            let permits = step.argument.filter(|n| *n != 1).map(|n| count(n, "permit"));
            let free = step.value.map(|free| format!("{free} free"));
            let known: Vec<String> = permits.into_iter().chain(free).collect();
            join(known.join(", "), outcome)
        }
        "send" | "try_send" | "recv" | "try_recv" => match (step.value, outcome) {
            (Some(ticket), "ok") => format!("message #{}", ticket.saturating_add(1)),
            _ => join(String::new(), outcome),
        },
        "notify_one" | "notify_all" if outcome == "refused" => "nobody waits".to_owned(),
        "drop sender" | "drop receiver" => String::new(),
        "initialised" if step.argument == Some(0) => "by a panic".to_owned(),
        "timer" => format!("at {}", instant(step.value.unwrap_or_default())),
        "sleep" => step.argument.map(|at| format!("until {}", instant(at))).unwrap_or_default(),
        _ => join(String::new(), outcome),
    }
}

fn join(first: String, outcome: &str) -> String {
    match (first.is_empty(), outcome) {
        (_, "ok") => first,
        (true, outcome) => outcome.to_owned(),
        (false, outcome) => format!("{first}, {outcome}"),
    }
}

/// A value as a person would write it. Whether it is signed is not known.
pub(crate) fn shown(value: u64) -> String {
    match value as i64 {
        signed if signed < 0 => format!("{value} ({signed})"),
        _ => value.to_string(),
    }
}

/// A virtual instant.
fn instant(nanos: u64) -> String {
    format!("{:?}", std::time::Duration::from_nanos(nanos))
}

/// What a task waits for in an operation with these operands.
pub(crate) fn waits_for(
    record: &Record,
    names: &Names<'_>,
    operation: &str,
    resource: Option<u32>,
    argument: Option<u64>,
) -> String {
    let name = names.resource(resource).unwrap_or("it");
    // What it is, its methods have said.
    let name = name.strip_prefix("object ").unwrap_or(name);
    let language = record.meta.language;
    let given = resource.and_then(|i| record.resources.get(i as usize)?.name.as_deref()).unwrap_or_default();
    match operation {
        "recv" if language.is_connection(given) => format!("waits to receive from {given}"),
        "send" if language.is_connection(given) => format!("waits to send to {given}"),
        "join" => match names.target(argument) {
            Some(target) => format!("waits for task {} to finish", names.tag(target)),
            None => "waits for a task to finish".to_owned(),
        },
        "sleep" => "sleeps".to_owned(),
        "receive" => "waits for a message".to_owned(),
        "park" if argument.is_some() => "waits to be woken".to_owned(),
        "park" => "parks".to_owned(),
        "acquire" if resource.is_some_and(|i| record.resources.get(i as usize).is_some_and(|r| r.kind == "signal")) => {
            "waits for the task that serves it".to_owned()
        }
        "notified" => format!("waits for a notification of {name}"),
        "recv" => format!("waits for {} in {name}", language.words.received),
        "spin_until" => format!("waits for another value of {name}"),
        "send" => match resource.and_then(|i| record.resources.get(i as usize)?.size) {
            Some(0) => format!("waits for a receiver of {name}"),
            _ => format!("waits for room in {name}"),
        },
        _ => format!("waits for {name}"),
    }
}
