//! What processes did, for people: who sent what to whom, when it was received, what was lost, who took whom along.
//!
//! - [`Mail`]: which delivery each receive is of, and the other way round;
//! - `words`: a step of a process in words;
//! - `story`: the messages in the order in which they were received, and the ends of processes;
//! - `nodes`: the same of a cluster: messages where they arrive, timers, faults;
//! - `standing`: what is left in the end: mailboxes, links, monitors; `calls`: who waits for whose reply.

mod calls;
mod nodes;
mod standing;
mod story;
mod words;

use drawloom_engine::sorted::Map;

use crate::names::Names;
use crate::record::{Record, StepRecord};

pub(crate) use calls::call_of;
pub(crate) use standing::{Standing, lost, standing};
pub(crate) use story::{Kind, Row, story};
pub(crate) use words::words;

/// Which step delivered what was received where.
#[derive(Default)]
pub(crate) struct Mail {
    /// By mailbox: whose it is.
    owners: Map<u32, u32>,
    /// By step that delivers or ends: what it says.
    said: Map<u32, String>,
    /// By mailbox and number: the step that delivered it.
    delivered: Vec<Vec<u32>>,
    /// The same: the step that received it.
    received: Vec<Vec<Option<u32>>>,
    /// By task: the step by which it ended.
    ended: Map<u32, u32>,
}

impl Mail {
    pub(crate) fn of(record: &Record) -> Mail {
        if cfg!(feature = "processes") && !record.processes.all.is_empty() {
            Mail::between(record)
        } else {
            Mail::default()
        }
    }

    fn between(record: &Record) -> Mail {
        let processes = &record.processes;
        let mut mail = Mail {
            owners: processes.all.iter().map(|process| (process.mailbox, process.task)).collect(),
            said: processes.said.iter().map(|said| (said.step, said.text.clone())).collect(),
            delivered: vec![Vec::new(); record.resources.len()],
            received: vec![Vec::new(); record.resources.len()],
            ended: Map::default(),
        };
        for (step, i) in record.steps.iter().zip(0..) {
            let (Some(resource), word) = (step.resource, record.operation(step)) else { continue };
            if !mail.owners.contains_key(&resource) {
                continue;
            }
            let at = resource as usize;
            match (word, step.value) {
                // They are numbered without gaps.
                ("send" | "exit signal" | "down", Some(_)) => {
                    mail.delivered[at].push(i);
                    mail.received[at].push(None);
                }
                ("receive", Some(number)) => {
                    if let Some(received) = mail.received[at].get_mut(number as usize) {
                        *received = Some(i);
                    }
                }
                ("end", _) => _ = mail.ended.insert(step.task, i),
                _ => {}
            }
        }
        mail
    }

    /// Whether there were processes.
    pub(crate) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// The task whose mailbox it is.
    pub(crate) fn owner(&self, resource: Option<u32>) -> Option<u32> {
        self.owners.get(&resource?).copied()
    }

    /// The step that delivered what `receive` took.
    pub(crate) fn delivery_of(&self, receive: &StepRecord) -> Option<u32> {
        self.delivered.get(receive.resource? as usize)?.get(receive.value? as usize).copied()
    }

    /// The step that received what `delivery` put into a mailbox.
    pub(crate) fn receipt_of(&self, delivery: &StepRecord) -> Option<u32> {
        *self.received.get(delivery.resource? as usize)?.get(delivery.value? as usize)?
    }

    /// What a step says.
    pub(crate) fn said(&self, step: u32) -> Option<&str> {
        self.said.get(&step).map(String::as_str)
    }

    /// The step by which a task ended as a process.
    pub(crate) fn end_of(&self, task: u32) -> Option<u32> {
        self.ended.get(&task).copied()
    }

    /// Whether a process had ended before a step.
    pub(crate) fn had_ended(&self, task: u32, step: u32) -> bool {
        self.end_of(task).is_some_and(|end| end < step)
    }
}

/// What is known of the processes of a record, beside its names.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) record: &'a Record,
    pub(crate) names: &'a Names<'a>,
}

impl Told<'_> {
    fn mail(&self) -> &Mail {
        self.names.mail()
    }

    /// Who sends, where a task of the environment delivers it.
    pub(crate) fn sender(&self, step: &StepRecord) -> String {
        let tag = self.names.tag(self.sender_task(step));
        let timer = self.record.tasks[step.task as usize].name.as_deref() == Some("timer");
        if timer { format!("a timer of {tag}") } else { tag }
    }

    /// The task that it is.
    fn sender_task(&self, step: &StepRecord) -> u32 {
        let task = &self.record.tasks[step.task as usize];
        if !matches!(task.name.as_deref(), Some("timer" | "in flight")) {
            return step.task;
        }
        let path = task.path.rsplit_once('.').map_or("0", |(parent, _)| parent);
        (0..).zip(&self.record.tasks).find(|(_, task)| task.path == path).map_or(step.task, |(i, _)| i)
    }

    /// What a step says, with processes by the names that they have here, and without what everybody knows: `Take("book", …)`.
    pub(crate) fn text(&self, step: u32) -> Option<String> {
        if cfg!(feature = "processes") { self.said_by(step) } else { None }
    }

    fn said_by(&self, step: u32) -> Option<String> {
        let said = self.mail().said(step)?;
        let mut text = String::with_capacity(said.len() + 16);
        let mut rest = said;
        // `<0.2>` is how a process shows itself.
        while let Some(at) = rest.find('<') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            let end = rest.find('>').unwrap_or(0);
            let path = rest.get(1..end).unwrap_or_default();
            let task = (0..).zip(&self.record.tasks).find(|(_, task)| task.path == path && !path.is_empty());
            match task {
                Some((task, _)) => {
                    text.push_str(&self.names.tag(task));
                    rest = &rest[end + 1..];
                }
                None => {
                    text.push('<');
                    rest = &rest[1..];
                }
            }
        }
        text.push_str(rest);
        // Who asks is who sends.
        let sender = self.names.tag(self.sender_task(&self.record.steps[step as usize]));
        Some(text.replace(&format!("reply to {sender}"), "…"))
    }
}
