//! Channels of many senders and one receiver, as `tokio::sync::mpsc`.
//!
//! A send takes its place and puts the value there in one step, a [`Permit`] in two.

mod bounded;
mod chan;
pub mod error;
mod permit;
mod unbounded;

pub use bounded::{Receiver, Sender, WeakSender, channel};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

/// What both receivers can do.
macro_rules! receives {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// Waits for the next value; none once nothing can come any more.
            #[track_caller]
            pub fn recv(&mut self) -> impl ::std::future::Future<Output = Option<T>> {
                let place = ::std::panic::Location::caller();
                $crate::waiting::pinned(::std::future::poll_fn(move |context| self.chan.poll_recv(context, place)))
            }

            /// Waits for values, and takes as many as there are, up to `limit`; zero once nothing can come.
            #[track_caller]
            pub fn recv_many(
                &mut self,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> impl ::std::future::Future<Output = usize> {
                let place = ::std::panic::Location::caller();
                let recv = move |context: &mut ::std::task::Context<'_>| {
                    self.chan.poll_recv_many(context, buffer, limit, place)
                };
                $crate::waiting::pinned(::std::future::poll_fn(recv))
            }

            /// The next value, if it is there.
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, error::TryRecvError> {
                self.chan.try_recv()
            }

            /// As [`recv`](Self::recv), for threads.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                crate::context::block_on(self.recv())
            }

            /// As [`recv_many`](Self::recv_many), for threads.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                crate::context::block_on(self.recv_many(buffer, limit))
            }

            /// Nobody can send from now on; what is there can still be received.
            #[track_caller]
            pub fn close(&mut self) {
                self.chan.close(::std::panic::Location::caller());
            }

            /// Whether it was closed, or all senders are gone.
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.chan.is_closed_for_receiver()
            }

            /// Whether nothing is there.
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many values are there.
            #[track_caller]
            pub fn len(&self) -> usize {
                self.chan.len()
            }

            /// As [`recv`](Self::recv), as a poll.
            #[track_caller]
            pub fn poll_recv(&mut self, context: &mut ::std::task::Context<'_>) -> ::std::task::Poll<Option<T>> {
                self.chan.poll_recv(context, ::std::panic::Location::caller())
            }

            /// As [`recv_many`](Self::recv_many), as a poll.
            #[track_caller]
            pub fn poll_recv_many(
                &mut self,
                context: &mut ::std::task::Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> ::std::task::Poll<usize> {
                self.chan.poll_recv_many(context, buffer, limit, ::std::panic::Location::caller())
            }

            /// How many senders there are.
            #[track_caller]
            pub fn sender_strong_count(&self) -> usize {
                self.chan.strong_count()
            }

            /// How many weak senders there are.
            pub fn sender_weak_count(&self) -> usize {
                self.chan.weak_count()
            }
        }

        impl<T> Drop for $receiver<T> {
            fn drop(&mut self) {
                self.chan.receiver_dropped();
            }
        }

        impl<T> ::std::fmt::Debug for $receiver<T> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($receiver)).finish_non_exhaustive()
            }
        }
    };
}

/// What both senders and their weak counterparts can do.
macro_rules! sends {
    ($sender:ident, $weak:ident) => {
        impl<T> $sender<T> {
            /// Waits until the receiver was closed or dropped.
            #[track_caller]
            pub fn closed(&self) -> impl ::std::future::Future<Output = ()> {
                $crate::waiting::pinned(self.chan.closed(::std::panic::Location::caller()))
            }

            /// Whether the receiver was closed or dropped.
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.chan.is_closed()
            }

            /// Whether both send to the same receiver.
            pub fn same_channel(&self, other: &Self) -> bool {
                ::std::sync::Arc::ptr_eq(&self.chan, &other.chan)
            }

            /// A sender that does not keep the channel open.
            #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
            pub fn downgrade(&self) -> $weak<T> {
                self.chan.weak_cloned();
                $weak { chan: self.chan.clone() }
            }

            /// How many senders there are.
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.chan.strong_count()
            }

            /// How many weak senders there are.
            pub fn weak_count(&self) -> usize {
                self.chan.weak_count()
            }
        }

        impl<T> Clone for $sender<T> {
            fn clone(&self) -> Self {
                self.chan.sender_cloned();
                $sender { chan: self.chan.clone() }
            }
        }

        impl<T> Drop for $sender<T> {
            fn drop(&mut self) {
                self.chan.sender_dropped();
            }
        }

        impl<T> ::std::fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }

        impl<T> $weak<T> {
            /// A sender, if there still is one.
            #[track_caller]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                self.chan.upgrade().then(|| $sender { chan: self.chan.clone() })
            }

            /// How many senders there are.
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.chan.strong_count()
            }

            /// How many weak senders there are.
            pub fn weak_count(&self) -> usize {
                self.chan.weak_count()
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                self.chan.weak_cloned();
                $weak { chan: self.chan.clone() }
            }
        }

        impl<T> Drop for $weak<T> {
            fn drop(&mut self) {
                self.chan.weak_dropped();
            }
        }

        impl<T> ::std::fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }
    };
}

use {receives, sends};
