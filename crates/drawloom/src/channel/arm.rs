//! The arms of a select: a receive, a send.

use std::sync::Arc;

use super::core::{Channel, Entry, Hand, Received, Registered, Sent, Side};
use super::select::Arm;
use super::{Receiver, RecvError, SendError, Sender};
use crate::wait::Wait;

/// A receive, and its result.
pub struct RecvArm<'a, T> {
    channel: &'a Channel<T>,
    hand: Hand<T>,
    result: Option<Result<T, RecvError>>,
}

impl<'a, T> RecvArm<'a, T> {
    /// A receive that was not tried yet.
    pub fn new(receiver: &'a Receiver<T>) -> Self {
        RecvArm { channel: receiver.channel(), hand: Hand::empty(), result: None }
    }

    /// The result, once it was carried out.
    pub fn into_result(self) -> Result<T, RecvError> {
        self.result.expect("it was carried out")
    }

    #[track_caller]
    fn try_with(&mut self, entry: Option<&Entry<T>>) -> bool {
        self.result = match self.channel.try_recv(entry) {
            Received::Message(message) => Some(Ok(message)),
            Received::Disconnected => Some(Err(RecvError)),
            Received::Nothing => None,
        };
        self.result.is_some()
    }

    fn entry(&self, wait: &Arc<Wait>, arm: usize) -> Entry<T> {
        Entry { wait: wait.clone(), arm, hand: self.hand.clone() }
    }
}

impl<T> Arm for RecvArm<'_, T> {
    fn is_timed(&self) -> bool {
        self.channel.is_timed()
    }

    #[track_caller]
    fn attempt(&mut self) -> bool {
        self.try_with(None)
    }

    #[track_caller]
    fn attempt_or_wait(&mut self, wait: &Arc<Wait>) -> bool {
        let entry = self.entry(wait, 0);
        self.try_with(Some(&entry))
    }

    #[track_caller]
    fn register(&mut self, wait: &Arc<Wait>, index: usize) -> Registered {
        self.channel.register(Side::Receiving, &self.entry(wait, index))
    }

    #[track_caller]
    fn withdraw(&mut self, wait: &Arc<Wait>) {
        self.channel.withdraw(Side::Receiving, wait);
    }

    #[track_caller]
    fn finish(&mut self) -> bool {
        match self.hand.take() {
            Some(message) => {
                self.result = Some(Ok(message));
                true
            }
            None => self.try_with(None),
        }
    }
}

/// A send, and its result.
pub struct SendArm<'a, T> {
    channel: &'a Channel<T>,
    hand: Hand<T>,
    message: Option<T>,
    result: Option<Result<(), SendError<T>>>,
}

impl<'a, T> SendArm<'a, T> {
    /// A send that was not tried yet.
    pub fn new(sender: &'a Sender<T>, message: T) -> Self {
        SendArm { channel: sender.channel(), hand: Hand::empty(), message: Some(message), result: None }
    }

    /// The result, once it was carried out.
    pub fn into_result(self) -> Result<(), SendError<T>> {
        self.result.expect("it was carried out")
    }

    /// The message, if it was not sent.
    pub(super) fn into_message(self) -> Option<T> {
        self.message.or_else(|| self.hand.take())
    }

    #[track_caller]
    fn try_with(&mut self, entry: Option<&Entry<T>>) -> bool {
        let Some(message) = self.message.take() else { return false };
        match self.channel.try_send(message, entry) {
            Sent::Done => self.result = Some(Ok(())),
            Sent::InHand => {}
            Sent::Disconnected(message) => self.result = Some(Err(SendError(message))),
            Sent::Full(message) => self.message = Some(message),
        }
        self.result.is_some()
    }

    fn entry(&self, wait: &Arc<Wait>, arm: usize) -> Entry<T> {
        Entry { wait: wait.clone(), arm, hand: self.hand.clone() }
    }

    fn take_back(&mut self) {
        if let Some(message) = self.hand.take() {
            self.message = Some(message);
        }
    }
}

impl<T> Arm for SendArm<'_, T> {
    fn is_timed(&self) -> bool {
        false
    }

    #[track_caller]
    fn attempt(&mut self) -> bool {
        self.try_with(None)
    }

    #[track_caller]
    fn attempt_or_wait(&mut self, wait: &Arc<Wait>) -> bool {
        let entry = self.entry(wait, 0);
        self.try_with(Some(&entry))
    }

    #[track_caller]
    fn register(&mut self, wait: &Arc<Wait>, index: usize) -> Registered {
        if self.channel.capacity() == Some(0) {
            // Nobody looks before it is registered.
            if let Some(message) = self.message.take() {
                self.hand.put(message);
            }
        }
        self.channel.register(Side::Sending, &self.entry(wait, index))
    }

    #[track_caller]
    fn withdraw(&mut self, wait: &Arc<Wait>) {
        self.channel.withdraw(Side::Sending, wait);
        self.take_back();
    }

    #[track_caller]
    fn finish(&mut self) -> bool {
        if self.channel.capacity() == Some(0) {
            self.take_back();
            if self.message.is_none() {
                self.result = Some(Ok(()));
                return true;
            }
        }
        self.try_with(None)
    }
}
