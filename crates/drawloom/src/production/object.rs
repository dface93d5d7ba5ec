//! Objects in production: state under a lock.

use std::panic::Location;
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

    pub(crate) fn update_from<R>(&self, _place: &'static Location<'static>, f: impl FnOnce(&mut T) -> R) -> R {
        self.update(f)
    }

    pub(crate) fn look<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
