//! `std::cell::Cell`, under control.

use std::cmp::Ordering;
use std::fmt;

use super::{announce, resource};
use crate::label::Labelled;
use crate::rt::{Handle, OpKind, ResourceId, Slot};

/// A mutable memory location: [`std::cell::Cell`] outside an exploration; inside, each access is a
/// scheduling point.
///
/// It is no more `Sync` than std's. Seeing its accesses helps where somebody has promised, by an
/// `unsafe impl Sync` around it, that they cannot meet.
pub struct Cell<T: ?Sized> {
    slot: Slot,
    inner: std::cell::Cell<T>,
}

impl<T> Cell<T> {
    /// As [`std::cell::Cell::new`].
    #[track_caller]
    pub const fn new(value: T) -> Cell<T> {
        Cell { slot: Slot::new(), inner: std::cell::Cell::new(value) }
    }

    /// As [`std::cell::Cell::set`].
    #[inline]
    #[track_caller]
    pub fn set(&self, value: T) {
        announce(&self.slot, OpKind::CellWrite);
        self.inner.set(value);
    }

    /// As [`std::cell::Cell::swap`]: a write to either cell.
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if std::ptr::eq(self, other) {
            return;
        }
        announce(&self.slot, OpKind::CellWrite);
        announce(&other.slot, OpKind::CellWrite);
        self.inner.swap(&other.inner);
    }

    /// As [`std::cell::Cell::replace`].
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        announce(&self.slot, OpKind::CellWrite);
        self.inner.replace(value)
    }

    /// As [`std::cell::Cell::into_inner`].
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: Copy> Cell<T> {
    /// As [`std::cell::Cell::get`].
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T {
        announce(&self.slot, OpKind::CellRead);
        self.inner.get()
    }

    /// As std's `Cell::update`: a read, then a write.
    #[inline]
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(T) -> T) {
        let old = self.get();
        self.set(f(old));
    }
}

impl<T: Default> Cell<T> {
    /// As [`std::cell::Cell::take`].
    #[inline]
    #[track_caller]
    pub fn take(&self) -> T {
        self.replace(T::default())
    }
}

impl<T: ?Sized> Cell<T> {
    /// As [`std::cell::Cell::as_ptr`]; a write, as far as control can know.
    #[inline]
    #[track_caller]
    pub fn as_ptr(&self) -> *mut T {
        announce(&self.slot, OpKind::CellWrite);
        self.inner.as_ptr()
    }

    /// As [`std::cell::Cell::get_mut`]. No scheduling point: `&mut` proves that nobody shares it.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    /// As [`std::cell::Cell::from_mut`], to std's own cell: memory that was borrowed exclusively is
    /// not shared with other tasks, and has no room for what control needs.
    pub fn from_mut(value: &mut T) -> &std::cell::Cell<T> {
        std::cell::Cell::from_mut(value)
    }
}

impl<T> Cell<[T]> {
    /// As [`std::cell::Cell::as_slice_of_cells`], to std's own cells: one write here, and what is done
    /// to them afterwards is not seen.
    #[track_caller]
    pub fn as_slice_of_cells(&self) -> &[std::cell::Cell<T>] {
        announce(&self.slot, OpKind::CellWrite);
        self.inner.as_slice_of_cells()
    }
}

impl<T, const N: usize> Cell<[T; N]> {
    /// As std's `Cell::as_array_of_cells`, to std's own cells, as
    /// [`as_slice_of_cells`](Cell::as_slice_of_cells).
    #[track_caller]
    pub fn as_array_of_cells(&self) -> &[std::cell::Cell<T>; N] {
        announce(&self.slot, OpKind::CellWrite);
        let inner: *const std::cell::Cell<[T; N]> = &self.inner;
        // SAFETY: a cell has its value's layout, so an array in a cell is an array of cells; std does
        // the same.
        unsafe { &*inner.cast::<[std::cell::Cell<T>; N]>() }
    }
}

impl<T: ?Sized> Labelled for Cell<T> {
    fn id(&self, rt: Handle) -> Option<ResourceId> {
        Some(resource(&self.slot, rt))
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Cell::new(self.get())
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Self {
        Cell::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Cell::new(value)
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> AsRef<[std::cell::Cell<T>]> for Cell<[T]> {
    #[track_caller]
    fn as_ref(&self) -> &[std::cell::Cell<T>] {
        self.as_slice_of_cells()
    }
}

impl<T, const N: usize> AsRef<[std::cell::Cell<T>]> for Cell<[T; N]> {
    #[track_caller]
    fn as_ref(&self) -> &[std::cell::Cell<T>] {
        self.as_array_of_cells()
    }
}

impl<T, const N: usize> AsRef<[std::cell::Cell<T>; N]> for Cell<[T; N]> {
    #[track_caller]
    fn as_ref(&self) -> &[std::cell::Cell<T>; N] {
        self.as_array_of_cells()
    }
}
