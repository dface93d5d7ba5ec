//! Channels for one value, as `tokio::sync::oneshot`.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use drawloom::future::facade::awaited_at;
use drawloom::object::{Act, Awaited, Object};

use self::error::{RecvError, TryRecvError};
use super::permits::Place;
use crate::context;
use crate::task::coop;
use crate::waiting::{Wakers, pinned};

struct State<T> {
    value: Option<T>,
    /// The sender has sent or is gone.
    complete: bool,
    /// The receiver wants nothing any more.
    closed: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

struct Shared<T> {
    state: Object<State<T>>,
    made_at: Place,
}

/// A channel for one value.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { value: None, complete: false, closed: false, receiver: None, sender: None };
    let shared = Arc::new(Shared { state: Object::new(state), made_at: Location::caller() });
    (Sender { shared: Some(shared.clone()) }, Receiver { shared: Some(shared) })
}

/// Sends one value.
pub struct Sender<T> {
    /// There until it is used.
    shared: Option<Arc<Shared<T>>>,
}

impl<T> Sender<T> {
    fn shared(&self) -> &Shared<T> {
        self.shared.as_ref().expect("a sender is used once")
    }

    /// Sends, unless the receiver is closed or gone.
    #[track_caller]
    pub fn send(mut self, value: T) -> Result<(), T> {
        let shared = self.shared.take().expect("a sender is used once");
        let mut value = Some(value);
        let receiver = shared.state.update_doing(Location::caller(), |state| {
            state.complete = true;
            if !state.closed {
                state.value = value.take();
            }
            (state.receiver.take(), Act::Sends)
        });
        Wakers::from(receiver).wake();
        value.map_or(Ok(()), Err)
    }

    /// Waits until the receiver is closed or gone.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        let place = Location::caller();
        pinned(poll_fn(move |context| self.poll_closed_from(context, place)))
    }

    /// Whether the receiver is closed or gone.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.shared().state.look(|state| state.closed)
    }

    /// As [`closed`](Self::closed), as a poll.
    #[track_caller]
    pub fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_from(context, Location::caller())
    }

    fn poll_closed_from(&mut self, context: &mut Context<'_>, place: Place) -> Poll<()> {
        let budget = ready!(coop::poll_proceed(context));
        // The waker that was there is dropped after the step: that may take one.
        let (poll, _replaced) = self.shared().state.update_doing(place, |state| match state.closed {
            true => ((Poll::Ready(()), None), Act::Receives),
            false => ((Poll::Pending, state.sender.replace(context.waker().clone())), Act::Awaits(Awaited::Change)),
        });
        budget.after(poll)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            let receiver = shared.state.update_from(shared.made_at, |state| {
                state.complete = true;
                state.receiver.take()
            });
            Wakers::from(receiver).wake();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// Receives one value: a future of it.
pub struct Receiver<T> {
    /// There until it has got the value, or knows that there is none.
    shared: Option<Arc<Shared<T>>>,
}

impl<T> Receiver<T> {
    /// Wants nothing from now on; what was sent before can still be received.
    #[track_caller]
    pub fn close(&mut self) {
        if let Some(shared) = &self.shared {
            close(shared, Location::caller());
        }
    }

    /// Whether it was received already, or there is nothing to be received.
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.shared.is_none()
    }

    /// Whether nothing is there now.
    #[must_use]
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| shared.state.look(|state| state.value.is_none()))
    }

    /// The value, if it is there.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Some(shared) = &self.shared else { return Err(TryRecvError::Closed) };
        let (value, over) = shared.state.update(|state| (state.value.take(), state.complete || state.closed));
        if over {
            self.shared = None;
        }
        value.ok_or(if over { TryRecvError::Closed } else { TryRecvError::Empty })
    }

    /// Waits for the value, for threads.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        context::block_on(self)
    }
}

fn close<T>(shared: &Shared<T>, place: Place) {
    let sender = shared.state.update_from(place, |state| {
        state.closed = true;
        state.sender.take()
    });
    Wakers::from(sender).wake();
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = self.shared.as_ref().expect("called after complete");
        let budget = ready!(coop::poll_proceed(context));
        let (poll, _replaced) =
            shared.state.update_doing(awaited_at(shared.made_at), |state| match state.value.take() {
                Some(value) => ((Poll::Ready(Ok(value)), None), Act::Receives),
                None if state.complete || state.closed => ((Poll::Ready(Err(RecvError(()))), None), Act::Uses),
                None => {
                    ((Poll::Pending, state.receiver.replace(context.waker().clone())), Act::Awaits(Awaited::Message))
                }
            });
        let poll = budget.after(poll);
        if poll.is_ready() {
            self.shared = None;
        }
        poll
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            let (sender, value) = shared.state.update_from(shared.made_at, |state| {
                state.closed = true;
                (state.sender.take(), state.value.take())
            });
            Wakers::from(sender).wake();
            drop(value);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Why nothing was received.
pub mod error {
    use std::error::Error;
    use std::fmt;

    /// The sender is gone without a value.
    #[derive(Debug, PartialEq, Eq, Clone)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl Error for RecvError {}

    /// Why nothing was received at once.
    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum TryRecvError {
        /// There is nothing now.
        Empty,
        /// The sender is gone without a value, or the value was received.
        Closed,
    }

    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                TryRecvError::Empty => f.write_str("channel empty"),
                TryRecvError::Closed => f.write_str("channel closed"),
            }
        }
    }

    impl Error for TryRecvError {}
}
