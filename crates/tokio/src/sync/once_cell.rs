//! [`OnceCell`], as `tokio::sync::OnceCell`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;

use drawloom::object::{Act, Object};
use drawloom::sync::OnceLock;

use super::TryAcquireError;
use super::permits::{Acquire, Held, Permits, Place};

/// A value that is made once, by a future, as `tokio::sync::OnceCell`.
///
/// A static one starts again in each execution.
pub struct OnceCell<T> {
    /// The value that it was made with.
    given: Option<T>,
    value: OnceLock<T>,
    /// One: who has it makes the value.
    permits: Object<Permits>,
}

impl<T> OnceCell<T> {
    /// Without a value.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        OnceCell { given: None, value: OnceLock::new(), permits: Object::new(Permits::of_cell()) }
    }

    /// As [`new`](Self::new).
    #[must_use]
    #[track_caller]
    pub const fn const_new() -> Self {
        OnceCell::new()
    }

    /// With a value, or without.
    #[must_use]
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        OnceCell { given: value, ..OnceCell::new() }
    }

    /// With a value.
    #[must_use]
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        OnceCell { given: Some(value), value: OnceLock::new(), permits: Object::new(Permits::of_cell()) }
    }

    /// Whether there is a value.
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        match &self.given {
            None => self.value.get(),
            given => given.as_ref(),
        }
    }

    /// The value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.given.as_mut().or_else(|| self.value.get_mut())
    }

    /// Puts a value in, unless there is one or it is being made.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.initialized() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.permits.update_doing(Location::caller(), |permits| permits.try_taking(1)) {
            Ok(()) => {}
            Err(TryAcquireError::NoPermits) => return Err(SetError::InitializingError(value)),
            Err(TryAcquireError::Closed) => return Err(SetError::AlreadyInitializedError(value)),
        }
        self.fill(value, Held { permits: &self.permits, count: 1, place: Location::caller() });
        Ok(())
    }

    /// Puts the value in, and ends all waits for it.
    fn fill(&self, value: T, held: Held<'_>) {
        let filled = self.value.set(value);
        debug_assert!(filled.is_ok(), "who has the permit is the only one");
        let place = held.place;
        std::mem::forget(held);
        self.permits.update_doing(place, |permits| (permits.close(), Act::Unlocks)).wake();
    }

    /// Waits to be the one who makes the value; none if somebody else has made it.
    async fn claim(&self, place: Place) -> Option<Held<'_>> {
        if self.initialized() {
            return None;
        }
        // Closed once there is a value.
        Acquire::new(&self.permits, 1, place).await.ok()?;
        let held = Held { permits: &self.permits, count: 1, place };
        (!self.initialized()).then_some(held)
    }

    fn there(&self) -> &T {
        self.get().expect("the value was made")
    }

    /// The value, made by `f` if nobody else has. Who comes meanwhile waits; if the future is dropped, the
    /// next one tries.
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, f: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let place = Location::caller();
        async move {
            if let Some(held) = self.claim(place).await {
                self.fill(f().await, held);
            }
            self.there()
        }
    }

    /// As [`get_or_init`](Self::get_or_init); if `f` fails there is no value, and the next one tries.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let place = Location::caller();
        async move {
            if let Some(held) = self.claim(place).await {
                self.fill(f().await?, held);
            }
            Ok(self.there())
        }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value out.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        let value = self.given.take().or_else(|| self.value.take())?;
        self.permits = Object::new(Permits::of_cell());
        Some(value)
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.get()).finish()
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        OnceCell::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        OnceCell::new_with(Some(value))
    }
}

/// Why [`OnceCell::set`] has not put the value in; here it is.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// There is a value.
    AlreadyInitializedError(T),
    /// It is being made.
    InitializingError(T),
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetError::AlreadyInitializedError(_) => f.write_str("AlreadyInitializedError"),
            SetError::InitializingError(_) => f.write_str("InitializingError"),
        }
    }
}

impl<T: fmt::Debug> Error for SetError<T> {}

impl<T> SetError<T> {
    /// Whether there is a value.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, SetError::AlreadyInitializedError(_))
    }

    /// Whether it is being made.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, SetError::InitializingError(_))
    }
}
