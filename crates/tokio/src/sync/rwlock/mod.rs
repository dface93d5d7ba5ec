//! [`RwLock`], as `tokio::sync::RwLock`: first come, first served, so that a waiting writer keeps later
//! readers waiting.

mod guard;

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use drawloom::object::Object;

pub use guard::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockMappedWriteGuard, RwLockReadGuard,
    RwLockWriteGuard,
};

use super::TryLockError;
use super::guard::{Lock, Permissions};
use super::permits::{Acquire, Permits, Place};
use crate::context;

const MAX_READERS: u32 = u32::MAX >> 3;

/// A lock of many readers or one writer, as `tokio::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    permits: Permissions,
    /// A writer has as many permits as there can be readers.
    readers: u32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through `&mut RwLock`, by who holds all permits, or for reading by who holds
// one.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above; readers may be on several threads, hence `T: Sync`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> Lock for RwLock<T> {
    fn permits(&self) -> &Permissions {
        &self.permits
    }
}

impl<T> RwLock<T> {
    /// An unlocked lock.
    #[must_use]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        RwLock::with_max_readers(value, MAX_READERS)
    }

    /// A lock that at most `readers` have at a time.
    ///
    /// # Panics
    ///
    /// If these are too many, or none.
    #[must_use]
    #[track_caller]
    pub const fn with_max_readers(value: T, readers: u32) -> Self {
        assert!(readers != 0, "a RwLock may not be created with 0 readers");
        assert!(readers <= MAX_READERS, "a RwLock may not be created with more than u32::MAX >> 3 readers");
        let permits = Permissions(Object::new(Permits::of_lock(readers as usize)));
        RwLock { permits, readers, value: UnsafeCell::new(value) }
    }

    /// As [`new`](Self::new).
    #[must_use]
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        RwLock::new(value)
    }

    /// As [`with_max_readers`](Self::with_max_readers).
    #[must_use]
    #[track_caller]
    pub const fn const_with_max_readers(value: T, readers: u32) -> Self {
        RwLock::with_max_readers(value, readers)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    async fn take(&self, permits: u32, place: Place) {
        let taken = Acquire::new(&self.permits.0, permits as usize, place).await;
        debug_assert!(taken.is_ok(), "a lock is never closed");
    }

    fn try_take(&self, wanted: u32, place: Place) -> Result<(), TryLockError> {
        let taken = self.permits.0.update_doing(place, |permits| permits.try_taking(wanted as usize));
        taken.map_err(|_| TryLockError(()))
    }

    /// Waits until no writer before us has the lock or waits for it.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(1, place).await;
            RwLockReadGuard::new(self, place)
        }
    }

    /// As [`read`](Self::read), for threads.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        context::block_on(self.read())
    }

    /// As [`read`](Self::read); the guard keeps the lock alive.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(1, place).await;
            OwnedRwLockReadGuard::new(self, place)
        }
    }

    /// The lock for reading, if it can be had.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.try_take(1, place)?;
        Ok(RwLockReadGuard::new(self, place))
    }

    /// As [`try_read`](Self::try_read); the guard keeps the lock alive.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        let place = Location::caller();
        self.try_take(1, place)?;
        Ok(OwnedRwLockReadGuard::new(self, place))
    }

    /// Waits until nobody before us has the lock.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(self.readers, place).await;
            RwLockWriteGuard::new(self, place)
        }
    }

    /// As [`write`](Self::write), for threads.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        context::block_on(self.write())
    }

    /// As [`write`](Self::write); the guard keeps the lock alive.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(self.readers, place).await;
            OwnedRwLockWriteGuard::new(self, place)
        }
    }

    /// The lock for writing, if it can be had.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.try_take(self.readers, place)?;
        Ok(RwLockWriteGuard::new(self, place))
    }

    /// As [`try_write`](Self::try_write); the guard keeps the lock alive.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        let place = Location::caller();
        self.try_take(self.readers, place)?;
        Ok(OwnedRwLockWriteGuard::new(self, place))
    }

    /// The value, without a lock: `&mut` proves that nobody shares it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

/// Takes the lock to show the value, in a step.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(value) => shown.field("data", &&*value),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
