//! The guards of a [`RwLock`].

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::super::guard::{HeldOwned, Lock, maps, reads, writes};
use super::super::permits::{Held, Place, release};
use super::RwLock;

fn value<T: ?Sized>(lock: &RwLock<T>) -> NonNull<T> {
    // SAFETY: the address of a field is not null.
    unsafe { NonNull::new_unchecked(lock.value.get()) }
}

/// Gives a [`RwLock`] back to writers when dropped.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    data: NonNull<T>,
    held: Held<'a>,
    owns: PhantomData<&'a T>,
}

/// Unlocks a [`RwLock`] when dropped.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    data: NonNull<T>,
    held: Held<'a>,
    owns: PhantomData<&'a mut T>,
}

/// A [`RwLockWriteGuard`] of a part of the value.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    data: NonNull<T>,
    held: Held<'a>,
    owns: PhantomData<&'a mut T>,
}

/// A [`RwLockReadGuard`] that keeps the lock alive.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    data: NonNull<U>,
    held: HeldOwned<RwLock<T>>,
    owns: PhantomData<Box<U>>,
}

/// A [`RwLockWriteGuard`] that keeps the lock alive.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    data: NonNull<T>,
    held: HeldOwned<RwLock<T>>,
}

/// An [`OwnedRwLockWriteGuard`] of a part of the value.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    data: NonNull<U>,
    held: HeldOwned<RwLock<T>>,
    owns: PhantomData<Box<U>>,
}

// SAFETY: a read guard is a `&` to its data.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: a write guard is a `&mut` to its data.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: a `&` to its data, and it may drop the lock's value.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedRwLockReadGuard<T, U> {}
// SAFETY: a `&mut` to its data, and it may drop the lock's value.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Send for OwnedRwLockMappedWriteGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedRwLockMappedWriteGuard<T, U> {}

reads!(['a, T: ?Sized] RwLockReadGuard<'a, T> => T);
reads!([T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U> => U);
writes!(['a, T: ?Sized] RwLockWriteGuard<'a, T> => T);
writes!(['a, T: ?Sized] RwLockMappedWriteGuard<'a, T> => T);
writes!([T: ?Sized] OwnedRwLockWriteGuard<T> => T);
writes!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U> => U);

maps!(['a, T: ?Sized] RwLockReadGuard<'a, T> => T, RwLockReadGuard<'a>, );
maps!([T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U> => U, OwnedRwLockReadGuard<T>, );
maps!(['a, T: ?Sized] RwLockWriteGuard<'a, T> => T, RwLockMappedWriteGuard<'a>, mut);
maps!(['a, T: ?Sized] RwLockMappedWriteGuard<'a, T> => T, RwLockMappedWriteGuard<'a>, mut);
maps!([T: ?Sized] OwnedRwLockWriteGuard<T> => T, OwnedRwLockMappedWriteGuard<T>, mut);
maps!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U> => U, OwnedRwLockMappedWriteGuard<T>, mut);

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// Of who has just taken a permit.
    pub(super) fn new(lock: &'a RwLock<T>, place: Place) -> Self {
        let held = Held { permits: &lock.permits().0, count: 1, place };
        RwLockReadGuard { data: value(lock), held, owns: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Of who has just taken all permits.
    pub(super) fn new(lock: &'a RwLock<T>, place: Place) -> Self {
        let held = Held { permits: &lock.permits().0, count: lock.readers as usize, place };
        RwLockWriteGuard { data: value(lock), held, owns: PhantomData }
    }

    /// Becomes a reader at once: no other writer comes in between.
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        let others = std::mem::replace(&mut self.held.count, 1) - 1;
        release(self.held.permits, others, self.held.place);
        RwLockReadGuard { data: self.data, held: self.held, owns: PhantomData }
    }

    /// As [`downgrade`](Self::downgrade) and [`RwLockReadGuard::map`].
    pub fn downgrade_map<U: ?Sized, F>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        // Nobody reads before `f` has.
        let data = NonNull::from(f(&this));
        let RwLockReadGuard { held, .. } = this.downgrade();
        RwLockReadGuard { data, held, owns: PhantomData }
    }

    /// As [`downgrade_map`](Self::downgrade_map), if the value has that part.
    pub fn try_downgrade_map<U: ?Sized, F>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&this).map(NonNull::from) {
            None => Err(this),
            Some(data) => {
                let RwLockReadGuard { held, .. } = this.downgrade();
                Ok(RwLockReadGuard { data, held, owns: PhantomData })
            }
        }
    }

    /// As [`map`](Self::map) to the whole.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockWriteGuard::map(this, |whole| whole)
    }
}

impl<T: ?Sized> OwnedRwLockReadGuard<T> {
    /// Of who has just taken a permit.
    pub(super) fn new(lock: Arc<RwLock<T>>, place: Place) -> Self {
        let data = value(&lock);
        OwnedRwLockReadGuard { data, held: HeldOwned { lock, count: 1, place }, owns: PhantomData }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.held.lock
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// Of who has just taken all permits.
    pub(super) fn new(lock: Arc<RwLock<T>>, place: Place) -> Self {
        let (data, count) = (value(&lock), lock.readers as usize);
        OwnedRwLockWriteGuard { data, held: HeldOwned { lock, count, place } }
    }

    /// Becomes a reader at once: no other writer comes in between.
    pub fn downgrade(mut self) -> OwnedRwLockReadGuard<T> {
        let others = std::mem::replace(&mut self.held.count, 1) - 1;
        release(&self.held.lock.permits().0, others, self.held.place);
        OwnedRwLockReadGuard { data: self.data, held: self.held, owns: PhantomData }
    }

    /// As [`downgrade`](Self::downgrade) and [`OwnedRwLockReadGuard::map`].
    pub fn downgrade_map<U: ?Sized, F>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
    {
        // Nobody reads before `f` has.
        let data = NonNull::from(f(&this));
        let OwnedRwLockReadGuard { held, .. } = this.downgrade();
        OwnedRwLockReadGuard { data, held, owns: PhantomData }
    }

    /// As [`map`](Self::map) to the whole.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockWriteGuard::map(this, |whole| whole)
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.held.lock
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.held.lock
    }
}
