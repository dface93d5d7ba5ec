//! The receiving end.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use super::channel::{Channel, Flavor, Nothing, Patience};
use super::{Iter, RecvError, RecvTimeoutError, TryIter, TryRecvError};
use crate::label::Labelled;
use crate::rt::{self, Handle, ResourceId};

/// The receiving end of a channel: as [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    /// std's own receiver among the flavors keeps this type from being `Sync`, as it should be.
    end: Flavor<std::sync::mpsc::Receiver<T>, Arc<Channel<T>>>,
    /// Where this end was made: also the place of its drop, which has none of its own.
    made_at: &'static Location<'static>,
}

impl<T> Receiver<T> {
    #[track_caller]
    pub(super) fn new(end: Flavor<std::sync::mpsc::Receiver<T>, Arc<Channel<T>>>) -> Self {
        Receiver { end, made_at: Location::caller() }
    }

    /// As [`std::sync::mpsc::Receiver::recv`].
    ///
    /// # Errors
    ///
    /// If the channel is empty and every sender is gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.end {
            Flavor::Native(receiver) => receiver.recv(),
            Flavor::Controlled(channel) => channel.receive(Patience::Endless, rt::here()).map_err(|_| RecvError),
        }
    }

    /// [`recv`](Self::recv) for an iterator that was made at `made_at`: that is the place which people know where std calls it, as
    /// in `inbox.iter().sum()`.
    #[track_caller]
    pub(super) fn recv_for(&self, made_at: &'static Location<'static>) -> Result<T, RecvError> {
        let called = Location::caller();
        let in_std = called.file().starts_with("/rustc/") || called.file().contains("/lib/rustlib/src/");
        match &self.end {
            Flavor::Native(receiver) => receiver.recv(),
            Flavor::Controlled(channel) => {
                let place = if in_std { made_at } else { called };
                channel.receive(Patience::Endless, rt::site(place)).map_err(|_| RecvError)
            }
        }
    }

    /// As [`std::sync::mpsc::Receiver::try_recv`].
    ///
    /// # Errors
    ///
    /// If the channel is empty.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.end {
            Flavor::Native(receiver) => receiver.try_recv(),
            Flavor::Controlled(channel) => {
                channel.receive(Patience::None, rt::here()).map_err(|nothing| match nothing {
                    Nothing::Empty | Nothing::TimedOut => TryRecvError::Empty,
                    Nothing::Disconnected => TryRecvError::Disconnected,
                })
            }
        }
    }

    /// As [`std::sync::mpsc::Receiver::recv_timeout`], in virtual time under control.
    ///
    /// # Errors
    ///
    /// If nothing came in time, or the channel is empty and every sender is gone.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.end {
            Flavor::Native(receiver) => receiver.recv_timeout(timeout),
            Flavor::Controlled(channel) => {
                // As in std, a timeout beyond all clocks is none.
                let patience = u64::try_from(timeout.as_nanos()).map_or(Patience::Endless, Patience::Until);
                channel.receive(patience, rt::here()).map_err(|nothing| match nothing {
                    Nothing::Empty | Nothing::TimedOut => RecvTimeoutError::Timeout,
                    Nothing::Disconnected => RecvTimeoutError::Disconnected,
                })
            }
        }
    }

    /// As [`std::sync::mpsc::Receiver::iter`].
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self, made_at: Location::caller() }
    }

    /// As [`std::sync::mpsc::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Flavor::Controlled(channel) = &self.end {
            channel.drop_receiver(rt::site(self.made_at));
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Labelled for Receiver<T> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        match &self.end {
            Flavor::Native(_) => None,
            Flavor::Controlled(channel) => Some(channel.resource(rt)),
        }
    }
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}
