//! Room in a channel that was reserved and is not yet filled.

use std::fmt;
use std::iter::FusedIterator;

use super::bounded::Sender;
use super::chan::Chan;
use crate::sync::permits::Place;

/// Room for one value; see [`Sender::reserve`].
pub struct Permit<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) place: Place,
}

impl<T> Permit<'_, T> {
    /// Sends, without waiting.
    pub fn send(self, value: T) {
        self.chan.fill(value, self.place);
        std::mem::forget(self);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.chan.give_back(1, self.place);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// Room for several values; see [`Sender::reserve_many`].
pub struct PermitIterator<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) left: usize,
    pub(super) place: Place,
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit { chan: self.chan, place: self.place })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        self.chan.give_back(self.left, self.place);
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("capacity", &self.left).finish_non_exhaustive()
    }
}

/// Room for one value, with the sender; see [`Sender::reserve_owned`].
pub struct OwnedPermit<T> {
    /// There until the permit is used.
    pub(super) sender: Option<Sender<T>>,
    pub(super) place: Place,
}

impl<T> OwnedPermit<T> {
    fn sender(&mut self) -> Sender<T> {
        self.sender.take().expect("a permit is used once")
    }

    /// Sends, without waiting.
    pub fn send(mut self, value: T) -> Sender<T> {
        let sender = self.sender();
        sender.chan.fill(value, self.place);
        sender
    }

    /// Sends nothing.
    pub fn release(mut self) -> Sender<T> {
        let sender = self.sender();
        sender.chan.give_back(1, self.place);
        sender
    }

    /// Whether both are for the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender.as_ref().zip(other.sender.as_ref()).is_some_and(|(one, other)| one.same_channel(other))
    }

    /// Whether it is for the channel of `sender`.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender.as_ref().is_some_and(|mine| mine.same_channel(sender))
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            sender.chan.give_back(1, self.place);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
