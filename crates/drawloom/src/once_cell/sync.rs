//! Cells that threads share.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use crate::rt;
use crate::sync::{LazyLock, OnceLock};

/// As `once_cell::sync::OnceCell`.
pub struct OnceCell<T> {
    cell: OnceLock<T>,
    /// Held by who initialises it outside of an exploration: std cannot give up an initialisation that fails.
    initialising: Mutex<()>,
}

impl<T> OnceCell<T> {
    /// An empty cell.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        OnceCell { cell: OnceLock::new(), initialising: Mutex::new(()) }
    }

    /// A cell with `value` in it.
    #[must_use]
    #[track_caller]
    pub fn with_value(value: T) -> Self {
        OnceCell { cell: OnceLock::from(value), initialising: Mutex::new(()) }
    }

    /// The value, if it is there.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.cell.get()
    }

    /// Waits for the value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.cell.wait()
    }

    /// The value, if it is there; `&mut` proves that nobody shares it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.cell.get_mut()
    }

    /// Puts `value` into it.
    ///
    /// # Errors
    ///
    /// If there is one: `value` comes back.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        self.try_insert(value).map(|_| ()).map_err(|(_, value)| value)
    }

    /// Puts `value` into it, and gives the value that is there.
    ///
    /// # Errors
    ///
    /// If there is another one: that, and `value`.
    #[track_caller]
    pub fn try_insert(&self, value: T) -> Result<&T, (&T, T)> {
        let mut value = Some(value);
        let there = self.get_or_init(|| value.take().expect("an initialiser runs once"));
        match value {
            None => Ok(there),
            Some(value) => Err((there, value)),
        }
    }

    /// The value; `f` makes it if it is not there.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        match self.get_or_try_init(|| Ok::<T, std::convert::Infallible>(f())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The value; `f` makes it if it is not there.
    ///
    /// # Errors
    ///
    /// If `f` fails; the cell stays empty, and the next one tries.
    #[track_caller]
    pub fn get_or_try_init<F: FnOnce() -> Result<T, E>, E>(&self, f: F) -> Result<&T, E> {
        if rt::current().is_some() {
            return self.cell.get_or_try_init_under_control(f);
        }
        if let Some(value) = self.cell.get() {
            return Ok(value);
        }
        let _initialising = self.initialising.lock().unwrap_or_else(PoisonError::into_inner);
        match self.cell.get() {
            Some(value) => Ok(value),
            None => {
                let value = f()?;
                Ok(self.cell.get_or_init(|| value))
            }
        }
    }

    /// Takes the value; `&mut` proves that nobody shares it.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        self.cell.take()
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.cell.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        OnceCell::with_value(value)
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        OnceCell { cell: self.cell.clone(), initialising: Mutex::new(()) }
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(value) => f.debug_tuple("OnceCell").field(value).finish(),
            None => f.write_str("OnceCell(Uninit)"),
        }
    }
}

/// As `once_cell::sync::Lazy`.
pub struct Lazy<T, F = fn() -> T>(LazyLock<T, F>);

impl<T, F: FnOnce() -> T> Lazy<T, F> {
    /// A value that `f` makes when it is first used.
    #[must_use]
    #[track_caller]
    pub const fn new(f: F) -> Self {
        Lazy(LazyLock::new(f))
    }

    /// The value, made if it is not there.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        LazyLock::force(&this.0)
    }

    /// The value, made if it is not there; `&mut` proves that nobody shares it.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        LazyLock::force_mut(&mut this.0)
    }
}

impl<T, F: FnOnce() -> T> Deref for Lazy<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        Lazy::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for Lazy<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        Lazy::force_mut(self)
    }
}

impl<T: Default> Default for Lazy<T> {
    #[track_caller]
    fn default() -> Self {
        Lazy::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for Lazy<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}
