//! The receiving end.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::arm::RecvArm;
use super::core::{Channel, Received, Side};
use super::select::{Arm, Patience, select};
use super::{Iter, RecvError, RecvTimeoutError, TryIter, TryRecvError};
use crate::time::Instant;

/// The receiving end of a channel. Each message is received by one of them.
///
/// ```
/// let (sender, receiver) = drawloom::channel::unbounded();
/// sender.send(1).unwrap();
/// let other = receiver.clone();
/// assert_eq!(other.recv(), Ok(1));
/// assert!(receiver.try_recv().is_err()); // the other end has received it
/// ```
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// Where this end was made: also the place of its drop, which has none of its own.
    made_at: &'static Location<'static>,
}

impl<T> Receiver<T> {
    #[track_caller]
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Receiver { channel, made_at: Location::caller() }
    }

    pub(super) fn channel(&self) -> &Channel<T> {
        &self.channel
    }

    /// Receives a message, waiting for one.
    ///
    /// # Errors
    ///
    /// If the channel is empty and disconnected.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut arm = RecvArm::new(self);
        select(&mut [&mut arm], Patience::Endless);
        arm.into_result()
    }

    /// [`recv`](Self::recv) for an iterator.
    #[track_caller]
    pub(super) fn recv_for(&self, _made_at: &'static Location<'static>) -> Result<T, RecvError> {
        self.recv()
    }

    /// Receives a message if there is one now.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.channel.try_recv(None) {
            Received::Message(message) => Ok(message),
            Received::Nothing => Err(TryRecvError::Empty),
            Received::Disconnected => Err(TryRecvError::Disconnected),
        }
    }

    /// As [`recv`](Self::recv), waiting for `timeout` at most, in virtual time inside an exploration.
    ///
    /// # Errors
    ///
    /// If nothing came in time, or the channel is empty and disconnected.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_with(Instant::now().checked_add(timeout))
    }

    /// As [`recv_timeout`](Self::recv_timeout), until `deadline`.
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_with(Some(deadline))
    }

    #[track_caller]
    fn recv_with(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let mut arm = RecvArm::new(self);
        // As everywhere, a timeout beyond all clocks is none.
        let patience = deadline.map_or(Patience::Endless, Patience::Until);
        match select(&mut [&mut arm as &mut dyn Arm], patience) {
            Some(_) => arm.into_result().map_err(|RecvError| RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Waits for each message, until the channel is empty and disconnected.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self, made_at: Location::caller() }
    }

    /// Gives the messages that are there, without waiting.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self }
    }
}

super::end::common_methods!(Receiver, Side::Receiving);
