//! What has happened, for the report: the first events of a run, with their messages.

use std::fmt::Debug;

use crate::id::NodeId;

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
        let at = name(*at);
        Some(match what {
            What::Message { from, message, lost: None } => format!("{} → {at}: {message:?}", name(*from)),
            What::Message { from, message, lost: Some(why) } => {
                format!("{} → {at}: {message:?} is lost: {why}", name(*from))
            }
            What::Timer(tag) => format!("{at}: timer {tag} fires"),
            What::NoTimer => format!("{at}: a timer that was cancelled"),
            What::Fault(what) => format!("{at}: {what}"),
            What::Rejected { to, message } => format!("{at}: {message:?} to {} is rejected", name(*to)),
        })
    }
}
