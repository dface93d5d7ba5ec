//! What the processes did, in order: messages where they were received, those that nobody received where they were sent, exits, and
//! what else was touched. What belongs to a call or a start, its monitor for instance, is left out.

use super::{Told, nodes};
use crate::record::{Details, StepRecord};
use crate::terminal::operation::describe;

/// What a row tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `task` received something of `other`.
    Received,
    /// `task` sent something to `other` that was never received.
    Sent,
    /// `task` ended.
    Ended,
    /// The end of `task`, or a word of it, reached `other`.
    Signalled,
    /// Something else.
    Did,
    /// What `other` has sent did not get through to `task`.
    Lost,
    /// `task`, who makes faults, has hit `other`.
    Struck,
}

/// A row of the story.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) step: u32,
    pub(crate) kind: Kind,
    pub(crate) task: u32,
    pub(crate) other: Option<String>,
    /// The task of that name.
    pub(crate) other_task: Option<u32>,
    pub(crate) text: String,
    /// The step that sent what was received.
    pub(crate) sent: Option<u32>,
    /// Where it was sent, or done.
    pub(crate) place: Option<u32>,
}

/// The rows of an execution among processes, or nodes.
pub(crate) fn story(told: Told<'_>) -> Vec<Row> {
    if cfg!(feature = "processes") { rows(told) } else { Vec::new() }
}

fn rows(told: Told<'_>) -> Vec<Row> {
    let record = told.record;
    if told.mail().is_empty() {
        return nodes::rows(told);
    }
    // What is cleared away is no part of it: a panic of the first process ends the others, too.
    let failed = matches!(record.finding.details, Details::Panic { .. }).then_some(record.finding.task);
    let rows =
        record.steps.iter().zip(0..).filter(|(step, _)| record.operation(step) != "end" || Some(step.task) != failed);
    rows.filter_map(|(step, i)| row(told, i, step)).collect()
}

fn row(told: Told<'_>, i: u32, step: &StepRecord) -> Option<Row> {
    let (record, mail) = (told.record, told.mail());
    let owner = mail.owner(step.resource);
    let done = Row {
        step: i,
        kind: Kind::Did,
        task: step.task,
        other: None,
        other_task: None,
        text: String::new(),
        sent: None,
        place: step.place,
    };
    let whom = || owner.map(|task| told.names.tag(task));
    Some(match (record.operation(step), owner) {
        (_, Some(_)) if record.outcome(step) == "killed" => return None,
        ("receive", Some(_)) => {
            let Some(delivery) = mail.delivery_of(step) else {
                return Some(Row { text: "receives nothing in time".to_owned(), ..done });
            };
            let sent = &record.steps[delivery as usize];
            Row {
                kind: Kind::Received,
                other: Some(told.sender(sent)),
                other_task: Some(told.sender_task(sent)),
                text: told.text(delivery).unwrap_or_else(|| "a message".to_owned()),
                sent: Some(delivery),
                // Its sender says more than the loop in which it is received.
                place: sent.place.or(step.place),
                ..done
            }
        }
        ("send", Some(to)) if mail.receipt_of(step).is_none() => {
            let text = told.text(i).unwrap_or_else(|| "a message".to_owned());
            let why = if mail.had_ended(to, i) {
                format!("lost: {} had ended", told.names.path(to))
            } else if mail.end_of(to).is_some() {
                format!("lost: {} ends before it receives it", told.names.path(to))
            } else {
                "not received".to_owned()
            };
            Row { kind: Kind::Sent, other: whom(), other_task: owner, text: format!("{text}  ✗ {why}"), ..done }
        }
        ("exit signal", Some(to)) if mail.had_ended(to, i) => return None,
        ("exit signal", Some(to)) if to != step.task => {
            let (_, _, text) = super::words(record, told.names, step)?;
            // Of whom it is the row says.
            let text = text
                .strip_prefix("Exit of ")
                .and_then(|rest| rest.split_once(": "))
                .map_or(text.as_str(), |(_, rest)| rest);
            Row {
                kind: Kind::Signalled,
                other: whom(),
                other_task: owner,
                text: format!("exit signal: {text}"),
                ..done
            }
        }
        ("end", Some(_)) => Row { kind: Kind::Ended, text: told.text(i).unwrap_or_default(), ..done },
        ("register", None) => Row { text: describe(record, told.names, step), ..done },
        ("whereis", None) if record.outcome(step) == "refused" => {
            Row { text: describe(record, told.names, step), ..done }
        }
        ("whereis", None) => return None,
        // A link is known from both sides: whoever is told by the one who has ended already need not tell.
        ("exit signal", Some(to)) if to == step.task => return None,
        ("link" | "unlink" | "is_alive" | "trap_exit", Some(_)) => {
            Row { text: describe(record, told.names, step), ..done }
        }
        // Those of a call have no place of the user's.
        ("monitor" | "demonitor", Some(_)) if step.place.is_some() => {
            Row { text: describe(record, told.names, step), ..done }
        }
        (_, Some(_)) => return None,
        ("start" | "exit" | "spawn" | "join" | "sleep" | "now", None) => return None,
        (_, None) => Row { text: describe(record, told.names, step), ..done },
    })
}
