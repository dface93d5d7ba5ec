//! FIFO channel: unbounded, bounded, rendezvous.
//!
//! Sends and receives take numbered tickets. Receive j completes when send j exists; send i
//! completes when receive i − capacity exists (capacity 0: when its own message is taken). The
//! messages themselves stay with the front end, in the order of their tickets.

use crate::engine::{Committed, Engine};
use crate::id::{ResourceId, TaskId};
use crate::operation::{OpKind, outcome};
use crate::resource::State;
use crate::trace::Step;

/// Capacity of a channel that never fills.
pub const UNBOUNDED: u64 = u64::MAX;

/// The counters of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelState {
    /// Messages it holds before a send waits.
    pub capacity: u64,
    /// Send tickets given.
    pub sent: u64,
    /// Receive tickets given.
    pub received: u64,
    /// Live sending ends.
    pub senders: u64,
    /// Live receiving ends.
    pub receivers: u64,
}

impl ChannelState {
    /// An open channel with one end on each side.
    pub fn new(capacity: u64) -> Self {
        ChannelState { capacity, sent: 0, received: 0, senders: 1, receivers: 1 }
    }

    /// Whether a send of ticket `i` needs not wait.
    pub(crate) fn has_room(&self, i: u64) -> bool {
        self.capacity == UNBOUNDED || i < self.received.saturating_add(self.capacity)
    }
}

impl Engine {
    pub(crate) fn channel(&mut self, id: ResourceId) -> &mut ChannelState {
        match &mut self.resources[id.index()].state {
            State::Channel(state) => state,
            other => unreachable!("a channel operation on {other:?}"),
        }
    }

    pub(crate) fn commit_send(&mut self, task: TaskId, id: ResourceId, wait: bool) -> Committed {
        let channel = *self.channel(id);
        let ticket = channel.sent;
        // Refused or not: the dependence table compares tickets, and 0 would be another one's.
        self.note_value(ticket);
        if channel.receivers == 0 {
            return Committed::Done(outcome::DISCONNECTED);
        }
        let room = channel.has_room(ticket);
        if !wait && !room {
            return Committed::Done(outcome::REFUSED);
        }
        self.channel(id).sent += 1;
        // A receiver that waits for this ticket has it now; it is the first of the queue.
        if let Some(receiver) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
            self.grant(receiver, outcome::OK);
        }
        if room {
            return Committed::Done(outcome::OK);
        }
        self.resources[id.index()].senders.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_recv(&mut self, task: TaskId, id: ResourceId, wait: bool) -> Committed {
        let channel = *self.channel(id);
        let ticket = channel.received;
        self.note_value(ticket);
        let there = ticket < channel.sent;
        if !there && channel.senders == 0 {
            return Committed::Done(outcome::DISCONNECTED);
        }
        if !wait && !there {
            return Committed::Done(outcome::REFUSED);
        }
        self.channel(id).received += 1;
        // The room that this receive makes belongs to the longest waiting sender.
        if let Some(sender) = self.resources[id.index()].senders.pop(&mut self.tasks) {
            self.grant(sender, outcome::OK);
        }
        if there {
            return Committed::Done(outcome::OK);
        }
        self.resources[id.index()].waiters.push(task, &mut self.tasks);
        self.wait(task)
    }

    pub(crate) fn commit_close_send(&mut self, id: ResourceId) -> Committed {
        let channel = self.channel(id);
        channel.senders -= 1;
        if channel.senders > 0 {
            return Committed::Done(outcome::OK);
        }
        // Receivers still waiting hold tickets for messages that will never be sent.
        while let Some(receiver) = self.resources[id.index()].waiters.pop(&mut self.tasks) {
            self.channel(id).received -= 1;
            self.grant(receiver, outcome::DISCONNECTED);
        }
        Committed::Done(outcome::DISCONNECTED)
    }

    pub(crate) fn commit_close_recv(&mut self, id: ResourceId) -> Committed {
        let channel = self.channel(id);
        channel.receivers -= 1;
        if channel.receivers > 0 {
            return Committed::Done(outcome::OK);
        }
        while let Some(sender) = self.resources[id.index()].senders.pop(&mut self.tasks) {
            self.grant(sender, outcome::DISCONNECTED);
        }
        Committed::Done(outcome::DISCONNECTED)
    }

    /// Another sending end exists. No step: an end is only ever made from a live one.
    pub fn add_sender(&mut self, id: ResourceId) {
        self.channel(id).senders += 1;
    }

    /// Whose send has `ticket`: who holds the message of a rendezvous that was not waited for.
    pub fn sender_of(&self, id: ResourceId, ticket: u64) -> Option<TaskId> {
        let sent = |step: &&Step| {
            step.resource == id
                && step.value == ticket
                && matches!(step.kind, OpKind::Send | OpKind::TrySend)
                && u32::from(step.outcome) == outcome::OK
        };
        self.steps.iter().rev().find(sent).map(|step| step.task)
    }

    /// A send gave up waiting for room: its ticket goes back. (No later one can have been served.)
    pub(crate) fn return_send_ticket(&mut self, id: ResourceId) {
        self.channel(id).sent -= 1;
    }

    /// A receive gave up waiting: its ticket goes back.
    pub(crate) fn return_recv_ticket(&mut self, id: ResourceId) {
        self.channel(id).received -= 1;
    }
}
