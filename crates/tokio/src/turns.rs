//! Turns: the tasks of one thread are polled one at a time.
//!
//! On a runtime of one thread, and in a `LocalSet`, a task runs from one await to the next before any other task of
//! that thread runs. The schedule chooses who is polled next: tokio promises no order.
//!
//! The turn of a thread is a mutex of the engine. A task asks for it once and waits in the mutex's queue, so two
//! executions differ only if tasks asked in different orders. A task of a `LocalSet` cannot wait like that: the set may
//! be dropped, and end the task, while the set itself has the turn. It tries, and is woken to try again.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use drawloom::future;
use drawloom::object::{Object, Turn};

use crate::sync::permits::Place;
use crate::waiting::Wakers;

/// Turns that tasks take.
pub(crate) trait Turns {
    /// Takes the turn, or has `waker` woken when it is time to try again; by `ticket` it is known who waits.
    fn poll_take(&self, ticket: &mut Option<u64>, waker: &Waker, place: Place) -> Poll<()>;

    /// No longer waits.
    fn leave(&self, ticket: u64, place: Place);

    /// Takes the turn, blocking the task.
    fn take(&self, ticket: Option<u64>, place: Place);

    /// Gives it to the next one.
    fn release(&self, place: Place);
}

/// Those who wait to be woken, in the order in which they came.
#[derive(Default)]
struct Line {
    waiting: VecDeque<(u64, Waker)>,
    tickets: u64,
}

impl Line {
    fn wait(&mut self, ticket: &mut Option<u64>, waker: &Waker) {
        let at = ticket.and_then(|mine| self.waiting.iter().position(|(ticket, _)| *ticket == mine));
        match at {
            Some(at) => self.waiting[at].1.clone_from(waker),
            None => {
                self.tickets += 1;
                *ticket = Some(self.tickets);
                self.waiting.push_back((self.tickets, waker.clone()));
            }
        }
    }

    fn leave(&mut self, ticket: u64) -> Option<Waker> {
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == ticket)?;
        self.waiting.remove(at).map(|(_, waker)| waker)
    }
}

/// The turn of a thread, for the tasks of its runtime.
pub(crate) struct OfThread {
    turn: Turn,
    /// Tasks of sets, which try again whenever it is given back. Looked at in steps on the turn.
    line: Mutex<Line>,
}

impl OfThread {
    #[track_caller]
    pub(crate) fn new() -> Arc<Self> {
        let turn = Turn::new();
        drawloom::label(&turn, drawloom::object::TURN);
        Arc::new(OfThread { turn, line: Mutex::default() })
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets others have the turn until the returned value is dropped.
    pub(crate) fn give_up(&self, place: Place) -> GivenUp<'_> {
        self.release(place);
        GivenUp { turns: self, place }
    }
}

impl Turns for OfThread {
    fn poll_take(&self, _: &mut Option<u64>, _: &Waker, place: Place) -> Poll<()> {
        self.turn.take(place);
        // It may have waited for long. If it was aborted it is woken for that, too.
        if future::facade::is_aborted_in_turn() {
            self.release(place);
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn leave(&self, _: u64, _: Place) {}

    fn take(&self, _: Option<u64>, place: Place) {
        self.turn.take(place);
    }

    fn release(&self, place: Place) {
        self.turn.give(place);
        let mut waiting = Wakers::default();
        waiting.extend(self.line().waiting.drain(..).map(|(_, waker)| waker));
        waiting.wake();
    }
}

/// The turn of a thread, for the tasks of a set on it.
pub(crate) struct OfThreadForSet(pub(crate) Arc<OfThread>);

impl Turns for OfThreadForSet {
    fn poll_take(&self, ticket: &mut Option<u64>, waker: &Waker, place: Place) -> Poll<()> {
        if self.0.turn.try_take(place) {
            let left = ticket.take().and_then(|ticket| self.0.line().leave(ticket));
            drop(left);
            return Poll::Ready(());
        }
        self.0.line().wait(ticket, waker);
        Poll::Pending
    }

    fn leave(&self, ticket: u64, _: Place) {
        let left = self.0.line().leave(ticket);
        drop(left);
    }

    fn take(&self, ticket: Option<u64>, place: Place) {
        if let Some(ticket) = ticket {
            self.leave(ticket, place);
        }
        self.0.take(None, place);
    }

    fn release(&self, place: Place) {
        self.0.release(place);
    }
}

/// The turn of a set.
pub(crate) struct OfSet {
    state: Object<State>,
}

struct State {
    taken: bool,
    line: Line,
}

impl OfSet {
    /// At first the set itself has the turn.
    #[track_caller]
    pub(crate) fn new() -> Arc<Self> {
        let state = Object::new(State { taken: true, line: Line::default() });
        drawloom::label(&state, drawloom::object::TURN);
        Arc::new(OfSet { state })
    }
}

impl Turns for OfSet {
    fn poll_take(&self, ticket: &mut Option<u64>, waker: &Waker, place: Place) -> Poll<()> {
        let (poll, left) = self.state.update_from(place, |state| {
            if std::mem::replace(&mut state.taken, true) {
                state.line.wait(ticket, waker);
                return (Poll::Pending, None);
            }
            (Poll::Ready(()), ticket.take().and_then(|ticket| state.line.leave(ticket)))
        });
        // Whoever made the waker decides what its drop does: not within a step.
        drop(left);
        poll
    }

    fn leave(&self, ticket: u64, place: Place) {
        if !future::facade::is_over() {
            let left = self.state.update_from(place, |state| state.line.leave(ticket));
            drop(left);
        }
    }

    fn take(&self, mut ticket: Option<u64>, place: Place) {
        future::block_on(poll_fn(|context| self.poll_take(&mut ticket, context.waker(), place)));
    }

    fn release(&self, place: Place) {
        let next = self.state.update_from(place, |state| {
            state.taken = false;
            state.line.waiting.pop_front().map(|(_, waker)| waker)
        });
        Wakers::from(next).wake();
    }
}

/// What [`OfThread::give_up`] returns.
pub(crate) struct GivenUp<'a> {
    turns: &'a OfThread,
    place: Place,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        // When all is torn down nobody waits for anybody.
        if !future::facade::is_over() {
            self.turns.take(None, self.place);
        }
    }
}

/// A future that is polled, and dropped, in turn.
pub(crate) struct InTurn<T: Turns, F> {
    /// There until it is dropped.
    future: Option<F>,
    turns: Arc<T>,
    ticket: Option<u64>,
    place: Place,
    /// Once it is set, whoever drops the future has the turn for it.
    lent: Option<Arc<AtomicBool>>,
}

impl<T: Turns, F: Future> InTurn<T, F> {
    #[track_caller]
    pub(crate) fn new(turns: Arc<T>, future: F) -> Self {
        InTurn { future: Some(future), turns, ticket: None, place: Location::caller(), lent: None }
    }

    /// The future is dropped without taking the turn once `lent` is set: somebody has it who waits for that.
    pub(crate) fn until(mut self, lent: Arc<AtomicBool>) -> Self {
        self.lent = Some(lent);
        self
    }
}

impl<T: Turns, F: Future> Future for InTurn<T, F> {
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
        let _turn = Taken { turns: &**turns, place };
        let poll = future.as_mut().as_pin_mut().expect("polled after it was ready").poll(context);
        if poll.is_ready() {
            future.set(None);
        }
        poll
    }
}

/// Gives the turn to the next one when dropped.
struct Taken<'a, T: Turns> {
    turns: &'a T,
    place: Place,
}

impl<T: Turns> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        self.turns.release(self.place);
    }
}

impl<T: Turns, F> Drop for InTurn<T, F> {
    fn drop(&mut self) {
        if self.future.is_none() {
            return;
        }
        if self.lent.as_ref().is_some_and(|lent| lent.load(Ordering::Acquire)) {
            if let Some(ticket) = self.ticket {
                self.turns.leave(ticket, self.place);
            }
            self.future = None;
            return;
        }
        // When all is torn down nobody waits for anybody.
        let _turn = (!future::facade::is_over()).then(|| {
            self.turns.take(self.ticket, self.place);
            Taken { turns: &*self.turns, place: self.place }
        });
        // Assigning drops it in place, as its pin demands, and while it is our turn.
        self.future = None;
    }
}
