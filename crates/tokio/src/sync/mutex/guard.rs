//! The guards of a [`Mutex`].

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::super::guard::{HeldOwned, Lock, maps, reads, writes};
use super::super::permits::{Held, Place};
use super::Mutex;

fn value<T: ?Sized>(mutex: &Mutex<T>) -> NonNull<T> {
    // SAFETY: the address of a field is not null.
    unsafe { NonNull::new_unchecked(mutex.value.get()) }
}

/// Unlocks a [`Mutex`] when dropped.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    data: NonNull<T>,
    held: Held<'a>,
    mutex: &'a Mutex<T>,
}

/// A [`MutexGuard`] of a part of the value.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    data: NonNull<T>,
    held: Held<'a>,
    owns: PhantomData<&'a mut T>,
}

/// A [`MutexGuard`] that keeps the mutex alive.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMutexGuard<T: ?Sized> {
    data: NonNull<T>,
    held: HeldOwned<Mutex<T>>,
}

/// An [`OwnedMutexGuard`] of a part of the value.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    data: NonNull<U>,
    held: HeldOwned<Mutex<T>>,
    owns: PhantomData<Box<U>>,
}

// SAFETY: a guard is a `&mut` to its data.
unsafe impl<T: ?Sized + Send> Send for MutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}
// SAFETY: as above; it may also drop the value.
unsafe impl<T: ?Sized + Send> Send for OwnedMutexGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedMutexGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

writes!(['a, T: ?Sized] MutexGuard<'a, T> => T);
writes!(['a, T: ?Sized] MappedMutexGuard<'a, T> => T);
writes!([T: ?Sized] OwnedMutexGuard<T> => T);
writes!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U> => U);

maps!(['a, T: ?Sized] MutexGuard<'a, T> => T, MappedMutexGuard<'a>, mut);
maps!(['a, T: ?Sized] MappedMutexGuard<'a, T> => T, MappedMutexGuard<'a>, mut);
maps!([T: ?Sized] OwnedMutexGuard<T> => T, OwnedMappedMutexGuard<T>, mut);
maps!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U> => U, OwnedMappedMutexGuard<T>, mut);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Of who has just taken the permit.
    pub(super) fn new(mutex: &'a Mutex<T>, place: Place) -> Self {
        MutexGuard { data: value(mutex), held: Held { permits: &mutex.permits().0, count: 1, place }, mutex }
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// Of who has just taken the permit.
    pub(super) fn new(mutex: Arc<Mutex<T>>, place: Place) -> Self {
        OwnedMutexGuard { data: value(&mutex), held: HeldOwned { lock: mutex, count: 1, place } }
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.held.lock
    }
}
