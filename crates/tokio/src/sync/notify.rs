//! [`Notify`], as `tokio::sync::Notify`.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::ops::Deref;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use drawloom::object::{Act, Awaited, Object};

use super::permits::Place;
use crate::waiting::Wakers;

/// Wakes a task that waits, or the next that will, as `tokio::sync::Notify`.
pub struct Notify {
    state: Object<State>,
}

struct State {
    /// Left by `notify_one` when nobody waited. There is never more than one.
    permit: bool,
    /// How often `notify_waiters` was called.
    rounds: u64,
    waiting: VecDeque<Waiter>,
    tickets: u64,
}

struct Waiter {
    ticket: u64,
    waker: Option<Waker>,
    /// Set when one notification is meant for it; it is passed on if nobody takes it.
    notified: Option<Whom>,
}

#[derive(Clone, Copy)]
enum Whom {
    First,
    Last,
}

impl State {
    fn notify_one(&mut self, whom: Whom) -> Option<Waker> {
        let mut waiting = self.waiting.iter_mut().filter(|waiter| waiter.notified.is_none());
        let waiter = match whom {
            Whom::First => waiting.next(),
            Whom::Last => waiting.next_back(),
        };
        match waiter {
            None => {
                self.permit = true;
                None
            }
            Some(waiter) => {
                waiter.notified = Some(whom);
                waiter.waker.take()
            }
        }
    }

    fn position(&self, ticket: u64) -> Option<usize> {
        self.waiting.iter().position(|waiter| waiter.ticket == ticket)
    }
}

impl Notify {
    /// Without a permit.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Notify {
        Notify { state: Object::new(State { permit: false, rounds: 0, waiting: VecDeque::new(), tickets: 0 }) }
    }

    /// As [`new`](Self::new).
    #[must_use]
    #[track_caller]
    pub const fn const_new() -> Notify {
        Notify::new()
    }

    fn rounds(&self, place: Place) -> u64 {
        self.state.look_from(place, |state| state.rounds)
    }

    /// Waits for a notification: the permit if there is one, or what comes from now on. Calls of
    /// [`notify_waiters`](Self::notify_waiters) count from here, those of [`notify_one`](Self::notify_one)
    /// from the first poll or [`enable`](Notified::enable).
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let place = Location::caller();
        Notified(Notification {
            notify: self,
            rounds: self.rounds(place),
            phase: Phase::New,
            place,
            _pinned: PhantomPinned,
        })
    }

    /// As [`notified`](Self::notified); the future keeps this alive.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let place = Location::caller();
        let rounds = self.rounds(place);
        OwnedNotified(Notification { notify: self, rounds, phase: Phase::New, place, _pinned: PhantomPinned })
    }

    #[track_caller]
    fn notify(&self, whom: Whom) {
        let waker = self.state.update_doing(Location::caller(), |state| {
            let waker = state.notify_one(whom);
            // Where nobody waits a permit stays, and nothing is lost.
            let act = if waker.is_some() { Act::Wakes } else { Act::Uses };
            (waker, act)
        });
        Wakers::from(waker).wake();
    }

    /// Wakes who has waited longest; leaves a permit if nobody waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(Whom::First);
    }

    /// Wakes who has waited shortest; leaves a permit if nobody waits.
    #[track_caller]
    pub fn notify_last(&self) {
        self.notify(Whom::Last);
    }

    /// Wakes all who wait, and leaves no permit.
    #[track_caller]
    pub fn notify_waiters(&self) {
        let wakers = self.state.update_doing(Location::caller(), |state| {
            state.rounds += 1;
            let mut wakers = Wakers::default();
            let all = state.waiting.len();
            state.waiting.retain_mut(|waiter| {
                let stays = waiter.notified.is_some();
                if !stays {
                    wakers.extend(waiter.waker.take());
                }
                stays
            });
            let act = if state.waiting.len() == all { Act::WakesNobody } else { Act::Wakes };
            (wakers, act)
        });
        wakers.wake();
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl UnwindSafe for Notify {}
impl RefUnwindSafe for Notify {}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

/// What both kinds of [`Notified`] are.
struct Notification<N: Deref<Target = Notify>> {
    notify: N,
    /// The calls of `notify_waiters` before it was made.
    rounds: u64,
    phase: Phase,
    place: Place,
    /// As in tokio, where the queue goes through it.
    _pinned: PhantomPinned,
}

enum Phase {
    New,
    Waiting(u64),
    Done,
}

impl<N: Deref<Target = Notify>> Notification<N> {
    /// Waits, with a waker or to be enabled only.
    fn poll(&mut self, waker: Option<&Waker>) -> Poll<()> {
        let (phase, rounds) = (&mut self.phase, self.rounds);
        let mut wait = |state: &mut State| match *phase {
            Phase::Done => Poll::Ready(()),
            Phase::New if state.rounds != rounds => Poll::Ready(()),
            Phase::New if std::mem::take(&mut state.permit) => Poll::Ready(()),
            Phase::New => {
                state.tickets += 1;
                *phase = Phase::Waiting(state.tickets);
                let waiter = Waiter { ticket: state.tickets, waker: waker.cloned(), notified: None };
                state.waiting.push_back(waiter);
                Poll::Pending
            }
            Phase::Waiting(ticket) => match state.position(ticket) {
                // `notify_waiters` has removed it.
                None => Poll::Ready(()),
                Some(at) if state.waiting[at].notified.is_some() => {
                    state.waiting.remove(at);
                    Poll::Ready(())
                }
                Some(at) => {
                    if let Some(waker) = waker {
                        state.waiting[at].waker = Some(waker.clone());
                    }
                    Poll::Pending
                }
            },
        };
        let poll = self.notify.state.update_doing(self.place, |state| {
            let poll = wait(state);
            (poll, if poll.is_ready() { Act::Receives } else { Act::Awaits(Awaited::Notification) })
        });
        if poll.is_ready() {
            self.phase = Phase::Done;
        }
        poll
    }
}

impl<N: Deref<Target = Notify>> Drop for Notification<N> {
    fn drop(&mut self) {
        let Phase::Waiting(ticket) = self.phase else { return };
        let waker = self.notify.state.update_doing(self.place, |state| {
            let left = state.position(ticket).and_then(|at| state.waiting.remove(at));
            let next = left.and_then(|waiter| waiter.notified).and_then(|whom| state.notify_one(whom));
            (next, Act::Abandons)
        });
        Wakers::from(waker).wake();
    }
}

/// What is in a pinned notification.
fn parts<T>(notified: Pin<&mut T>) -> &mut T {
    // SAFETY: nothing in it is pinned: all of it is `Unpin` but for the mark.
    unsafe { notified.get_unchecked_mut() }
}

macro_rules! notified {
    ($notified:ty, [$($generics:tt)*]) => {
        impl<$($generics)*> $notified {
            /// Waits from now on, without being polled; whether it is notified already.
            pub fn enable(self: Pin<&mut Self>) -> bool {
                parts(self).0.poll(None).is_ready()
            }
        }

        impl<$($generics)*> Future for $notified {
            type Output = ();

            fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
                parts(self).0.poll(Some(context.waker()))
            }
        }

        impl<$($generics)*> fmt::Debug for $notified {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Notified").finish_non_exhaustive()
            }
        }
    };
}

/// What [`Notify::notified`] returns.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Notified<'a>(Notification<&'a Notify>);

notified!(Notified<'a>, ['a]);

/// What [`Notify::notified_owned`] returns.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct OwnedNotified(Notification<Arc<Notify>>);

notified!(OwnedNotified, []);
