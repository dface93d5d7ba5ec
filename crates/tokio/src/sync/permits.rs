//! Permits in a fair queue: what semaphores, locks and bounded channels wait by.
//!
//! As in tokio, a waiter takes what there is and waits for the rest at its place in the queue, so nobody
//! overtakes and nobody starves.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use drawloom::object::{Act, Awaited, Object, Shared};

use super::{AcquireError, TryAcquireError};
use crate::task::coop;
use crate::waiting::Wakers;

/// Where a future was made: the place of its steps, which have none of their own.
pub(crate) type Place = &'static Location<'static>;

/// The state of a queue for permits.
pub(crate) struct Permits {
    available: usize,
    closed: bool,
    waiting: VecDeque<Waiter>,
    tickets: u64,
    /// A waker that another has taken the place of, to be dropped after the step: that may take one.
    replaced: Option<Waker>,
    of: Of,
}

/// What the permits are for: reports call a wait for them by that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Semaphore,
    /// All that there are: who takes them all has it alone.
    Lock(usize),
    /// A cell, for who makes its value.
    Cell,
    /// Room in a channel.
    Channel,
}

struct Waiter {
    ticket: u64,
    missing: usize,
    /// None once it was told that nothing comes any more.
    waker: Option<Waker>,
}

impl Permits {
    pub(crate) const MAX: usize = usize::MAX >> 3;

    /// Those of a semaphore.
    pub(crate) const fn new(available: usize) -> Self {
        Permits::of(Of::Semaphore, available)
    }

    /// Those of a lock.
    pub(crate) const fn of_lock(all: usize) -> Self {
        Permits::of(Of::Lock(all), all)
    }

    /// The one of a cell that is filled once.
    pub(crate) const fn of_cell() -> Self {
        Permits::of(Of::Cell, 1)
    }

    /// Those of a channel.
    pub(crate) const fn of_channel(room: usize) -> Self {
        Permits::of(Of::Channel, room)
    }

    const fn of(of: Of, available: usize) -> Self {
        Permits { available, closed: false, waiting: VecDeque::new(), tickets: 0, replaced: None, of }
    }

    /// What reports say of taking `wanted` of them.
    pub(crate) fn taking(&self, wanted: usize, done: bool) -> Act {
        match self.of {
            Of::Semaphore if !done => Act::Awaits(Awaited::Permits),
            Of::Channel if !done => Act::Awaits(Awaited::Room),
            Of::Cell if !done => Act::Awaits(Awaited::Init),
            Of::Lock(1) if !done => Act::Awaits(Awaited::Lock),
            Of::Lock(all) if !done && wanted < all => Act::Awaits(Awaited::ReadLock),
            Of::Lock(_) if !done => Act::Awaits(Awaited::WriteLock),
            Of::Lock(all) if wanted < all => Act::LocksShared,
            Of::Lock(_) | Of::Cell => Act::Locks,
            Of::Semaphore | Of::Channel => Act::Acquires,
        }
    }

    /// What reports say of giving some back.
    fn giving(&self) -> Act {
        match self.of {
            Of::Lock(_) | Of::Cell => Act::Unlocks,
            Of::Semaphore | Of::Channel => Act::Releases,
        }
    }

    /// As [`try_take`](Self::try_take), with what reports say of it.
    pub(crate) fn try_taking(&mut self, wanted: usize) -> (Result<(), TryAcquireError>, Act) {
        let taken = self.try_take(wanted);
        let act = if taken.is_ok() { self.taking(wanted, true) } else { Act::Uses };
        (taken, act)
    }

    pub(crate) fn available(&self) -> usize {
        self.available
    }

    /// Whether anybody waits.
    pub(crate) fn are_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn try_take(&mut self, wanted: usize) -> Result<(), TryAcquireError> {
        if self.closed {
            return Err(TryAcquireError::Closed);
        }
        match self.available.checked_sub(wanted) {
            None => Err(TryAcquireError::NoPermits),
            Some(left) => {
                self.available = left;
                Ok(())
            }
        }
    }

    /// Takes `wanted` permits, or waits for them under `ticket`.
    pub(crate) fn poll_take(
        &mut self,
        wanted: usize,
        ticket: &mut Option<u64>,
        waker: &Waker,
    ) -> Poll<Result<(), AcquireError>> {
        if self.closed {
            return Poll::Ready(Err(AcquireError::new()));
        }
        if let Some(mine) = *ticket {
            return match self.waiting.iter_mut().find(|waiter| waiter.ticket == mine) {
                Some(waiter) => {
                    if !waiter.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
                        self.replaced = waiter.waker.replace(waker.clone());
                    }
                    Poll::Pending
                }
                // Who is no longer in the queue has got all.
                None => {
                    *ticket = None;
                    Poll::Ready(Ok(()))
                }
            };
        }
        if self.try_take(wanted).is_ok() {
            return Poll::Ready(Ok(()));
        }
        let missing = wanted - std::mem::take(&mut self.available);
        self.tickets += 1;
        *ticket = Some(self.tickets);
        self.waiting.push_back(Waiter { ticket: self.tickets, missing, waker: Some(waker.clone()) });
        Poll::Pending
    }

    /// Gives permits to those who wait, and keeps what is left.
    pub(crate) fn give(&mut self, mut permits: usize) -> Wakers {
        let mut wakers = Wakers::default();
        while let Some(first) = self.waiting.front_mut().filter(|_| !self.closed) {
            let given = permits.min(first.missing);
            first.missing -= given;
            permits -= given;
            if first.missing > 0 {
                return wakers;
            }
            wakers.extend(self.waiting.pop_front().and_then(|waiter| waiter.waker));
        }
        self.available += permits;
        assert!(self.available <= Permits::MAX, "more permits than there can be ({})", Permits::MAX);
        wakers
    }

    /// No longer waits under `ticket`: what it has got so far goes to others.
    /// Its waker is dropped outside of the step.
    pub(crate) fn leave(&mut self, wanted: usize, ticket: u64) -> (Wakers, Option<Waker>) {
        let at = self.waiting.iter().position(|waiter| waiter.ticket == ticket);
        match at.and_then(|at| self.waiting.remove(at)) {
            Some(waiter) => (self.give(wanted - waiter.missing), waiter.waker),
            None => (self.give(wanted), None),
        }
    }

    /// Removes up to `permits` of those that nobody has.
    pub(crate) fn forget(&mut self, permits: usize) -> usize {
        let forgotten = permits.min(self.available);
        self.available -= forgotten;
        forgotten
    }

    /// Nobody gets a permit from now on. Who waits stays in the queue until it leaves, with what it has got.
    pub(crate) fn close(&mut self) -> Wakers {
        self.closed = true;
        let mut wakers = Wakers::default();
        wakers.extend(self.waiting.iter_mut().filter_map(|waiter| waiter.waker.take()));
        wakers
    }
}

/// State that has permits in it.
pub(crate) trait HasPermits {
    fn permits(&mut self) -> &mut Permits;

    /// Who has to be told that permits came back from somebody who has waited in vain.
    fn came_back(&mut self) -> Option<Waker> {
        None
    }
}

impl HasPermits for Permits {
    fn permits(&mut self) -> &mut Permits {
        self
    }
}

/// Waits for permits of an object; they are the caller's once it is ready.
pub(crate) struct Acquire<'a, O: Shared<State: HasPermits>> {
    object: &'a O,
    wanted: usize,
    ticket: Option<u64>,
    place: Place,
}

impl<'a, O: Shared<State: HasPermits>> Acquire<'a, O> {
    pub(crate) fn new(object: &'a O, wanted: usize, place: Place) -> Self {
        Acquire { object, wanted, ticket: None, place }
    }
}

impl<O: Shared<State: HasPermits>> Future for Acquire<'_, O> {
    type Output = Result<(), AcquireError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Acquire { object, wanted, ticket, place } = self.get_mut();
        let budget = ready!(coop::poll_proceed(context));
        let (poll, _replaced) = object.update_doing(place, |state| {
            let permits = state.permits();
            let poll = permits.poll_take(*wanted, ticket, context.waker());
            let act = permits.taking(*wanted, poll.is_ready());
            ((poll, permits.replaced.take()), act)
        });
        budget.after(poll)
    }
}

impl<O: Shared<State: HasPermits>> Drop for Acquire<'_, O> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let wanted = self.wanted;
            leave(self.object, wanted, ticket, self.place);
        }
    }
}

/// No longer waits for `wanted` permits of `object`.
pub(crate) fn leave<O: Shared<State: HasPermits>>(object: &O, wanted: usize, ticket: u64, place: Place) {
    let leave = |state: &mut O::State| {
        let (waiting, left) = state.permits().leave(wanted, ticket);
        ((waiting, left, state.came_back()), Act::Abandons)
    };
    let (waiting, left, told) = object.update_doing(place, leave);
    waiting.wake();
    Wakers::from(told).wake();
    drop(left);
}

/// Permits of an object that are given back when this is dropped.
pub(crate) struct Held<'a> {
    pub(crate) permits: &'a Object<Permits>,
    pub(crate) count: usize,
    pub(crate) place: Place,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        release(self.permits, self.count, self.place);
    }
}

pub(crate) fn release(permits: &Object<Permits>, count: usize, place: Place) {
    if count > 0 {
        let give = |permits: &mut Permits| (permits.give(count), permits.giving());
        permits.update_doing(place, give).wake();
    }
}
