//! Iterators over what a channel's receiver receives: the same for every kind of channel.

/// The iterators of a `Receiver` with `recv` and `try_recv`; `$like` says what they are modelled on.
/// The field is called `rx` because `Debug` shows it, and std's shows that name.
macro_rules! iterators_over_received {
    ($Receiver:ident, $like:literal) => {
        /// Waits for each message, until nobody is left to send one:
        #[doc = concat!("as `", $like, "::Iter`.")]
        pub struct Iter<'a, T: 'a> {
            pub(super) rx: &'a $Receiver<T>,
            pub(super) made_at: &'static ::std::panic::Location<'static>,
        }

        /// Gives the messages that are there, without waiting:
        #[doc = concat!("as `", $like, "::TryIter`.")]
        #[derive(Debug)]
        pub struct TryIter<'a, T: 'a> {
            pub(super) rx: &'a $Receiver<T>,
        }

        /// As [`Iter`], owning the receiver:
        #[doc = concat!("as `", $like, "::IntoIter`.")]
        pub struct IntoIter<T> {
            rx: $Receiver<T>,
            made_at: &'static ::std::panic::Location<'static>,
        }

        impl<T> ::std::fmt::Debug for Iter<'_, T> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("Iter").field("rx", self.rx).finish()
            }
        }

        impl<T> ::std::fmt::Debug for IntoIter<T> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("IntoIter").field("rx", &self.rx).finish()
            }
        }

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.rx.recv_for(self.made_at).ok()
            }
        }

        impl<T> Iterator for TryIter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.rx.try_recv().ok()
            }
        }

        impl<T> Iterator for IntoIter<T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.rx.recv_for(self.made_at).ok()
            }
        }

        impl<'a, T> IntoIterator for &'a $Receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;

            #[track_caller]
            fn into_iter(self) -> Iter<'a, T> {
                self.iter()
            }
        }

        impl<T> IntoIterator for $Receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            #[track_caller]
            fn into_iter(self) -> IntoIter<T> {
                IntoIter { rx: self, made_at: ::std::panic::Location::caller() }
            }
        }
    };
}

pub(crate) use iterators_over_received;
