//! What has happened, for the report: the first events of a run, with their messages.

use std::fmt::Debug;

use crate::host::Happening;
use crate::id::NodeId;
use crate::stream::Chunk;

/// So many events are kept with what they were about.
const KEPT: usize = 1_000;

/// What has happened at a node.
#[derive(Clone, Debug)]
pub(crate) enum What<M> {
    Message { from: NodeId, message: M, lost: Option<&'static str> },
    Timer(u64),
    NoTimer,
    Fault(Box<str>),
    Rejected { to: NodeId, message: M },
    Chunk { from: NodeId, chunk: Chunk<M>, lost: Option<&'static str> },
    Held { from: NodeId },
    Released,
    Falters,
}

/// The first events of a run.
pub(crate) struct Log<M> {
    events: Vec<(NodeId, What<M>)>,
}

impl<M> Log<M> {
    pub(crate) fn new() -> Self {
        Log { events: Vec::new() }
    }

    #[inline]
    pub(crate) fn note(&mut self, at: NodeId, what: impl FnOnce() -> What<M>) {
        if self.events.len() < KEPT {
            self.events.push((at, what()));
        }
    }
}

impl<M: Debug> Log<M> {
    /// What the `number`-th event was, in words.
    pub(crate) fn tell(&self, number: usize, name: &dyn Fn(NodeId) -> String) -> Option<String> {
        let (at, what) = self.events.get(number)?;
        Some(what.tell(*at, name))
    }
}

impl<M: Debug> What<M> {
    /// It in words.
    fn tell(&self, at: NodeId, name: &dyn Fn(NodeId) -> String) -> String {
        let at = name(at);
        match self {
            What::Message { from, message, lost: None } => format!("{} → {at}: {message:?}", name(*from)),
            What::Message { from, message, lost: Some(why) } => {
                format!("{} → {at}: {message:?} is lost: {why}", name(*from))
            }
            What::Timer(tag) => format!("{at}: timer {tag} fires"),
            What::NoTimer => format!("{at}: a timer that was cancelled"),
            What::Fault(what) => format!("{at}: {what}"),
            What::Rejected { to, message } => format!("{at}: {message:?} to {} is rejected", name(*to)),
            What::Chunk { from, chunk, lost: None } => format!("{} ⇢ {at}: {chunk:?}", name(*from)),
            What::Chunk { from, chunk, lost: Some(why) } => {
                format!("{} ⇢ {at}: {chunk:?} is lost: {why}", name(*from))
            }
            What::Held { from } => format!("{} ⇢ {at}: it waits", name(*from)),
            What::Falters => format!("{at}: it will break off in the midst of an event"),
            What::Released => format!("{at}: the rule of the test lets messages go"),
        }
    }

    /// Its parts: of what sort it is, from whom (a fault: whom it hits), and what it says.
    pub(crate) fn parts(&self, at: NodeId, name: &dyn Fn(NodeId) -> String) -> (Happening, Option<NodeId>, String) {
        match self {
            What::Message { from, message, lost: None } => (Happening::Arrived, Some(*from), format!("{message:?}")),
            What::Message { from, message, lost: Some(why) } => {
                (Happening::Lost, Some(*from), format!("{message:?}  ✗ {why}"))
            }
            What::Chunk { from, chunk, lost: None } => (Happening::Arrived, Some(*from), format!("⇢ {chunk:?}")),
            What::Chunk { from, chunk, lost: Some(why) } => {
                (Happening::Lost, Some(*from), format!("⇢ {chunk:?}  ✗ {why}"))
            }
            What::Held { from } => (Happening::Lost, Some(*from), "⇢ it waits".to_owned()),
            What::Timer(tag) => (Happening::Fired, None, format!("timer {tag} fires")),
            What::NoTimer | What::Released | What::Falters => (Happening::Nothing, None, String::new()),
            What::Fault(what) => (Happening::Struck, Some(at), what.to_string()),
            What::Rejected { to, message } => {
                (Happening::Fired, None, format!("{message:?} to {} is rejected", name(*to)))
            }
        }
    }
}
