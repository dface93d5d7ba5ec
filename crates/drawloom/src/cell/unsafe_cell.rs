//! `std::cell::UnsafeCell`, under control.

use std::fmt;

use super::{UnsafeCellExt, announce, resource};
use crate::label::Labelled;
use crate::rt::{Handle, OpKind, ResourceId, Slot};

/// Plain shared memory: [`std::cell::UnsafeCell`] outside an exploration; inside, each access is a
/// scheduling point.
///
/// [`get`](Self::get) counts as a write; [`UnsafeCellExt`] has accesses that say what they do. What
/// is done through the pointer afterwards is not seen.
pub struct UnsafeCell<T: ?Sized> {
    slot: Slot,
    inner: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// As [`std::cell::UnsafeCell::new`].
    #[track_caller]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { slot: Slot::new(), inner: std::cell::UnsafeCell::new(value) }
    }

    /// As [`std::cell::UnsafeCell::into_inner`].
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// As [`std::cell::UnsafeCell::from_mut`], to std's own cell: memory that was borrowed
    /// exclusively is not shared with other tasks, and has no room for what control needs.
    pub const fn from_mut(value: &mut T) -> &mut std::cell::UnsafeCell<T> {
        std::cell::UnsafeCell::from_mut(value)
    }

    /// As [`std::cell::UnsafeCell::get`]; a write, as far as control can know.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> *mut T {
        announce(&self.slot, OpKind::CellWrite);
        self.inner.get()
    }

    /// As [`std::cell::UnsafeCell::get_mut`]. No scheduling point: `&mut` proves that nobody shares it.
    pub const fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    /// As [`std::cell::UnsafeCell::raw_get`]. No scheduling point: there need not be a cell yet. But
    /// there must be room for one where `this` points to; std does not care.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "as std's, and nothing is read")]
    pub const fn raw_get(this: *const Self) -> *mut T {
        // SAFETY: only the address of the field is computed, within the room that is there.
        let inner = unsafe { &raw const (*this).inner };
        std::cell::UnsafeCell::raw_get(inner)
    }
}

impl<T: ?Sized> UnsafeCellExt for UnsafeCell<T> {
    type Value = T;

    #[inline]
    #[track_caller]
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        announce(&self.slot, OpKind::CellRead);
        f(self.inner.get())
    }

    #[inline]
    #[track_caller]
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        announce(&self.slot, OpKind::CellWrite);
        f(self.inner.get())
    }
}

impl<T: ?Sized> Labelled for UnsafeCell<T> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        Some(resource(&self.slot, rt))
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
