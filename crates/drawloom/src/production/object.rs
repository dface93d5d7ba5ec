//! Objects in production: state under a lock.

use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(crate) struct Object<T>(Mutex<T>);

impl<T> Object<T> {
    pub(crate) const fn new(state: T) -> Self {
        Object(Mutex::new(state))
    }

    pub(crate) fn update<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn look<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Queues: states under a lock, of which nobody keeps count.
pub(crate) mod queue {
    use std::panic::Location;

    use super::Object;

    pub(crate) struct Queue<S>(Object<S>);

    impl<S> Queue<S> {
        pub(crate) const fn new(state: S, _capacity: u64) -> Self {
            Queue(Object::new(state))
        }

        pub(crate) fn put<R>(&self, _place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
            self.0.update(f)
        }

        pub(crate) fn take<R>(&self, _place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
            self.0.update(f)
        }

        pub(crate) fn leave<R>(&self, _place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
            self.0.update(f)
        }

        pub(crate) fn update<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
            self.0.update(f)
        }

        pub(crate) fn update_from<R>(&self, _place: &'static Location<'static>, f: impl FnOnce(&mut S) -> R) -> R {
            self.0.update(f)
        }

        pub(crate) fn look<R>(&self, f: impl FnOnce(&S) -> R) -> R {
            self.0.look(f)
        }
    }
}
