//! Who decides.

use std::panic::Location;

use crate::event::Event;
use crate::id::NodeId;

/// Events that happen one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueId(pub u32);

/// The kind of an event at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// A message has arrived.
    Arrived,
    /// A message is lost, or has to wait.
    Lost,
    /// A timer has fired.
    Fired,
    /// A fault has struck.
    Struck,
    /// Nothing: a timer that had been cancelled.
    Nothing,
}

/// The source place of the message or timer, if it has one.
pub type Place = Option<&'static Location<'static>>;

/// The part that decides which event is next: an exploration, a test that tries everything, or a plain loop.
///
/// A host learns of each event when it becomes possible, and chooses among the possible ones in any order that keeps two rules: an event
/// happens after it was posted, and the events of a queue happen in turn.
pub trait Host {
    /// The cluster has one more node. Its events do not commute with those of `with`, an earlier one, nor of others that have been added so.
    fn add_node(&mut self, node: NodeId, name: &str, with: Option<NodeId>);

    /// One of `outcomes`, before anything happens.
    fn choose(&mut self, outcomes: u64) -> u64;

    /// One of `outcomes`, in the midst of what happens at a node: nothing else happens meanwhile.
    fn choose_within(&mut self, outcomes: u64) -> u64;

    /// From now on `event` may happen at the node `at`. What happens at `by` has brought it about.
    fn post(&mut self, by: NodeId, at: NodeId, event: Event, place: Place);

    /// Events that happen one after another; `by` has brought them about.
    fn queue(&mut self, by: NodeId) -> QueueId;

    /// From now on `event` may happen at the node `at`, once all that was posted in this queue before has happened.
    fn post_in_turn(&mut self, queue: QueueId, at: NodeId, event: Event, place: Place);

    /// Whether somebody wants to read what happens.
    fn wants_notes(&self) -> bool {
        false
    }

    /// What the last event was, in words; from whom a message is, and whom a fault hits.
    fn note(&mut self, what: Happening, from: Option<NodeId>, text: &str) {
        let _ = (what, from, text);
    }

    /// What is wrong with what the code of a node has done last, if anything.
    fn refuses(&mut self) -> Option<String> {
        None
    }

    /// Some of what is posted are faults.
    fn expect_faults(&mut self) {}

    /// What happens next; `None` if nothing is left that could.
    fn next(&mut self) -> Option<Event>;
}
