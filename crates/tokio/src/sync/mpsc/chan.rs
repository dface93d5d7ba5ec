//! The channel under both kinds of senders: a queue, and permits to put something into it.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker, ready};

use drawloom::object::queue::{Queue, Tallied, Tally};
use drawloom::object::{Act, Awaited, Shared};

use super::error::{SendError, TryRecvError, TrySendError};
use crate::sync::TryAcquireError;
use crate::sync::permits::{Acquire, HasPermits, Permits, Place, leave};
use crate::task::coop;
use crate::waiting::{Until, Waiting, Wakers};

pub(super) struct Chan<T> {
    state: Queue<State<T>>,
    /// Changed in the steps of the object only, except for clones: these never bring anything about, since
    /// there is a sender already.
    senders: AtomicUsize,
    weak_senders: AtomicUsize,
    bound: usize,
    made_at: Place,
}

pub(super) struct State<T> {
    queue: VecDeque<T>,
    permits: Permits,
    /// Who waits for a value.
    receiver: Option<Waker>,
    /// Who waits for the receiver to go.
    closed: Waiting,
    bound: usize,
    /// How much was ever put into the queue, and taken out.
    sent: u64,
    received: u64,
}

impl<T> Tallied for State<T> {
    fn tally(&self) -> Tally {
        Tally {
            sent: self.sent,
            received: self.received,
            reserved: (self.bound - self.permits.available() - self.queue.len()) as u64,
            is_plain: !self.permits.is_closed() && !self.permits.are_awaited(),
        }
    }
}

impl<T> State<T> {
    /// Puts a value into the queue; who waits for it has to be woken.
    fn put(&mut self, value: Option<T>) -> Option<Waker> {
        if let Some(value) = value {
            self.queue.push_back(value);
            self.sent += 1;
        }
        self.receiver.take()
    }

    /// Takes the next value out of the queue.
    fn take(&mut self) -> Option<T> {
        let value = self.queue.pop_front()?;
        self.received += 1;
        Some(value)
    }
}

impl<T> State<T> {
    /// The receiver, if it is closed and waits for nothing but the last permit.
    fn idle(&mut self) -> Option<Waker> {
        let is_idle = self.permits.is_closed() && self.permits.available() == self.bound;
        is_idle.then(|| self.receiver.take()).flatten()
    }
}

impl<T> HasPermits for State<T> {
    fn permits(&mut self) -> &mut Permits {
        &mut self.permits
    }

    fn came_back(&mut self) -> Option<Waker> {
        self.idle()
    }
}

impl<T> Chan<T> {
    pub(super) const UNBOUNDED: usize = Permits::MAX;

    #[track_caller]
    pub(super) fn new(bound: usize) -> Self {
        let permits = Permits::of_channel(bound);
        let state = State {
            queue: VecDeque::new(),
            permits,
            receiver: None,
            closed: Waiting::new(),
            bound,
            sent: 0,
            received: 0,
        };
        Chan {
            state: Queue::new(state, bound as u64),
            senders: AtomicUsize::new(1),
            weak_senders: AtomicUsize::new(0),
            bound,
            made_at: Location::caller(),
        }
    }

    pub(super) fn bound(&self) -> usize {
        self.bound
    }

    // Senders.

    pub(super) fn send(&self, value: T, place: Place) -> Send<'_, T> {
        Send { chan: self, value: Some(value), ticket: None, place }
    }

    #[track_caller]
    pub(super) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let mut value = Some(value);
        let sent = self.state.put_doing(Location::caller(), |state| match state.permits.try_take(1) {
            Ok(()) => (Ok(state.put(value.take())), Act::Sends),
            Err(error) => (Err(error), Act::Uses),
        });
        match (sent, value) {
            (Ok(receiver), _) => {
                Wakers::from(receiver).wake();
                Ok(())
            }
            (Err(TryAcquireError::Closed), Some(value)) => Err(TrySendError::Closed(value)),
            (Err(_), Some(value)) => Err(TrySendError::Full(value)),
            (Err(_), None) => unreachable!("a value that was not sent is still here"),
        }
    }

    /// Waits for `wanted` permits, which are for [`fill`](Self::fill) and [`give_back`](Self::give_back).
    pub(super) async fn reserve(&self, wanted: usize, place: Place) -> Result<(), SendError<()>> {
        if wanted > self.bound {
            return Err(SendError(()));
        }
        Acquire::new(&self.state, wanted, place).await.map_err(|_| SendError(()))
    }

    #[track_caller]
    pub(super) fn try_reserve(&self, wanted: usize) -> Result<(), TrySendError<()>> {
        self.state.update(|state| state.permits.try_take(wanted)).map_err(|error| match error {
            TryAcquireError::Closed => TrySendError::Closed(()),
            TryAcquireError::NoPermits => TrySendError::Full(()),
        })
    }

    /// Sends by a permit.
    pub(super) fn fill(&self, value: T, place: Place) {
        let receiver = self.state.update_from(place, |state| state.put(Some(value)));
        Wakers::from(receiver).wake();
    }

    /// Sends nothing by permits.
    pub(super) fn give_back(&self, permits: usize, place: Place) {
        if permits == 0 {
            return;
        }
        let (senders, receiver) = self.state.update_from(place, |state| {
            let senders = state.permits.give(permits);
            (senders, state.idle())
        });
        senders.wake();
        Wakers::from(receiver).wake();
    }

    #[track_caller]
    pub(super) fn capacity(&self) -> usize {
        self.state.look(|state| state.permits.available())
    }

    #[track_caller]
    pub(super) fn is_closed(&self) -> bool {
        self.state.look(|state| state.permits.is_closed())
    }

    /// Waits until the receiver is gone.
    pub(super) fn closed(&self, place: Place) -> impl Future<Output = ()> {
        Until::new(
            &self.state,
            place,
            Awaited::Change,
            |state| &mut state.closed,
            |state| state.permits.is_closed().then_some(()),
        )
    }

    pub(super) fn sender_cloned(&self) {
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn sender_dropped(&self) {
        let receiver = self.state.leave(self.made_at, |state| {
            let last = self.senders.fetch_sub(1, Ordering::AcqRel) == 1;
            last.then(|| state.receiver.take()).flatten()
        });
        Wakers::from(receiver).wake();
    }

    pub(super) fn weak_cloned(&self) {
        self.weak_senders.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn weak_dropped(&self) {
        self.weak_senders.fetch_sub(1, Ordering::Relaxed);
    }

    /// One more sender, if there is one.
    #[track_caller]
    pub(super) fn upgrade(&self) -> bool {
        self.state.update(|_| {
            let alive = self.senders.load(Ordering::Acquire) > 0;
            self.senders.fetch_add(usize::from(alive), Ordering::Relaxed);
            alive
        })
    }

    #[track_caller]
    pub(super) fn strong_count(&self) -> usize {
        self.state.look(|_| self.senders.load(Ordering::Acquire))
    }

    pub(super) fn weak_count(&self) -> usize {
        self.weak_senders.load(Ordering::Acquire)
    }

    // The receiver.

    /// Whether nothing can come any more, in a step.
    fn is_over(&self, state: &State<T>) -> bool {
        let abandoned = self.senders.load(Ordering::Acquire) == 0;
        abandoned || (state.permits.is_closed() && state.permits.available() == self.bound)
    }

    pub(super) fn poll_recv(&self, context: &mut Context<'_>, place: Place) -> Poll<Option<T>> {
        let budget = ready!(coop::poll_proceed(context));
        let (poll, senders, _replaced) = self.state.take_doing(place, |state| match state.take() {
            Some(value) => ((Poll::Ready(Some(value)), state.permits.give(1), None), Act::Receives),
            None if self.is_over(state) => ((Poll::Ready(None), Wakers::default(), None), Act::Uses),
            None => {
                let replaced = state.receiver.replace(context.waker().clone());
                ((Poll::Pending, Wakers::default(), replaced), Act::Awaits(Awaited::Message))
            }
        });
        senders.wake();
        budget.after(poll)
    }

    pub(super) fn poll_recv_many(
        &self,
        context: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
        place: Place,
    ) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        let budget = ready!(coop::poll_proceed(context));
        let (poll, senders, _replaced) = self.state.update_from(place, |state| {
            let count = limit.min(state.queue.len());
            if count == 0 && !self.is_over(state) {
                let replaced = state.receiver.replace(context.waker().clone());
                return (Poll::Pending, Wakers::default(), replaced);
            }
            buffer.extend(state.queue.drain(..count));
            state.received += count as u64;
            (Poll::Ready(count), state.permits.give(count), None)
        });
        senders.wake();
        budget.after(poll)
    }

    #[track_caller]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let (received, senders) = self.state.take_doing(Location::caller(), |state| match state.take() {
            Some(value) => ((Ok(value), state.permits.give(1)), Act::Receives),
            None if self.is_over(state) => ((Err(TryRecvError::Disconnected), Wakers::default()), Act::Uses),
            None => ((Err(TryRecvError::Empty), Wakers::default()), Act::Uses),
        });
        senders.wake();
        received
    }

    pub(super) fn close(&self, place: Place) {
        let (senders, waiting) = self.state.update_from(place, |state| (state.permits.close(), state.closed.take()));
        senders.wake();
        waiting.wake();
    }

    /// Nobody will receive what is there.
    pub(super) fn receiver_dropped(&self) {
        self.close(self.made_at);
        let undelivered = self.state.update_from(self.made_at, |state| {
            let receiver = state.receiver.take();
            let undelivered = std::mem::take(&mut state.queue);
            state.received += undelivered.len() as u64;
            let permits = state.permits.give(undelivered.len());
            (undelivered, permits, receiver)
        });
        undelivered.1.wake();
    }

    #[track_caller]
    pub(super) fn len(&self) -> usize {
        self.state.look(|state| state.queue.len())
    }

    /// Whether the receiver was closed, or all senders are gone.
    #[track_caller]
    pub(super) fn is_closed_for_receiver(&self) -> bool {
        self.state.look(|state| state.permits.is_closed() || self.senders.load(Ordering::Acquire) == 0)
    }
}

/// Waits for a permit and sends, in one step.
pub(super) struct Send<'a, T> {
    chan: &'a Chan<T>,
    value: Option<T>,
    ticket: Option<u64>,
    place: Place,
}

/// The value is never pinned.
impl<T> Unpin for Send<'_, T> {}

impl<T> Future for Send<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Send { chan, value, ticket, place } = self.get_mut();
        let budget = ready!(coop::poll_proceed(context));
        let has_waited = ticket.is_some();
        let send = |state: &mut State<T>| {
            let taken = state.permits.poll_take(1, ticket, context.waker());
            let act = if taken.is_ready() { Act::Sends } else { Act::Awaits(Awaited::Room) };
            (taken.map_ok(|()| state.put(value.take())), act)
        };
        // Who has waited for room has got it from others, or was told that there will be none.
        let sent = if has_waited { chan.state.update_doing(place, send) } else { chan.state.put_doing(place, send) };
        match budget.after(sent) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(receiver)) => {
                Wakers::from(receiver).wake();
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(_)) => {
                let value = value.take().expect("a value that was not sent is still here");
                Poll::Ready(Err(SendError(value)))
            }
        }
    }
}

impl<T> Drop for Send<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            leave(&self.chan.state, 1, ticket, self.place);
        }
    }
}
