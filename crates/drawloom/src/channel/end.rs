//! What both ends of a channel can do.

macro_rules! common_methods {
    ($End:ident, $side:expr) => {
        impl<T> $End<T> {
            /// How many messages wait to be received.
            #[track_caller]
            pub fn len(&self) -> usize {
                self.channel.len()
            }

            /// Whether there are none. Always so in a rendezvous.
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.channel.len() == 0
            }

            /// Whether there is no room for another one. Always so in a rendezvous.
            #[track_caller]
            pub fn is_full(&self) -> bool {
                let len = self.channel.len();
                self.channel.capacity().is_some_and(|capacity| len >= capacity)
            }

            /// How many messages there is room for; none if the channel never fills.
            pub fn capacity(&self) -> Option<usize> {
                self.channel.capacity()
            }

            /// Whether both are ends of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                std::sync::Arc::ptr_eq(&self.channel, &other.channel)
            }

            /// Disconnects the channel: nothing can be sent any more, and messages that were sent can still be
            /// received. Whether it was open before.
            #[track_caller]
            pub fn close(&self) -> bool {
                self.channel.close()
            }

            /// Whether the channel is disconnected: closed, or one side has no end left.
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.channel.is_closed()
            }
        }

        impl<T> Clone for $End<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                self.channel.add($side);
                $End { channel: self.channel.clone(), made_at: std::panic::Location::caller() }
            }
        }

        impl<T> Drop for $End<T> {
            fn drop(&mut self) {
                self.channel.remove($side, self.made_at);
            }
        }

        impl<T> std::fmt::Debug for $End<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($End)).finish_non_exhaustive()
            }
        }

        #[cfg(feature = "controlled")]
        impl<T> crate::label::Labelled for $End<T> {
            fn id(&self, rt: crate::rt::Handle) -> Option<crate::rt::ResourceId> {
                self.channel.object().id(rt)
            }
        }

        impl<T> std::panic::UnwindSafe for $End<T> {}
        impl<T> std::panic::RefUnwindSafe for $End<T> {}
    };
}

pub(super) use common_methods;
