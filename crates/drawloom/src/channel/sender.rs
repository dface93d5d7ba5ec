//! The sending end.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::arm::SendArm;
use super::core::{Channel, Sent, Side};
use super::select::{Arm, Patience, select};
use super::{SendError, SendTimeoutError, TrySendError};
use crate::time::Instant;

/// The sending end of a channel.
///
/// ```
/// let (sender, receiver) = drawloom::channel::unbounded();
/// let other = sender.clone();
/// other.send("hello").unwrap();
/// drop((sender, other));
/// assert_eq!(receiver.recv(), Ok("hello"));
/// assert!(receiver.recv().is_err()); // no sender is left
/// ```
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
    /// Where this end was made: also the place of its drop, which has none of its own.
    made_at: &'static Location<'static>,
}

impl<T> Sender<T> {
    #[track_caller]
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Sender { channel, made_at: Location::caller() }
    }

    pub(super) fn channel(&self) -> &Channel<T> {
        &self.channel
    }

    /// Sends a message, waiting for room, or in a rendezvous for a receiver.
    ///
    /// # Errors
    ///
    /// If the channel is disconnected; the message comes back.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut arm = SendArm::new(self, message);
        select(&mut [&mut arm], Patience::Endless);
        arm.into_result()
    }

    /// Sends a message if there is room now.
    ///
    /// # Errors
    ///
    /// If there is none, or the channel is disconnected; the message comes back.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.channel.try_send(message, None) {
            Sent::Done | Sent::InHand => Ok(()),
            Sent::Full(message) => Err(TrySendError::Full(message)),
            Sent::Disconnected(message) => Err(TrySendError::Disconnected(message)),
        }
    }

    /// As [`send`](Self::send), waiting for `timeout` at most, in virtual time inside an exploration.
    ///
    /// # Errors
    ///
    /// If there was no room in time, or the channel is disconnected; the message comes back.
    #[track_caller]
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_with(message, Instant::now().checked_add(timeout))
    }

    /// As [`send_timeout`](Self::send_timeout), until `deadline`.
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_with(message, Some(deadline))
    }

    #[track_caller]
    fn send_with(&self, message: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        let mut arm = SendArm::new(self, message);
        // As everywhere, a timeout beyond all clocks is none.
        let patience = deadline.map_or(Patience::Endless, Patience::Until);
        match select(&mut [&mut arm as &mut dyn Arm], patience) {
            Some(_) => arm.into_result().map_err(|SendError(message)| SendTimeoutError::Disconnected(message)),
            None => Err(SendTimeoutError::Timeout(arm.into_message().expect("it was not sent"))),
        }
    }
}

super::end::common_methods!(Sender, Side::Sending);
