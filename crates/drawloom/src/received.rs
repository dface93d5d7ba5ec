//! Iterators over what a channel's receiver receives: the same for every kind of channel.

/// The iterators of a `Receiver` with `recv` and `try_recv`; `$like` says what they are modelled on.
/// The field is called `rx` because `Debug` shows it, and std's shows that name.
macro_rules! iterators_over_received {
    ($Receiver:ident, $like:literal) => {
        /// Waits for each message, until nobody is left to send one:
        #[doc = concat!("as `", $like, "::Iter`.")]
        #[derive(Debug)]
        pub struct Iter<'a, T: 'a> {
            pub(super) rx: &'a $Receiver<T>,
        }

        /// Gives the messages that are there, without waiting:
        #[doc = concat!("as `", $like, "::TryIter`.")]
        #[derive(Debug)]
        pub struct TryIter<'a, T: 'a> {
            pub(super) rx: &'a $Receiver<T>,
        }

        /// As [`Iter`], owning the receiver:
        #[doc = concat!("as `", $like, "::IntoIter`.")]
        #[derive(Debug)]
        pub struct IntoIter<T> {
            rx: $Receiver<T>,
        }

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.rx.recv().ok()
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
                self.rx.recv().ok()
            }
        }

        impl<'a, T> IntoIterator for &'a $Receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;

            fn into_iter(self) -> Iter<'a, T> {
                self.iter()
            }
        }

        impl<T> IntoIterator for $Receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                IntoIter { rx: self }
            }
        }
    };
}

pub(crate) use iterators_over_received;
