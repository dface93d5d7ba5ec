//! Telling reads of an `UnsafeCell` from writes, in code that compiles with std's cell and with ours.

/// Access to an `UnsafeCell` that says whether it reads or writes.
///
/// `get` hands out a pointer that may be used for either, so under control it counts as a write, and
/// two tasks that only read seem to conflict. With these two methods they do not. std's own cell has
/// them too, so the same code compiles where nothing is under control.
pub trait UnsafeCellExt {
    /// What the cell holds.
    type Value: ?Sized;

    /// Runs `f` on a pointer that is only read through, and not used after `f` has returned.
    fn with<R>(&self, f: impl FnOnce(*const Self::Value) -> R) -> R;

    /// Runs `f` on a pointer that is written through, and not used after `f` has returned.
    fn with_mut<R>(&self, f: impl FnOnce(*mut Self::Value) -> R) -> R;
}

impl<T: ?Sized> UnsafeCellExt for std::cell::UnsafeCell<T> {
    type Value = T;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.get())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.get())
    }
}
