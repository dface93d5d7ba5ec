//! Channels of 64-bit words. The engine counts and grants; the messages are here, or in a ring that the caller lends.

use std::collections::VecDeque;

use drawloom_engine::{ChannelState, OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId, outcome};
use drawloom_fiber::Seen;

use crate::execution::{Data, Here, here};
use crate::handle::Kind;
use crate::place::{drawloom_loc, site};
use crate::select::Watchers;
use crate::status::*;

/// A channel without bound.
pub const DRAWLOOM_UNBOUNDED: u64 = u64::MAX;

/// Storage of the caller's for the messages of a channel: then a tracing collector sees them. The pointers must stay valid until
/// the execution is over.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct drawloom_ring {
    /// `sizeof(drawloom_ring)`.
    pub size: usize,
    /// As many words as the channel has capacity.
    pub slots: *mut u64,
    /// How many of them are messages.
    pub count: *mut u64,
    /// Where the oldest is.
    pub head: *mut u64,
    /// Where the next goes.
    pub tail: *mut u64,
}

pub(crate) struct Channel {
    capacity: u64,
    ring: Option<drawloom_ring>,
    /// What is in no ring.
    queue: VecDeque<u64>,
    /// Of a rendezvous: messages whose senders wait.
    offers: Vec<(TaskId, u64)>,
    /// Senders that nobody owns, and what their number is to the engine once somebody has counted.
    unowned: u64,
    counted: ResourceId,
    /// Selects that wait for a message, and for room.
    pub(crate) receivers: Watchers,
    pub(crate) senders: Watchers,
}

impl Channel {
    /// Puts a message in whose send has succeeded.
    #[inline(always)]
    fn push(&mut self, message: u64) {
        match self.ring.filter(|_| self.queue.is_empty()) {
            None => self.queue.push_back(message),
            Some(ring) => self.push_into(ring, message),
        }
    }

    fn push_into(&mut self, ring: drawloom_ring, message: u64) {
        // SAFETY: whoever lent the ring vouches for its pointers and for as many slots as the channel has capacity; tasks run one
        // at a time.
        unsafe {
            if *ring.count >= self.capacity || *ring.tail >= self.capacity {
                // Somebody else has written to it.
                self.queue.push_back(message);
                return;
            }
            *ring.slots.add(*ring.tail as usize) = message;
            *ring.tail = (*ring.tail + 1) % self.capacity;
            *ring.count += 1;
        }
    }

    /// The message of a receive that has succeeded.
    #[inline(always)]
    fn pop(&mut self) -> Option<u64> {
        match self.ring {
            None => self.queue.pop_front(),
            Some(ring) => self.pop_from(ring),
        }
    }

    fn pop_from(&mut self, ring: drawloom_ring) -> Option<u64> {
        // SAFETY: as in `push_into`.
        unsafe {
            if *ring.count == 0 || *ring.head >= self.capacity {
                return self.queue.pop_front();
            }
            let message = *ring.slots.add(*ring.head as usize);
            *ring.head = (*ring.head + 1) % self.capacity;
            *ring.count -= 1;
            Some(message)
        }
    }

    pub(crate) fn is_rendezvous(&self) -> bool {
        self.capacity == 0
    }

    fn withdraw(&mut self, sender: TaskId) -> Option<u64> {
        let at = self.offers.iter().position(|(task, _)| *task == sender)?;
        Some(self.offers.remove(at).1)
    }
}

impl Here {
    /// The channel that `handle` stands for.
    #[inline(always)]
    pub(crate) fn channel(&self, handle: drawloom_handle, site: Site) -> (&mut Channel, ResourceId) {
        let object = self.object(handle, Kind::Channel, site);
        let id = object.resource;
        match &mut object.data {
            Data::Channel(channel) => (channel, id),
            _ => unreachable!("a channel has its messages"),
        }
    }

    #[inline(always)]
    pub(crate) fn send(
        &self,
        handle: drawloom_handle,
        message: u64,
        waits: Option<u64>,
        site: Site,
    ) -> drawloom_status {
        let (channel, id) = self.channel(handle, site);
        let capacity = channel.capacity;
        if let (0, Some(nanos)) = (capacity, waits) {
            return self.offer(handle, id, message, nanos, site);
        }
        let operation = |kind| Operation::new(kind, id, site).with_arg(capacity);
        let came_to = match waits {
            Some(u64::MAX) => self.control().step(operation(OpKind::Send)),
            None => self.control().step(operation(OpKind::TrySend)),
            Some(nanos) => self.control().step_within(operation(OpKind::Send), nanos),
        };
        match came_to {
            outcome::OK => {
                let (channel, _) = self.channel(handle, site);
                channel.push(message);
                if !channel.receivers.is_empty() {
                    self.wake(handle, false, site);
                }
                DRAWLOOM_OK
            }
            outcome::REFUSED => DRAWLOOM_FULL,
            outcome::TIMED_OUT => DRAWLOOM_TIMED_OUT,
            _ => DRAWLOOM_CLOSED,
        }
    }

    /// Sends to a channel without room: the receiver takes the message while the sender waits.
    fn offer(&self, handle: drawloom_handle, id: ResourceId, message: u64, nanos: u64, site: Site) -> drawloom_status {
        let me = self.running();
        self.channel(handle, site).0.offers.push((me, message));
        let send = Operation::new(OpKind::Send, id, site).with_arg(0);
        let came_to = match nanos {
            u64::MAX => self.control().step(send),
            nanos => self.control().step_within(send, nanos),
        };
        let (channel, _) = self.channel(handle, site);
        match (came_to, channel.withdraw(me)) {
            // Still there if the receiver was waiting: it goes on after us.
            (outcome::OK, offered) => {
                offered.into_iter().for_each(|message| channel.push(message));
                DRAWLOOM_OK
            }
            (_, None) => DRAWLOOM_OK,
            (outcome::TIMED_OUT, Some(_)) => DRAWLOOM_TIMED_OUT,
            (_, Some(_)) => DRAWLOOM_CLOSED,
        }
    }

    #[inline(always)]
    pub(crate) fn receive(
        &self,
        handle: drawloom_handle,
        message: *mut u64,
        waits: Option<u64>,
        site: Site,
    ) -> drawloom_status {
        let (channel, id) = self.channel(handle, site);
        let operation = |kind| Operation::new(kind, id, site).with_arg(channel.capacity);
        let came_to = match waits {
            Some(u64::MAX) => self.control().step(operation(OpKind::Recv)),
            None => self.control().step(operation(OpKind::TryRecv)),
            Some(nanos) => self.control().step_within(operation(OpKind::Recv), nanos),
        };
        match came_to {
            outcome::OK => {
                let (channel, _) = self.channel(handle, site);
                let taken = channel.pop().or_else(|| self.taken_by_hand(handle, id, site));
                if !message.is_null() {
                    // SAFETY: the caller vouches for the pointer, which is not null.
                    unsafe { *message = taken.unwrap_or(0) };
                }
                if !self.channel(handle, site).0.senders.is_empty() {
                    self.wake(handle, true, site);
                }
                DRAWLOOM_OK
            }
            outcome::REFUSED => DRAWLOOM_EMPTY,
            outcome::TIMED_OUT => DRAWLOOM_TIMED_OUT,
            _ => DRAWLOOM_CLOSED,
        }
    }

    /// A rendezvous that did not wait: ours is the last step, and its ticket names the sender.
    #[cold]
    fn taken_by_hand(&self, handle: drawloom_handle, id: ResourceId, site: Site) -> Option<u64> {
        let sender = self.control().engine(|engine| {
            let ticket = engine.steps().last()?.value;
            engine.sender_of(id, ticket)
        })?;
        self.channel(handle, site).0.withdraw(sender)
    }
}

/// A channel that holds `capacity` messages: 0 for a rendezvous, `DRAWLOOM_UNBOUNDED` for one that never fills. It has one
/// sender. `ring` may be null.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_new(
    capacity: u64,
    ring: *const drawloom_ring,
    at: *const drawloom_loc,
) -> drawloom_handle {
    let Ok(here) = here() else { return 0 };
    // SAFETY: the caller vouches for the pointer if it is not null.
    let ring = unsafe { ring.as_ref() }.copied();
    let is_lent = |ring: &drawloom_ring| {
        let pointers = [ring.slots, ring.count, ring.head, ring.tail];
        ring.size == size_of::<drawloom_ring>() && pointers.iter().all(|pointer| !pointer.is_null())
    };
    let can_be_lent = capacity > 0 && capacity != DRAWLOOM_UNBOUNDED;
    if ring.as_ref().is_some_and(|ring| !is_lent(ring) || !can_be_lent) {
        here.misuse("misuse: a ring needs its size, all of its pointers, and a channel with a bound".into(), site(at));
    }
    let channel = Channel {
        capacity,
        ring,
        queue: VecDeque::new(),
        offers: Vec::new(),
        unowned: 1,
        counted: ResourceId::NONE,
        receivers: Watchers::default(),
        senders: Watchers::default(),
    };
    let state = State::Channel(ChannelState::new(capacity));
    here.add(Kind::Channel, ResourceKind::Channel, state, Data::Channel(Box::new(channel)), site(at))
}

/// Sends a message, and waits for room.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_send(chan: drawloom_handle, message: u64, at: *const drawloom_loc) -> drawloom_status {
    match here() {
        Ok(here) => here.send(chan, message, Some(u64::MAX), site(at)),
        Err(why) => why,
    }
}

/// The same, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_send_for(
    chan: drawloom_handle,
    message: u64,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    match here() {
        Ok(here) => here.send(chan, message, Some(nanos.min(u64::MAX - 1)), site(at)),
        Err(why) => why,
    }
}

/// Sends a message if there is room: else `DRAWLOOM_FULL`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_try_send(
    chan: drawloom_handle,
    message: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    match here() {
        Ok(here) => here.send(chan, message, None, site(at)),
        Err(why) => why,
    }
}

/// Receives a message into `*message`, and waits for one. A closed channel gives what is in it first. `message` may be null.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_recv(
    chan: drawloom_handle,
    message: *mut u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    match here() {
        Ok(here) => here.receive(chan, message, Some(u64::MAX), site(at)),
        Err(why) => why,
    }
}

/// The same, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_recv_for(
    chan: drawloom_handle,
    message: *mut u64,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    match here() {
        Ok(here) => here.receive(chan, message, Some(nanos.min(u64::MAX - 1)), site(at)),
        Err(why) => why,
    }
}

/// Receives a message if there is one: else `DRAWLOOM_EMPTY`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_try_recv(
    chan: drawloom_handle,
    message: *mut u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    match here() {
        Ok(here) => here.receive(chan, message, None, site(at)),
        Err(why) => why,
    }
}

/// Closes the channel: nothing is sent any more, and what was sent can still be received. Who waits is told.
/// `DRAWLOOM_CLOSED` if it was closed before.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_close(chan: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let (channel, id) = here.channel(chan, site(at));
    let operation = Operation::new(OpKind::Close, id, site(at)).with_arg(channel.capacity);
    if here.control().step(operation) == outcome::REFUSED {
        return DRAWLOOM_CLOSED;
    }
    here.wake_all(chan, site(at));
    DRAWLOOM_OK
}

/// Another task will send. No step: whoever passes a sender on has one.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_acquire(chan: drawloom_handle) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let (_, id) = here.channel(chan, Site::UNKNOWN);
    here.control().engine(|engine| engine.add_sender(id));
    DRAWLOOM_OK
}

/// One of those who send goes away; with the last one the channel is closed, which is `DRAWLOOM_CLOSED`: what was sent can still
/// be received. To give back more than there were is a finding, and so nobody sends who has given back: a runtime that cannot
/// vouch for that has `drawloom_chan_disown`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_release(chan: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let (channel, id) = here.channel(chan, site(at));
    let operation = Operation::new(OpKind::CloseSend, id, site(at)).with_arg(channel.capacity);
    match here.control().step(operation) {
        outcome::DISCONNECTED => {
            here.wake_all(chan, site(at));
            DRAWLOOM_CLOSED
        }
        outcome::REFUSED if here.is_closed_for_all(id) => DRAWLOOM_CLOSED,
        outcome::REFUSED => {
            here.misuse("misuse: a channel's sender is released more often than it was acquired".into(), site(at))
        }
        _ => DRAWLOOM_OK,
    }
}

impl Here {
    /// Whether a channel was closed by [`drawloom_chan_close`].
    fn is_closed_for_all(&self, channel: ResourceId) -> bool {
        self.control().engine(
            |engine| matches!(&engine.resources()[channel.index()].state, State::Channel(state) if state.receivers == 0),
        )
    }

    /// Counts the senders that nobody owns, by a step; how many there are then, and whether this one changed that.
    fn count_unowned(&self, chan: drawloom_handle, comes: bool, site: Site) -> (u64, bool) {
        let known = self.channel(chan, site).0.counted;
        let counted = match known {
            ResourceId::NONE => {
                let made = self.control().create(ResourceKind::Object, State::Plain, site);
                self.channel(chan, site).0.counted = made;
                made
            }
            known => known,
        };
        self.control().access(Operation::new(OpKind::Rmw, counted, site), || {
            let senders = &mut self.channel(chan, site).0.unowned;
            let before = *senders;
            *senders = if comes { before + 1 } else { before.saturating_sub(1) };
            let seen = Seen { value: before, other: *senders, outcome: outcome::OK };
            ((*senders, *senders != before), seen)
        })
    }
}

/// As `drawloom_chan_acquire`, of a channel whose senders nobody owns: a step.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_adopt(chan: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.count_unowned(chan, true, site(at));
    DRAWLOOM_OK
}

/// As `drawloom_chan_release`, of a channel whose senders nobody owns: a task may give one back that it does not have, and send
/// afterwards. With the last one the channel is closed, also for those who send; one more is none. A channel has one at first.
/// One way or the other: the two counts know nothing of each other.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_disown(chan: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    match here.count_unowned(chan, false, site(at)) {
        (0, true) => {
            drawloom_chan_close(chan, at);
            DRAWLOOM_CLOSED
        }
        (0, false) => DRAWLOOM_CLOSED,
        _ => DRAWLOOM_OK,
    }
}

/// How many messages are in the channel, into `*length`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_chan_len(
    chan: drawloom_handle,
    length: *mut u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    if length.is_null() {
        return DRAWLOOM_E_NULL;
    }
    let (channel, id) = here.channel(chan, site(at));
    here.control().step(Operation::new(OpKind::Length, id, site(at)).with_arg(channel.capacity));
    let counted = here.control().engine(|engine| engine.steps().last().map_or(0, |step| step.value));
    // SAFETY: the caller vouches for the pointer, which is not null.
    unsafe { *length = counted };
    DRAWLOOM_OK
}
