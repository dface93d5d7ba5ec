//! A step of a process in words: `send to 0.1 (counter)`, `Get(reply to 0.2 (worker))`.

use super::Told;
use crate::names::Names;
use crate::record::{Record, StepRecord};

/// What was done, to whom, and what is known of it; none of a step of something else.
pub(crate) fn words(record: &Record, names: &Names<'_>, step: &StepRecord) -> Option<(String, String, String)> {
    let is_told = cfg!(feature = "processes") && !names.mail().is_empty() && record.is_of_process(step);
    if is_told { words_of(record, names, step) } else { None }
}

fn words_of(record: &Record, names: &Names<'_>, step: &StepRecord) -> Option<(String, String, String)> {
    let told = Told { record, names };
    let owner = names.mail().owner(step.resource);
    let tag = || owner.map_or_else(|| names.short(step.resource.unwrap_or(0)).to_owned(), |task| names.tag(task));
    let outcome = record.outcome(step);
    let index = || record.steps.iter().position(|other| std::ptr::eq(other, step)).map(|i| i as u32);
    let text = |i: Option<u32>| i.and_then(|i| told.text(i)).unwrap_or_default();
    let word = record.operation(step);
    let own = match (outcome, index()) {
        // Where nothing was done, nothing was said.
        ("killed", _) => "is not reached: an exit signal was fatal".to_owned(),
        (_, i) => match word {
            "receive" => match names.mail().delivery_of(step) {
                Some(delivery) => text(Some(delivery)),
                None => "nothing in time".to_owned(),
            },
            "send" => {
                let lost = i.zip(owner).is_some_and(|(i, owner)| names.mail().had_ended(owner, i));
                joined(text(i), if lost { "lost: it had ended" } else { "" })
            }
            "exit signal" => {
                let effect = match outcome {
                    "fatal" => "ends it",
                    "too late" => "too late",
                    "refused" => "ignored",
                    _ => "trapped",
                };
                joined(text(i), effect)
            }
            "down" if outcome == "refused" => "taken back".to_owned(),
            "down" | "end" => text(i),
            "is_alive" => if outcome == "refused" { "no" } else { "yes" }.to_owned(),
            "whereis" if outcome == "refused" => "nobody".to_owned(),
            "register" if outcome == "refused" => "refused".to_owned(),
            "monitor" | "link" if outcome == "refused" => "it has ended".to_owned(),
            "trap_exit" => if step.argument == Some(0) { "off" } else { "on" }.to_owned(),
            _ => String::new(),
        },
    };
    let (verb, object) = match word {
        "send" => ("send to", tag()),
        "receive" => match names.mail().delivery_of(step) {
            Some(delivery) => ("receive from", told.sender(&record.steps[delivery as usize])),
            None => ("receive", String::new()),
        },
        "exit signal" => ("exit signal to", tag()),
        "down" => ("tell", tag()),
        "end" | "trap_exit" => (word, String::new()),
        other => (other, tag()),
    };
    Some((verb.to_owned(), object, own))
}

fn joined(text: String, more: &str) -> String {
    match (text.is_empty(), more.is_empty()) {
        (_, true) => text,
        (true, false) => more.to_owned(),
        (false, false) => format!("{text}, {more}"),
    }
}
