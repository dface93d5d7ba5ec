//! The reader–writer lock.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError};

use crate::label::Labelled;
use crate::rt::{Handle, ResourceId};
use crate::sync;

/// As `parking_lot::RwLock`.
#[derive(Default)]
pub struct RwLock<T: ?Sized>(sync::RwLock<T>);

/// As `parking_lot::const_rwlock`.
#[must_use]
#[track_caller]
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
}

impl<T> RwLock<T> {
    /// A lock that nobody holds.
    #[must_use]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        RwLock(sync::RwLock::new(value))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading, waiting for it.
    #[track_caller]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard(self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the lock for writing, waiting for it.
    #[track_caller]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        RwLockWriteGuard(self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the lock for reading if no writer holds it.
    #[track_caller]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Some(RwLockReadGuard(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(RwLockReadGuard(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Takes the lock for writing if nobody holds it.
    #[track_caller]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        match self.0.try_write() {
            Ok(guard) => Some(RwLockWriteGuard(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(RwLockWriteGuard(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether somebody holds the lock.
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.try_write().is_none()
    }

    /// Whether a writer holds the lock.
    #[track_caller]
    pub fn is_locked_exclusive(&self) -> bool {
        self.try_read().is_none()
    }

    /// The value; `&mut` proves that nobody holds the lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: ?Sized> crate::prefer::Prefers for RwLock<T> {
    fn prefer(&self, operand: u8) {
        self.0.prefer(operand);
    }
}

impl<T: ?Sized> Labelled for RwLock<T> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        self.0.id(rt)
    }
}

/// As `parking_lot::RwLockReadGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized>(sync::RwLockReadGuard<'a, T>);

/// As `parking_lot::RwLockWriteGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized>(sync::RwLockWriteGuard<'a, T>);

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Becomes a reader, letting no other writer in between.
    #[track_caller]
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard(sync::RwLockWriteGuard::downgrade(guard.0))
    }
}

macro_rules! guard {
    ($Guard:ident) => {
        impl<T: ?Sized> Deref for $Guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $Guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
guard!(RwLockReadGuard);
guard!(RwLockWriteGuard);

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
