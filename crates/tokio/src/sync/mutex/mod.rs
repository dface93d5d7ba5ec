//! [`Mutex`], as `tokio::sync::Mutex`: first come, first served.

mod guard;

use std::cell::UnsafeCell;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use drawloom::object::Object;

pub use guard::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};

use super::guard::{Lock, Permissions};
use super::permits::{Acquire, Permits, Place};
use crate::context;

/// A lock whose guard may be held while waiting, as `tokio::sync::Mutex`.
pub struct Mutex<T: ?Sized> {
    permits: Permissions,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through `&mut Mutex`, or by who holds the only permit.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above; that one may be on any thread, hence `T: Send`.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> Lock for Mutex<T> {
    fn permits(&self) -> &Permissions {
        &self.permits
    }
}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    #[must_use]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Mutex { permits: Permissions(Object::new(Permits::of_lock(1))), value: UnsafeCell::new(value) }
    }

    /// As [`new`](Self::new).
    #[must_use]
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        Mutex::new(value)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    async fn take(&self, place: Place) {
        let taken = Acquire::new(&self.permits.0, 1, place).await;
        debug_assert!(taken.is_ok(), "a mutex is never closed");
    }

    fn try_take(&self, place: Place) -> Result<(), TryLockError> {
        self.permits.0.update_doing(place, |permits| permits.try_taking(1)).map_err(|_| TryLockError(()))
    }

    /// Waits until nobody before us has the lock.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(place).await;
            MutexGuard::new(self, place)
        }
    }

    /// As [`lock`](Self::lock), for threads.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        context::block_on(self.lock())
    }

    /// As [`lock_owned`](Self::lock_owned), for threads.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        context::block_on(self.lock_owned())
    }

    /// As [`lock`](Self::lock); the guard keeps the mutex alive.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(place).await;
            OwnedMutexGuard::new(self, place)
        }
    }

    /// The lock, if nobody has it.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.try_take(place)?;
        Ok(MutexGuard::new(self, place))
    }

    /// As [`try_lock`](Self::try_lock); the guard keeps the mutex alive.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let place = Location::caller();
        self.try_take(place)?;
        Ok(OwnedMutexGuard::new(self, place))
    }

    /// The value, without a lock: `&mut` proves that nobody shares it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

/// Takes the lock to show the value, in a step.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(value) => shown.field("data", &&*value),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}

/// Somebody else has the lock.
#[derive(Debug)]
pub struct TryLockError(pub(super) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl Error for TryLockError {}
