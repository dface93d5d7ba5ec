//! What is left when the execution is over: what is in mailboxes, who is tied to whom, what was lost.

use drawloom_engine::sorted::{sort, sort_by_key};

use super::Told;

/// A process in the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Standing {
    pub(crate) task: u32,
    /// Why it has ended, if it has.
    pub(crate) reason: Option<String>,
    /// The steps that have put what is in its mailbox.
    pub(crate) mailbox: Vec<u32>,
    /// To whom it is linked, by their names.
    pub(crate) links: Vec<String>,
    /// Whom it monitors.
    pub(crate) monitors: Vec<String>,
}

/// Each process in the end, in the order of tasks.
pub(crate) fn standing(told: Told<'_>) -> Vec<Standing> {
    if cfg!(feature = "processes") { stand(told) } else { Vec::new() }
}

fn stand(told: Told<'_>) -> Vec<Standing> {
    let record = told.record;
    let mut links: Vec<(u32, u32)> = Vec::new();
    let mut monitors: Vec<(u32, u32)> = Vec::new();
    let ties = &record.processes.ties;
    for tie in ties {
        let by_the_user = record.steps[tie.step as usize].place.is_some();
        match (tie.link, tie.made) {
            (true, true) => links.extend([(tie.by, tie.with), (tie.with, tie.by)]),
            (true, false) => links.retain(|pair| *pair != (tie.by, tie.with) && *pair != (tie.with, tie.by)),
            // A call monitors whom it calls: that is not worth a word.
            (false, true) if by_the_user => monitors.push((tie.by, tie.with)),
            (false, true) => {}
            (false, false) => {
                if let Some(at) = monitors.iter().position(|pair| *pair == (tie.by, tie.with)) {
                    monitors.remove(at);
                }
            }
        }
    }
    let is_there = |task: u32| told.mail().end_of(task).is_none();
    let of = |pairs: &[(u32, u32)], task: u32| -> Vec<String> {
        let mut others: Vec<u32> = pairs
            .iter()
            .filter(|(by, with)| *by == task && is_there(*by) && is_there(*with))
            .map(|(_, with)| *with)
            .collect();
        sort(&mut others);
        others.dedup();
        others.into_iter().map(|other| told.names.tag(other)).collect()
    };
    record
        .processes
        .all
        .iter()
        .map(|process| Standing {
            task: process.task,
            reason: told.mail().end_of(process.task).map(|_| process.reason.clone().unwrap_or_default()),
            mailbox: process.left.clone(),
            links: of(&links, process.task),
            monitors: of(&monitors, process.task),
        })
        .collect()
}

/// A message that nobody will ever receive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lost {
    /// The step that sent it.
    pub(crate) step: u32,
    /// Who did.
    pub(crate) from: String,
    /// To whom.
    pub(crate) to: u32,
    pub(crate) text: String,
    /// Whether its receiver had ended when it was sent.
    pub(crate) late: bool,
}

/// Messages to processes that had ended, or ended before they received them. What happens when a process ends is none.
pub(crate) fn lost(told: Told<'_>) -> Vec<Lost> {
    if cfg!(feature = "processes") { lost_messages(told) } else { Vec::new() }
}

fn lost_messages(told: Told<'_>) -> Vec<Lost> {
    let (record, mail) = (told.record, told.mail());
    let mut lost = Vec::new();
    for process in &record.processes.all {
        let Some(end) = mail.end_of(process.task) else { continue };
        for &step in process.left.iter().filter(|step| record.operation(&record.steps[**step as usize]) == "send") {
            // A reply to somebody who has gone away is what happens to replies.
            let text = told.text(step).unwrap_or_default();
            if text.starts_with("reply") || text == "a reply" {
                continue;
            }
            let from = told.sender(&record.steps[step as usize]);
            lost.push(Lost { step, from, to: process.task, text, late: end < step });
        }
    }
    sort_by_key(&mut lost, |lost| lost.step);
    lost
}
