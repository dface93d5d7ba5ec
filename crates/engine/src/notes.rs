//! What only the front end knows of an execution and a person wants to read: what messages say, who is tied to whom.
//!
//! To put messages into words is their types' own code and takes longer than to send them. So nothing is noted until somebody
//! is going to [read](crate::Limits::notes) it: then the execution is made once more, by its schedule. No choice depends on notes.

use std::collections::VecDeque;

use crate::engine::Engine;
use crate::id::{ResourceId, TaskId};
use crate::sorted::Map;
use crate::trace::Step;

/// Where in the operand of what happens at a node its place among all nodes is.
pub const NODE_AT: u32 = 32;
/// So many nodes can be told apart.
pub const MOST_NODES: u32 = (1 << 24) - 1;

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
    /// The tasks that stand for nodes of clusters, in the order of their creation.
    nodes: Vec<TaskId>,
    /// What has happened at nodes, in its order.
    happened: Vec<Happened>,
}

/// What has happened at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Happened {
    /// The step by which it has.
    pub step: u32,
    /// What sort of thing.
    pub what: Happening,
    /// The node that has sent it, or the one that a fault hits, by its place among all nodes.
    pub from: Option<u32>,
    /// What it says.
    pub text: Box<str>,
}

/// What sort of thing happens at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// A message arrives.
    Arrives,
    /// A message comes to nothing, or has to wait.
    IsLost,
    /// Something of its own: a timer fires.
    Own,
    /// A fault strikes.
    Fault,
    /// Nothing that is worth a word.
    Nothing,
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
            // Every cluster has nodes: their memory is kept.
            let mut nodes = std::mem::take(&mut self.nodes);
            nodes.clear();
            *self = Notes { nodes, ..Notes::default() };
        }
    }

    /// One more task stands for a node.
    pub(crate) fn add_node(&mut self, task: TaskId) {
        self.writing().nodes.push(task);
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

    /// The tasks that stand for nodes of clusters.
    pub fn nodes(&self) -> &[TaskId] {
        &self.nodes
    }

    /// The task that stands for the node at which a step has happened; or for whoever makes faults.
    pub fn node_of(&self, step: &Step) -> Option<TaskId> {
        let at = (step.arg >> NODE_AT) & u64::from(MOST_NODES);
        self.nodes.get(at as usize).copied().filter(|_| step.kind.happens())
    }

    /// What has happened at nodes, in its order.
    pub fn happened(&self) -> &[Happened] {
        &self.happened
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

    /// What has happened by the last step.
    pub fn note_happened(&mut self, what: Happening, from: Option<u32>, text: &str) {
        let step = (self.steps().len() as u32).saturating_sub(1);
        self.notes.writing().happened.push(Happened { step, what, from, text: text.into() });
    }

    /// Why a process ends.
    pub fn note_reason(&mut self, task: TaskId, reason: &str) {
        self.notes.writing().reasons.insert(task, reason.into());
    }
}
