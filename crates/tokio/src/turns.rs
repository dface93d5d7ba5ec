//! Turns: the tasks of one thread are polled one at a time.
//!
//! On a runtime of one thread, in a `LocalSet`, and wherever polls are to be atomic, nothing else of that thread happens between two waits of
//! a task. Who is polled next is up to the schedule, though: tokio promises no order.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use drawloom::future;
use drawloom::object::Object;

use crate::sync::permits::Place;
use crate::waiting::Wakers;

/// The turn of one thread.
pub(crate) struct Turns {
    state: Object<State>,
}

struct State {
    taken: bool,
    waiting: VecDeque<(u64, Waker)>,
    tickets: u64,
}

impl Turns {
    /// At first the turn is `taken`, or it is nobody's.
    #[track_caller]
    pub(crate) fn new(taken: bool) -> Arc<Self> {
        let state = Object::new(State { taken, waiting: VecDeque::new(), tickets: 0 });
        drawloom::label(&state, drawloom::object::TURN);
        Arc::new(Turns { state })
    }

    fn poll_take(&self, ticket: &mut Option<u64>, waker: &Waker, place: Place) -> Poll<()> {
        self.state.update_from(place, |state| {
            let at = ticket.and_then(|mine| state.waiting.iter().position(|(ticket, _)| *ticket == mine));
            if !std::mem::replace(&mut state.taken, true) {
                at.and_then(|at| state.waiting.remove(at));
                *ticket = None;
                return Poll::Ready(());
            }
            match at {
                Some(at) => state.waiting[at].1.clone_from(waker),
                None => {
                    state.tickets += 1;
                    *ticket = Some(state.tickets);
                    state.waiting.push_back((state.tickets, waker.clone()));
                }
            }
            Poll::Pending
        })
    }

    pub(crate) fn release(&self, place: Place) {
        let next = self.state.update_from(place, |state| {
            state.taken = false;
            state.waiting.pop_front().map(|(_, waker)| waker)
        });
        Wakers::from(next).wake();
    }

    /// No longer waits.
    fn leave(&self, ticket: u64, place: Place) {
        if !future::facade::is_over() {
            let left = self.state.update_from(place, |state| {
                let at = state.waiting.iter().position(|(waiting, _)| *waiting == ticket);
                at.and_then(|at| state.waiting.remove(at))
            });
            drop(left);
        }
    }

    /// Takes the turn, blocking the task; none while it is torn down, where nobody waits for anybody.
    pub(crate) fn take(&self, mut ticket: Option<u64>, place: Place) -> bool {
        if future::facade::is_over() {
            return false;
        }
        future::block_on(poll_fn(|context| self.poll_take(&mut ticket, context.waker(), place)));
        true
    }
}

impl Turns {
    /// Lets others have the turn until the returned value is dropped.
    pub(crate) fn give_up(&self, place: Place) -> GivenUp<'_> {
        self.release(place);
        GivenUp { turns: self, place }
    }
}

/// What [`Turns::give_up`] returns.
pub(crate) struct GivenUp<'a> {
    turns: &'a Turns,
    place: Place,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.turns.take(None, self.place);
    }
}

/// A future that is polled, and dropped, in turn.
pub(crate) struct InTurn<F> {
    /// There until it is dropped.
    future: Option<F>,
    turns: Arc<Turns>,
    ticket: Option<u64>,
    place: Place,
    /// Once it is set, whoever drops the future has the turn for it.
    lent: Option<Arc<AtomicBool>>,
}

impl<F: Future> InTurn<F> {
    #[track_caller]
    pub(crate) fn new(turns: Arc<Turns>, future: F) -> Self {
        InTurn { future: Some(future), turns, ticket: None, place: Location::caller(), lent: None }
    }

    /// The future is dropped without taking the turn once `lent` is set: somebody has it who waits for that.
    pub(crate) fn until(mut self, lent: Arc<AtomicBool>) -> Self {
        self.lent = Some(lent);
        self
    }
}

impl<F: Future> Future for InTurn<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: it is only ever dropped in place.
        let (mut future, turns, ticket, place) = unsafe {
            let InTurn { future, turns, ticket, place, lent: _ } = self.get_unchecked_mut();
            (Pin::new_unchecked(future), turns, ticket, *place)
        };
        if turns.poll_take(ticket, context.waker(), place).is_pending() {
            return Poll::Pending;
        }
        let _turn = Turn { turns, place };
        let poll = future.as_mut().as_pin_mut().expect("polled after it was ready").poll(context);
        if poll.is_ready() {
            future.set(None);
        }
        poll
    }
}

/// Gives the turn to the next one when dropped.
struct Turn<'a> {
    turns: &'a Turns,
    place: Place,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.release(self.place);
    }
}

impl<F> Drop for InTurn<F> {
    fn drop(&mut self) {
        if self.future.is_some() {
            if self.lent.as_ref().is_some_and(|lent| lent.load(Ordering::Acquire)) {
                if let Some(ticket) = self.ticket {
                    self.turns.leave(ticket, self.place);
                }
                self.future = None;
                return;
            }
            let _turn =
                self.turns.take(self.ticket, self.place).then(|| Turn { turns: &self.turns, place: self.place });
            // Assigning drops it in place, as its pin demands, and while it is our turn.
            self.future = None;
        }
    }
}
