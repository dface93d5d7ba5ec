//! [`SetOnce`], as `tokio::sync::SetOnce`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;

use drawloom::object::{Awaited, Object};
use drawloom::sync::OnceLock;

use crate::waiting::{Until, Waiting};

/// A value that is set once, and can be waited for, as `tokio::sync::SetOnce`.
///
/// A static one starts again in each execution.
pub struct SetOnce<T> {
    value: OnceLock<T>,
    state: Object<State>,
}

struct State {
    /// How often it was set: a static one starts again in each execution, and this continues.
    sets: u64,
    waiting: Waiting,
}

impl<T> SetOnce<T> {
    /// Without a value.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        SetOnce { value: OnceLock::new(), state: Object::new(State { sets: 0, waiting: Waiting::new() }) }
    }

    /// As [`new`](Self::new).
    #[must_use]
    #[track_caller]
    pub const fn const_new() -> Self {
        SetOnce::new()
    }

    /// With a value, or without.
    #[must_use]
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        let mut once = SetOnce::new();
        if let Some(value) = value {
            once.value = OnceLock::from(value);
        }
        once
    }

    /// Whether there is a value.
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if it is set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Sets the value, unless it is.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.value.set(value).map_err(SetOnceError)?;
        let wakers = self.state.update(|state| {
            state.sets += 1;
            state.waiting.take()
        });
        wakers.wake();
        Ok(())
    }

    /// The value, if it is set.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Waits for the value.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        let place = Location::caller();
        async move {
            loop {
                let seen = self.state.look_from(place, |state| state.sets);
                if let Some(value) = self.get() {
                    return value;
                }
                let set = move |state: &mut State| (state.sets != seen).then_some(());
                Until::new(&self.state, place, Awaited::Value, |state| &mut state.waiting, set).await;
            }
        }
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        SetOnce::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").field("value", &self.get()).finish()
    }
}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        SetOnce::new_with(Some(value))
    }
}

/// There was a value already; here is the other one.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}

impl<T: fmt::Debug> Error for SetOnceError<T> {}
