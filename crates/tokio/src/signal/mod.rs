//! `tokio::signal`: signals come when the test says so.

#[cfg(unix)]
pub mod unix;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::task::{Context, Poll};

use drawloom::object::{Awaited, Object};
use drawloom::sync::LazyLock;

use crate::sync::permits::Place;
use crate::waiting::{Until, Waiting};

/// The number of the signal that Ctrl-C sends.
const INTERRUPT: i32 = 2;

struct State {
    /// How often each signal has come.
    raised: BTreeMap<i32, u64>,
    waiting: Waiting,
}

impl State {
    fn count(&self, signal: i32) -> u64 {
        self.raised.get(&signal).copied().unwrap_or(0)
    }
}

/// Anew in each execution.
static SIGNALS: LazyLock<Object<State>> =
    LazyLock::new(|| Object::new(State { raised: BTreeMap::new(), waiting: Waiting::new() }));

/// How often `signal` has come.
fn count(signal: i32, place: Place) -> u64 {
    SIGNALS.look_from(place, |state| state.count(signal))
}

/// Waits until `signal` has come more often than `seen`; says how often.
fn next(signal: i32, seen: u64, place: Place) -> impl Future<Output = u64> + Unpin {
    let more = move |state: &mut State| Some(state.count(signal)).filter(|count| *count != seen);
    Until::new(&*SIGNALS, place, Awaited::Change, |state| &mut state.waiting, more)
}

/// As [`next`], as a poll that waits under `ticket`.
#[cfg(unix)]
fn poll_next(signal: i32, seen: u64, ticket: &mut Option<u64>, context: &Context<'_>, place: Place) -> Poll<u64> {
    let (poll, _waker) = SIGNALS.update_from(place, |state| match state.count(signal) {
        count if count != seen => (Poll::Ready(count), ticket.take().and_then(|ticket| state.waiting.forget(ticket))),
        _ => (Poll::Pending, state.waiting.register(ticket, context.waker())),
    });
    poll
}

/// Nobody waits under `ticket` any more.
#[cfg(unix)]
fn forget(ticket: u64, place: Place) {
    let _waker = SIGNALS.update_from(place, |state| state.waiting.forget(ticket));
}

#[track_caller]
fn raise_number(signal: i32) {
    let waiting = SIGNALS.update(|state| {
        *state.raised.entry(signal).or_default() += 1;
        state.waiting.take()
    });
    waiting.wake();
}

/// Waits for the next [`raise_ctrl_c`] after the first poll.
#[track_caller]
pub fn ctrl_c() -> impl Future<Output = io::Result<()>> {
    let place = Location::caller();
    async move {
        let seen = count(INTERRUPT, place);
        next(INTERRUPT, seen, place).await;
        Ok(())
    }
}

/// Sends what the user would by pressing Ctrl-C: all who wait in [`ctrl_c`] continue.
#[track_caller]
pub fn raise_ctrl_c() {
    raise_number(INTERRUPT);
}
