//! Waiting: wakers that are kept in an object, and taken out in a step to be woken after it.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use drawloom::object::{Act, Awaited, Shared};

use crate::sync::permits::Place;
use crate::task::coop;

/// Mostly one waker at a time, so that one needs no allocation.
#[derive(Default)]
#[must_use = "a waiting task is not woken yet"]
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

    /// Waits, under the same ticket as before. The waker that was there is dropped outside of the step: that may take
    /// one.
    #[must_use]
    pub(crate) fn register(&mut self, ticket: &mut Option<u64>, waker: &Waker) -> Option<Waker> {
        let mine = *ticket.get_or_insert_with(|| {
            self.tickets += 1;
            self.tickets
        });
        match self.waiting.iter_mut().find(|(ticket, _)| *ticket == mine) {
            Some((_, known)) if known.will_wake(waker) => None,
            Some((_, known)) => Some(std::mem::replace(known, waker.clone())),
            None => {
                self.waiting.push((mine, waker.clone()));
                None
            }
        }
    }

    /// No longer waits. The waker is dropped outside of the step.
    #[must_use]
    pub(crate) fn forget(&mut self, ticket: u64) -> Option<Waker> {
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == ticket)?;
        Some(self.waiting.remove(at).1)
    }

    pub(crate) fn take(&mut self) -> Wakers {
        let mut wakers = Wakers::default();
        wakers.extend(self.waiting.drain(..).map(|(_, waker)| waker));
        wakers
    }
}

/// `future`, which has to be pinned as tokio's has: whoever polls it here on its own must be able to there.
pub(crate) fn pinned<F: Future>(future: F) -> Pinned<F> {
    Pinned { future, _pinned: PhantomPinned }
}

/// What [`pinned`] returns.
pub(crate) struct Pinned<F> {
    future: F,
    _pinned: PhantomPinned,
}

impl<F: Future> Future for Pinned<F> {
    type Output = F::Output;

    #[inline]
    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: nothing moves it out, and there is no destructor.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(context)
    }
}

/// Waits until `ready` has something, which is what is `awaited`; `waiting` says among whom.
pub(crate) struct Until<'a, O: Shared, R> {
    object: &'a O,
    waiting: fn(&mut O::State) -> &mut Waiting,
    ready: R,
    ticket: Option<u64>,
    awaited: Awaited,
    place: Place,
}

impl<'a, O: Shared, R, T> Until<'a, O, R>
where
    R: FnMut(&mut O::State) -> Option<T> + Unpin,
{
    pub(crate) fn new(
        object: &'a O,
        place: Place,
        awaited: Awaited,
        waiting: fn(&mut O::State) -> &mut Waiting,
        ready: R,
    ) -> Self {
        Until { object, waiting, ready, ticket: None, awaited, place }
    }
}

impl<O: Shared, R, T> Future for Until<'_, O, R>
where
    R: FnMut(&mut O::State) -> Option<T> + Unpin,
{
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Until { object, waiting, ready, ticket, awaited, place } = self.get_mut();
        let budget = ready!(coop::poll_proceed(context));
        let (poll, _waker) = object.update_doing(place, |state| match ready(state) {
            Some(output) => {
                let waker = ticket.take().and_then(|ticket| waiting(state).forget(ticket));
                ((Poll::Ready(output), waker), Act::Receives)
            }
            None => {
                let waker = waiting(state).register(ticket, context.waker());
                ((Poll::Pending, waker), Act::Awaits(*awaited))
            }
        });
        budget.after(poll)
    }
}

impl<O: Shared, R> Drop for Until<'_, O, R> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let _waker =
                self.object.update_doing(self.place, |state| ((self.waiting)(state).forget(ticket), Act::Abandons));
        }
    }
}
