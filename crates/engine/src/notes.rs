//! What only the front end knows of an execution and a person wants to read: what messages say, who is tied to whom.
//!
//! To put messages into words is their types' own code and takes longer than to send them. So nothing is noted until somebody
//! is going to [read](crate::Limits::notes) it: then the execution is made once more, by its schedule. No choice depends on notes.

use std::collections::VecDeque;

use crate::engine::Engine;
use crate::id::{ResourceId, TaskId};
use crate::sorted::Map;

/// The notes of one execution.
#[derive(Clone, Default, Debug)]
pub struct Notes {
    /// What is on its way, by mailbox and sender.
    posted: Map<(ResourceId, u64), VecDeque<Box<str>>>,
    /// What has arrived, by mailbox and number; an empty text where nothing was noted.
    arrived: Vec<Vec<Box<str>>>,
    /// Changes of who is tied to whom, in their order.
    ties: Vec<Tied>,
    /// What there is to say of steps that put nothing into a mailbox.
    said: Map<u32, Box<str>>,
    /// Why processes have ended.
    reasons: Map<TaskId, Box<str>>,
    /// Something was noted, or may have been.
    used: bool,
}

/// A link or a monitor that was made or has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tied {
    /// The step by which it was, or after which.
    pub step: u32,
    /// Who links or monitors.
    pub by: TaskId,
    /// With whom.
    pub with: TaskId,
    /// A link, and not a monitor.
    pub link: bool,
    /// Made, and not taken away.
    pub made: bool,
}

impl Notes {
    /// Forgets all. Mostly there is nothing to forget.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.used {
            *self = Notes::default();
        }
    }

    /// To be written to.
    fn writing(&mut self) -> &mut Notes {
        self.used = true;
        self
    }

    /// What arrived in a mailbox with this number.
    pub fn arrival(&self, process: ResourceId, number: u64) -> Option<&str> {
        let all = self.arrived.get(process.index())?;
        all.get(usize::try_from(number).ok()?).map(|text| &**text).filter(|text| !text.is_empty())
    }

    /// What a step says that has put nothing into a mailbox.
    pub fn said(&self, step: u32) -> Option<&str> {
        self.said.get(&step).map(|text| &**text)
    }

    /// Changes of who is tied to whom, in their order.
    pub fn ties(&self) -> &[Tied] {
        &self.ties
    }

    /// Why the process that `task` is has ended.
    pub fn reason(&self, task: TaskId) -> Option<&str> {
        self.reasons.get(&task).map(|text| &**text)
    }
}

impl Engine {
    /// Whether somebody is going to read what is noted.
    #[inline]
    pub fn wants_notes(&self) -> bool {
        self.limits().notes && !self.is_tearing_down()
    }

    /// Whose mailbox it is.
    pub fn mailbox_owner(&self, process: ResourceId) -> Option<TaskId> {
        Some(self.resources()[process.index()].inbox.as_deref()?.owner)
    }

    /// What was noted.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// `from` has posted this at a process; it arrives after what it has posted there before.
    pub fn note_posted(&mut self, process: ResourceId, from: u64, text: &str) {
        self.notes.writing().posted.at((process, from)).push_back(text.into());
    }

    /// What `from` has posted first has arrived, as number so and so.
    pub(crate) fn note_arrival(&mut self, process: ResourceId, from: u64, number: u64) {
        let notes = self.notes.writing();
        let text = notes.posted.get_mut(&(process, from)).and_then(VecDeque::pop_front);
        let all = &mut notes.arrived;
        all.resize_with(all.len().max(process.index() + 1), Vec::new);
        // They are numbered without gaps.
        debug_assert_eq!(all[process.index()].len() as u64, number);
        all[process.index()].push(text.unwrap_or_default());
    }

    /// A link or a monitor is made or goes, after the last step.
    pub fn note_tie(&mut self, by: TaskId, with: TaskId, link: bool, made: bool) {
        let step = (self.steps().len() as u32).saturating_sub(1);
        self.notes.writing().ties.push(Tied { step, by, with, link, made });
    }

    /// What the last step says, which puts nothing into a mailbox.
    pub fn note_said(&mut self, text: &str) {
        let step = (self.steps().len() as u32).saturating_sub(1);
        self.notes.writing().said.insert(step, text.into());
    }

    /// Why a process ends.
    pub fn note_reason(&mut self, task: TaskId, reason: &str) {
        self.notes.writing().reasons.insert(task, reason.into());
    }
}
