//! What the ends of a channel share: its messages, and who waits for some or for room.
//!
//! Each use of the state is one step. Waits are ended by whoever makes them worth ending, who then also
//! wakes: a message that is put into the queue ends the wait of one receiver, which tries again. Only
//! where there is no queue, in a rendezvous, the message goes from hand to hand.

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use super::timer::Timer;
use crate::object::queue::Queue;
#[cfg(feature = "controlled")]
use crate::object::queue::{Tallied, Tally};
use crate::time::Instant;
use crate::wait::{Ended, Wait};

pub(super) struct Channel<T> {
    state: Queue<State<T>>,
    /// None if it never fills.
    capacity: Option<usize>,
    /// Whose messages come by themselves.
    timer: Option<Timer<T>>,
}

struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    receivers: usize,
    closed: bool,
    waiting: [VecDeque<Entry<T>>; 2],
    /// When the next message comes on its own.
    due: Option<Instant>,
    /// How many messages were ever put into the queue, and taken out.
    sent: u64,
    received: u64,
}

#[cfg(feature = "controlled")]
impl<T> Tallied for State<T> {
    fn tally(&self) -> Tally {
        let is_open = !self.closed && self.receivers > 0 && self.due.is_none();
        let is_plain = is_open && self.waiting[Side::Sending as usize].is_empty();
        Tally { sent: self.sent, received: self.received, reserved: 0, is_plain }
    }
}

/// An end of a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Sending,
    Receiving,
}

/// Somebody who waits, as one of the arms of a select.
pub(super) struct Entry<T> {
    pub(super) wait: Arc<Wait>,
    pub(super) arm: usize,
    pub(super) hand: Hand<T>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Entry { wait: self.wait.clone(), arm: self.arm, hand: self.hand.clone() }
    }
}

/// The hand that a message of a rendezvous is in. It changes hands together with the end of the wait.
pub(super) struct Hand<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Hand<T> {
    fn clone(&self) -> Self {
        Hand(self.0.clone())
    }
}

impl<T> Hand<T> {
    pub(super) fn empty() -> Self {
        Hand(Arc::new(Mutex::new(None)))
    }

    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn put(&self, message: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }
}

/// What became of an attempt to receive.
pub(super) enum Received<T> {
    Message(T),
    Disconnected,
    Nothing,
}

/// What became of an attempt to send; what was not sent comes back.
pub(super) enum Sent<T> {
    Done,
    /// It is in the hand of the entry that was left.
    InHand,
    Disconnected(T),
    Full(T),
}

impl<T> State<T> {
    fn waiting(&mut self, side: Side) -> &mut VecDeque<Entry<T>> {
        &mut self.waiting[side as usize]
    }

    /// Nothing will be sent any more, or nothing received.
    fn is_closed_for(&self, side: Side) -> bool {
        self.closed
            || match side {
                Side::Sending => self.receivers == 0,
                Side::Receiving => self.senders == 0,
            }
    }

    /// Who has to be told that `side` can continue, if it can.
    fn next_to_wake(&mut self, side: Side, capacity: Option<usize>) -> Option<Entry<T>> {
        let can_go_on = match side {
            Side::Receiving => !self.queue.is_empty(),
            Side::Sending => capacity.is_none_or(|capacity| self.queue.len() < capacity),
        };
        if can_go_on { self.waiting(side).pop_front() } else { None }
    }
}

impl<T> Channel<T> {
    #[track_caller]
    pub(super) fn new(capacity: Option<usize>) -> Arc<Self> {
        Channel::with(capacity, None, None)
    }

    /// A channel whose first message comes at `due`; never, if there is no such instant.
    #[track_caller]
    pub(super) fn timed(due: Option<Instant>, timer: Timer<T>) -> Arc<Self> {
        Channel::with(Some(1), due, Some(timer))
    }

    #[track_caller]
    fn with(capacity: Option<usize>, due: Option<Instant>, timer: Option<Timer<T>>) -> Arc<Self> {
        let state = State {
            queue: VecDeque::new(),
            senders: 1,
            receivers: 1,
            closed: false,
            waiting: [VecDeque::new(), VecDeque::new()],
            due,
            sent: 0,
            received: 0,
        };
        let room = capacity.map_or(u64::MAX, |capacity| capacity as u64);
        Arc::new(Channel { state: Queue::new(state, room), capacity, timer })
    }

    /// Whether its messages come by themselves.
    pub(super) fn is_timed(&self) -> bool {
        self.timer.is_some()
    }

    /// What the channel is under control.
    #[cfg(feature = "controlled")]
    pub(super) fn object(&self) -> &dyn crate::label::Labelled {
        &self.state
    }

    pub(super) fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    #[track_caller]
    pub(super) fn len(&self) -> usize {
        if self.is_timed() {
            let now = Instant::now();
            return self.state.look(|state| usize::from(state.due.is_some_and(|due| due <= now)));
        }
        self.state.look(|state| state.queue.len())
    }

    #[track_caller]
    pub(super) fn is_closed(&self) -> bool {
        self.state.look(|state| state.closed || state.senders == 0 || state.receivers == 0)
    }

    // ── attempts ─────────────────────────────────────────────────────────────────────────────────

    /// Receives if that is possible at once; else leaves `entry`, if there is one.
    #[track_caller]
    pub(super) fn try_recv(&self, entry: Option<&Entry<T>>) -> Received<T> {
        if let Some(timer) = &self.timer {
            return self.try_recv_of(timer);
        }
        loop {
            enum Step<T> {
                Message(T, Option<Entry<T>>),
                Meet(Entry<T>),
                Disconnected,
                Nothing,
            }
            let step = self.state.take(Location::caller(), |state| {
                if let Some(message) = state.queue.pop_front() {
                    state.received += 1;
                    return Step::Message(message, state.next_to_wake(Side::Sending, self.capacity));
                }
                if self.capacity == Some(0) {
                    if let Some(sender) = state.waiting(Side::Sending).pop_front() {
                        return Step::Meet(sender);
                    }
                }
                if state.is_closed_for(Side::Receiving) {
                    return Step::Disconnected;
                }
                state.waiting(Side::Receiving).extend(entry.cloned());
                Step::Nothing
            });
            match step {
                Step::Message(message, woken) => {
                    self.wake(Side::Sending, woken);
                    return Received::Message(message);
                }
                Step::Meet(sender) => {
                    if sender.wait.end(Ended::By(sender.arm)) {
                        let message = sender.hand.take();
                        sender.wait.release();
                        return message.map_or(Received::Disconnected, Received::Message);
                    }
                }
                Step::Disconnected => return Received::Disconnected,
                Step::Nothing => return Received::Nothing,
            }
        }
    }

    /// Receives what has come on its own.
    #[track_caller]
    fn try_recv_of(&self, timer: &Timer<T>) -> Received<T> {
        let now = Instant::now();
        self.state.update(|state| {
            if state.closed {
                return Received::Disconnected;
            }
            match state.due.filter(|due| *due <= now) {
                None => Received::Nothing,
                Some(due) => {
                    state.due = timer.next_after(now);
                    Received::Message(timer.message(due))
                }
            }
        })
    }

    /// Sends if that is possible at once; else leaves `entry`, if there is one, with the message in its
    /// hand if this is a rendezvous.
    #[track_caller]
    pub(super) fn try_send(&self, message: T, entry: Option<&Entry<T>>) -> Sent<T> {
        enum Step<T> {
            Done(Option<Entry<T>>),
            Meet(Entry<T>),
            Disconnected,
            Full,
        }
        let mut message = Some(message);
        loop {
            let step = self.state.put(Location::caller(), |state| {
                if state.is_closed_for(Side::Sending) {
                    return Step::Disconnected;
                }
                if self.capacity == Some(0) {
                    if let Some(receiver) = state.waiting(Side::Receiving).pop_front() {
                        return Step::Meet(receiver);
                    }
                } else if self.capacity.is_none_or(|capacity| state.queue.len() < capacity) {
                    state.queue.extend(message.take());
                    state.sent += 1;
                    return Step::Done(state.next_to_wake(Side::Receiving, self.capacity));
                }
                if let Some(entry) = entry {
                    if self.capacity == Some(0) {
                        if let Some(message) = message.take() {
                            entry.hand.put(message);
                        }
                    }
                    state.waiting(Side::Sending).push_back(entry.clone());
                }
                Step::Full
            });
            match step {
                Step::Done(woken) => {
                    self.wake(Side::Receiving, woken);
                    return Sent::Done;
                }
                Step::Meet(receiver) => {
                    if receiver.wait.end(Ended::By(receiver.arm)) {
                        message.into_iter().for_each(|message| receiver.hand.put(message));
                        receiver.wait.release();
                        return Sent::Done;
                    }
                }
                Step::Disconnected => return message.map_or(Sent::InHand, Sent::Disconnected),
                Step::Full => return message.map_or(Sent::InHand, Sent::Full),
            }
        }
    }

    /// Leaves `entry` with the others that wait at `side`. Whether that was needless: it could continue at once,
    /// or meet `other`, which waits at the other side of a rendezvous.
    #[track_caller]
    pub(super) fn register(&self, side: Side, entry: &Entry<T>) -> Registered {
        self.state.update(|state| {
            let opposite = if side == Side::Sending { Side::Receiving } else { Side::Sending };
            let registered = if state.is_closed_for(side) && (side == Side::Sending || state.queue.is_empty()) {
                Registered::Ready
            } else if self.is_timed() {
                state.due.map_or(Registered::Waits, Registered::Until)
            } else if self.capacity == Some(0) {
                let other = state.waiting(opposite).iter().find(|other| !Arc::ptr_eq(&other.wait, &entry.wait));
                other.map_or(Registered::Waits, |other| Registered::Meets(other.wait.clone(), other.arm))
            } else {
                let ready = match side {
                    Side::Receiving => !state.queue.is_empty(),
                    Side::Sending => self.capacity.is_none_or(|capacity| state.queue.len() < capacity),
                };
                if ready { Registered::Ready } else { Registered::Waits }
            };
            state.waiting(side).push_back(entry.clone());
            registered
        })
    }

    /// Takes back what `wait` has left.
    #[track_caller]
    pub(super) fn withdraw(&self, side: Side, wait: &Arc<Wait>) {
        let mine = self.state.update(|state| {
            let waiting = state.waiting(side);
            let mine = waiting.iter().position(|entry| Arc::ptr_eq(&entry.wait, wait));
            mine.and_then(|at| waiting.remove(at))
        });
        drop(mine);
    }

    /// Ends the wait of `entry`, or of the next one if it was over.
    #[track_caller]
    fn wake(&self, side: Side, mut entry: Option<Entry<T>>) {
        while let Some(next) = entry {
            if next.wait.end_and_release(Ended::By(next.arm)) {
                return;
            }
            entry = self.state.update(|state| state.next_to_wake(side, self.capacity));
        }
    }

    // ── ends that come and go ────────────────────────────────────────────────────────────────────

    #[track_caller]
    pub(super) fn add(&self, side: Side) {
        self.state.update(|state| match side {
            Side::Sending => state.senders += 1,
            Side::Receiving => state.receivers += 1,
        });
    }

    /// An end that was made at `place` goes away; with the last one of its side, all that wait on the other.
    pub(super) fn remove(&self, side: Side, place: &'static Location<'static>) {
        let remove = |state: &mut State<T>| match side {
            Side::Sending => {
                state.senders -= 1;
                let last = state.senders == 0;
                (last.then(|| std::mem::take(state.waiting(Side::Receiving))), None)
            }
            Side::Receiving => {
                state.receivers -= 1;
                let last = state.receivers == 0;
                let unreceived = last.then(|| std::mem::take(&mut state.queue));
                state.received += unreceived.as_ref().map_or(0, |unreceived| unreceived.len() as u64);
                (last.then(|| std::mem::take(state.waiting(Side::Sending))), unreceived)
            }
        };
        let (woken, unreceived) = match side {
            Side::Sending => self.state.leave(place, remove),
            Side::Receiving => self.state.update_from(place, remove),
        };
        end_all(woken.into_iter().flatten());
        drop(unreceived);
    }

    /// Disconnects both sides; what was sent can still be received. Whether it was open.
    #[track_caller]
    pub(super) fn close(&self) -> bool {
        let (was_open, woken) = self.state.update(|state| {
            let was_open = !std::mem::replace(&mut state.closed, true);
            (was_open, std::mem::take(&mut state.waiting))
        });
        end_all(woken.into_iter().flatten());
        was_open
    }
}

#[track_caller]
fn end_all<T>(entries: impl Iterator<Item = Entry<T>>) {
    for entry in entries {
        entry.wait.end_and_release(Ended::By(entry.arm));
    }
}

/// What an arm of a select met when it was left at its channel.
pub enum Registered {
    Waits,
    /// It waits, and can continue at this instant if nobody else was quicker.
    Until(Instant),
    Ready,
    /// Somebody waits at the other side of a rendezvous, as this arm of theirs.
    Meets(Arc<Wait>, usize),
}
