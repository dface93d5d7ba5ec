//! Waiting: wakers that are kept in an object, and taken out in a step to be woken after it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use drawloom::object::{Act, Awaited, Object};

use crate::sync::permits::Place;

/// Mostly one waker at a time, so that one needs no allocation.
#[derive(Default)]
#[must_use = "who waits is not woken yet"]
pub(crate) struct Wakers {
    first: Option<Waker>,
    rest: Vec<Waker>,
}

impl Wakers {
    pub(crate) fn push(&mut self, waker: Waker) {
        match self.first {
            None => self.first = Some(waker),
            Some(_) => self.rest.push(waker),
        }
    }

    /// Wakes all, in the order in which they were added.
    #[inline]
    pub(crate) fn wake(self) {
        if let Some(first) = self.first {
            first.wake();
        }
        for waker in self.rest {
            waker.wake();
        }
    }
}

impl From<Option<Waker>> for Wakers {
    fn from(first: Option<Waker>) -> Self {
        Wakers { first, rest: Vec::new() }
    }
}

impl Extend<Waker> for Wakers {
    fn extend<I: IntoIterator<Item = Waker>>(&mut self, wakers: I) {
        wakers.into_iter().for_each(|waker| self.push(waker));
    }
}

/// Those who wait for the same event, and are all woken by it.
#[derive(Default)]
pub(crate) struct Waiting {
    waiting: Vec<(u64, Waker)>,
    tickets: u64,
}

impl Waiting {
    pub(crate) const fn new() -> Self {
        Waiting { waiting: Vec::new(), tickets: 0 }
    }

    /// Waits, under the same ticket as before.
    pub(crate) fn register(&mut self, ticket: &mut Option<u64>, waker: &Waker) {
        let mine = *ticket.get_or_insert_with(|| {
            self.tickets += 1;
            self.tickets
        });
        match self.waiting.iter_mut().find(|(ticket, _)| *ticket == mine) {
            Some((_, known)) => known.clone_from(waker),
            None => self.waiting.push((mine, waker.clone())),
        }
    }

    /// No longer waits.
    pub(crate) fn forget(&mut self, ticket: u64) {
        self.waiting.retain(|(waiting, _)| *waiting != ticket);
    }

    pub(crate) fn take(&mut self) -> Wakers {
        let mut wakers = Wakers::default();
        wakers.extend(self.waiting.drain(..).map(|(_, waker)| waker));
        wakers
    }
}

/// Waits until `ready` has something, which is what is `awaited`; `waiting` says among whom.
pub(crate) struct Until<'a, S, R> {
    object: &'a Object<S>,
    waiting: fn(&mut S) -> &mut Waiting,
    ready: R,
    ticket: Option<u64>,
    awaited: Awaited,
    place: Place,
}

impl<'a, S, R, T> Until<'a, S, R>
where
    R: FnMut(&mut S) -> Option<T> + Unpin,
{
    pub(crate) fn new(
        object: &'a Object<S>,
        place: Place,
        awaited: Awaited,
        waiting: fn(&mut S) -> &mut Waiting,
        ready: R,
    ) -> Self {
        Until { object, waiting, ready, ticket: None, awaited, place }
    }
}

impl<S, R, T> Future for Until<'_, S, R>
where
    R: FnMut(&mut S) -> Option<T> + Unpin,
{
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Until { object, waiting, ready, ticket, awaited, place } = self.get_mut();
        object.update_doing(place, |state| match ready(state) {
            Some(output) => {
                if let Some(ticket) = ticket.take() {
                    waiting(state).forget(ticket);
                }
                (Poll::Ready(output), Act::Receives)
            }
            None => {
                waiting(state).register(ticket, context.waker());
                (Poll::Pending, Act::Awaits(*awaited))
            }
        })
    }
}

impl<S, R> Drop for Until<'_, S, R> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.object.update_doing(self.place, |state| ((self.waiting)(state).forget(ticket), Act::Abandons));
        }
    }
}
