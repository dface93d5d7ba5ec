//! The sending ends.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use super::channel::{Channel, Flavor, Returned};
use super::{SendError, TrySendError};
use crate::label::Labelled;
use crate::rt::{self, Handle, ResourceId};

macro_rules! sending_end {
    ($(#[$doc:meta])* $Name:ident) => {
        $(#[$doc])*
        pub struct $Name<T> {
            end: Flavor<std::sync::mpsc::$Name<T>, Arc<Channel<T>>>,
            /// Where this end was made: also the place of its drop, which has none of its own.
            made_at: &'static Location<'static>,
        }

        impl<T> $Name<T> {
            #[track_caller]
            pub(super) fn new(end: Flavor<std::sync::mpsc::$Name<T>, Arc<Channel<T>>>) -> Self {
                $Name { end, made_at: Location::caller() }
            }

            #[doc = concat!("As [`std::sync::mpsc::", stringify!($Name), "::send`].")]
            ///
            /// # Errors
            ///
            /// If the receiver is gone; the message comes back.
            #[track_caller]
            pub fn send(&self, message: T) -> Result<(), SendError<T>> {
                match &self.end {
                    Flavor::Native(sender) => sender.send(message),
                    Flavor::Controlled(channel) => {
                        channel.send(message, true, rt::here()).map_err(|returned| match returned {
                            Returned::Full(message) | Returned::Disconnected(message) => SendError(message),
                        })
                    }
                }
            }
        }

        impl<T> Clone for $Name<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                Self::new(match &self.end {
                    Flavor::Native(sender) => Flavor::Native(sender.clone()),
                    Flavor::Controlled(channel) => {
                        channel.add_sender();
                        Flavor::Controlled(channel.clone())
                    }
                })
            }
        }

        impl<T> Drop for $Name<T> {
            fn drop(&mut self) {
                if let Flavor::Controlled(channel) = &self.end {
                    channel.drop_sender(rt::site(self.made_at));
                }
            }
        }

        impl<T> fmt::Debug for $Name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Name)).finish_non_exhaustive()
            }
        }

        impl<T> Labelled for $Name<T> {
            fn id(&self, rt: Handle) -> Option<ResourceId> {
                match &self.end {
                    Flavor::Native(_) => None,
                    Flavor::Controlled(channel) => Some(channel.resource(rt)),
                }
            }
        }

        impl<T> UnwindSafe for $Name<T> {}
        impl<T> RefUnwindSafe for $Name<T> {}
    };
}

sending_end! {
    /// The sending end of [`channel`](super::channel): as [`std::sync::mpsc::Sender`].
    Sender
}

sending_end! {
    /// The sending end of [`sync_channel`](super::sync_channel): as [`std::sync::mpsc::SyncSender`].
    SyncSender
}

impl<T> SyncSender<T> {
    /// As [`std::sync::mpsc::SyncSender::try_send`].
    ///
    /// # Errors
    ///
    /// If there is no room now, or the receiver is gone; the message comes back.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.end {
            Flavor::Native(sender) => sender.try_send(message),
            Flavor::Controlled(channel) => {
                channel.send(message, false, rt::here()).map_err(|returned| match returned {
                    Returned::Full(message) => TrySendError::Full(message),
                    Returned::Disconnected(message) => TrySendError::Disconnected(message),
                })
            }
        }
    }
}
