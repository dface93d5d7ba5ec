//! What both ends of a controlled channel share: its identity and its messages.
//!
//! The engine decides who sends, receives and waits; the messages stay here, in the order of their
//! tickets. A message enters the queue when its send is over. Only in a rendezvous is one taken
//! earlier, while its sender still waits: such a message is laid out as an [`Offer`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drawloom_engine::ChannelState;

use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Site, Slot, State, TaskId, outcome};

/// An end of a channel, made outside an exploration or inside.
pub(super) enum Flavor<N, C> {
    Native(N),
    Controlled(C),
}

pub(super) struct Channel<T> {
    slot: Slot,
    capacity: u64,
    /// Held for a moment at a time, and never while user code runs or a task is suspended.
    contents: Mutex<Contents<T>>,
}

struct Contents<T> {
    queue: VecDeque<T>,
    /// Messages of waiting sends, by sender.
    offers: Vec<(TaskId, T)>,
    senders: u64,
    has_receiver: bool,
}

/// Why there is no message.
pub(super) enum Nothing {
    Empty,
    TimedOut,
    Disconnected,
}

/// Why a message came back.
pub(super) enum Returned<T> {
    Full(T),
    Disconnected(T),
}

/// How long a receive waits.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    None,
    /// Nanoseconds of virtual time.
    Until(u64),
    Endless,
}

impl<T> Channel<T> {
    /// A new channel, twice: one for each end.
    #[track_caller]
    pub(super) fn ends(capacity: u64) -> (Arc<Self>, Arc<Self>) {
        let contents = Contents { queue: VecDeque::new(), offers: Vec::new(), senders: 1, has_receiver: true };
        let channel = Arc::new(Channel { slot: Slot::new(), capacity, contents: Mutex::new(contents) });
        (channel.clone(), channel)
    }

    fn contents(&self) -> MutexGuard<'_, Contents<T>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Channel, || {
            let contents = self.contents();
            State::Channel(ChannelState {
                sent: contents.queue.len() as u64,
                senders: contents.senders,
                receivers: u64::from(contents.has_receiver),
                ..ChannelState::new(self.capacity)
            })
        })
    }

    fn operation(&self, kind: OpKind, id: ResourceId, site: Site) -> Operation {
        Operation::new(kind, id, site).with_arg(self.capacity)
    }

    // ── sending ──────────────────────────────────────────────────────────────────────────────────

    pub(super) fn send(&self, message: T, wait: bool, site: Site) -> Result<(), Returned<T>> {
        let Some(rt) = rt::current() else {
            return self.send_unscheduled(message, wait);
        };
        let id = self.resource(rt);
        if wait && self.capacity == 0 {
            return self.offer(rt, id, message, site);
        }
        let kind = if wait { OpKind::Send } else { OpKind::TrySend };
        match rt.step(self.operation(kind, id, site)) {
            outcome::OK => {
                self.contents().queue.push_back(message);
                Ok(())
            }
            outcome::REFUSED => Err(Returned::Full(message)),
            _ => Err(Returned::Disconnected(message)),
        }
    }

    /// Sends to a channel without room: the receiver takes the message while we wait.
    fn offer(&self, rt: Handle, id: ResourceId, message: T, site: Site) -> Result<(), Returned<T>> {
        let task = rt.running();
        self.contents().offers.push((task, message));
        let offer = Offer { channel: self, task };
        match rt.step(self.operation(OpKind::Send, id, site)) {
            outcome::OK => {
                // Still there if the receiver was waiting: it goes on after us.
                if let Some(message) = offer.withdraw() {
                    self.contents().queue.push_back(message);
                }
                Ok(())
            }
            // One that was taken is not given back, whatever became of the wait.
            _ => offer.withdraw().map_or(Ok(()), |message| Err(Returned::Disconnected(message))),
        }
    }

    fn send_unscheduled(&self, message: T, wait: bool) -> Result<(), Returned<T>> {
        let mut contents = self.contents();
        if !contents.has_receiver {
            Err(Returned::Disconnected(message))
        } else if !wait && contents.queue.len() as u64 >= self.capacity {
            Err(Returned::Full(message))
        } else {
            contents.queue.push_back(message);
            Ok(())
        }
    }

    // ── receiving ────────────────────────────────────────────────────────────────────────────────

    pub(super) fn receive(&self, patience: Patience, site: Site) -> Result<T, Nothing> {
        let Some(rt) = rt::current() else {
            return self.receive_unscheduled(patience);
        };
        let id = self.resource(rt);
        let result = match patience {
            Patience::None => rt.step(self.operation(OpKind::TryRecv, id, site)),
            Patience::Until(nanos) => rt.step_with_timeout(self.operation(OpKind::Recv, id, site), nanos),
            Patience::Endless => rt.step(self.operation(OpKind::Recv, id, site)),
        };
        match result {
            outcome::OK => self.take(rt, id).ok_or(Nothing::Disconnected),
            outcome::REFUSED => Err(Nothing::Empty),
            outcome::TIMED_OUT => Err(Nothing::TimedOut),
            _ => Err(Nothing::Disconnected),
        }
    }

    /// The message of the receive that was just granted. None in teardown, if its sender is gone.
    fn take(&self, rt: Handle, id: ResourceId) -> Option<T> {
        let mut contents = self.contents();
        if let Some(message) = contents.queue.pop_front() {
            return Some(message);
        }
        // A rendezvous that did not wait: ours is the last step, and its ticket names the sender.
        let sender = rt.with_engine(|engine| {
            let ticket = engine.steps().last()?.value;
            engine.sender_of(id, ticket)
        })?;
        contents.withdraw(sender)
    }

    fn receive_unscheduled(&self, patience: Patience) -> Result<T, Nothing> {
        let mut contents = self.contents();
        match (contents.queue.pop_front(), patience) {
            (Some(message), _) => Ok(message),
            (None, _) if contents.senders == 0 => Err(Nothing::Disconnected),
            (None, Patience::None) => Err(Nothing::Empty),
            (None, Patience::Until(_)) => Err(Nothing::TimedOut),
            // It would wait for ever.
            (None, Patience::Endless) => Err(Nothing::Disconnected),
        }
    }

    // ── ends that come and go ────────────────────────────────────────────────────────────────────

    /// Counts another sending end. No step.
    pub(super) fn add_sender(&self) {
        self.contents().senders += 1;
        if let Some(rt) = rt::current().filter(|rt| self.slot.is_known(*rt)) {
            let id = self.resource(rt);
            rt.with_engine(|engine| engine.add_sender(id));
        }
    }

    pub(super) fn drop_sender(&self, site: Site) {
        if let Some(rt) = rt::current() {
            let id = self.resource(rt);
            rt.step(self.operation(OpKind::CloseSend, id, site));
        }
        self.contents().senders -= 1;
    }

    /// Closes the channel and drops what was not received.
    pub(super) fn drop_receiver(&self, site: Site) {
        if let Some(rt) = rt::current() {
            let id = self.resource(rt);
            rt.step(self.operation(OpKind::CloseRecv, id, site));
        }
        let mut contents = self.contents();
        contents.has_receiver = false;
        let unreceived = std::mem::take(&mut contents.queue);
        drop(contents);
        drop(unreceived);
    }
}

impl<T> Contents<T> {
    fn withdraw(&mut self, sender: TaskId) -> Option<T> {
        let at = self.offers.iter().position(|(task, _)| *task == sender)?;
        Some(self.offers.remove(at).1)
    }
}

/// A message laid out for a rendezvous; taken back when its sender is unwound.
struct Offer<'a, T> {
    channel: &'a Channel<T>,
    task: TaskId,
}

impl<T> Offer<'_, T> {
    fn withdraw(&self) -> Option<T> {
        self.channel.contents().withdraw(self.task)
    }
}

impl<T> Drop for Offer<'_, T> {
    fn drop(&mut self) {
        drop(self.withdraw());
    }
}
