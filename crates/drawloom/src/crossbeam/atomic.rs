//! Cells that threads share.

use std::fmt;

use crate::object::Object;

/// As `crossbeam::atomic::AtomicCell`.
pub struct AtomicCell<T>(Object<T>);

impl<T> AtomicCell<T> {
    /// A cell with `value` in it.
    #[must_use]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        AtomicCell(Object::new(value))
    }

    /// What is in it.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Whether crossbeam's cell does without a lock.
    #[must_use]
    pub const fn is_lock_free() -> bool {
        ::crossbeam::atomic::AtomicCell::<T>::is_lock_free()
    }

    /// Puts `value` into it.
    #[track_caller]
    pub fn store(&self, value: T) {
        drop(self.swap(value));
    }

    /// Puts `value` into it; returns the old value.
    #[track_caller]
    pub fn swap(&self, value: T) -> T {
        self.0.update(|current| std::mem::replace(current, value))
    }
}

impl<T: Default> AtomicCell<T> {
    /// Takes what is in it, and leaves `Default`.
    #[track_caller]
    pub fn take(&self) -> T {
        self.swap(T::default())
    }
}

impl<T: Copy> AtomicCell<T> {
    /// A copy of what is in it.
    #[track_caller]
    pub fn load(&self) -> T {
        self.0.look(|current| *current)
    }

    #[track_caller]
    fn fetch(&self, change: impl FnOnce(T) -> T) -> T {
        self.0.update(|current| std::mem::replace(current, change(*current)))
    }
}

impl<T: Copy + Eq> AtomicCell<T> {
    /// Puts `new` into it if `current` is there.
    ///
    /// # Errors
    ///
    /// If something else is: that comes back.
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T) -> Result<T, T> {
        self.0.update(|found| if *found == current { Ok(std::mem::replace(found, new)) } else { Err(*found) })
    }

    /// Changes what is in it by `change`, which may be asked several times.
    ///
    /// # Errors
    ///
    /// What is there, if `change` has nothing to put in its place.
    #[track_caller]
    pub fn fetch_update<F: FnMut(T) -> Option<T>>(&self, mut change: F) -> Result<T, T> {
        let mut found = self.load();
        while let Some(new) = change(found) {
            match self.compare_exchange(found, new) {
                Ok(before) => return Ok(before),
                Err(now) => found = now,
            }
        }
        Err(found)
    }
}

/// Operations that return the old value.
macro_rules! fetches {
    ($T:ty: $($name:ident $what:literal = |$current:ident, $operand:ident| $change:expr;)+) => {
        impl AtomicCell<$T> {
            $(
                #[doc = concat!($what, ", and returns the old value.")]
                #[track_caller]
                pub fn $name(&self, $operand: $T) -> $T {
                    self.fetch(|$current| $change)
                }
            )+
        }
    };
}

macro_rules! integers {
    ($($T:ty)+) => {
        $(fetches! { $T:
            fetch_add "Adds, and wraps around" = |current, val| current.wrapping_add(val);
            fetch_sub "Subtracts, and wraps around" = |current, val| current.wrapping_sub(val);
            fetch_and "Bitwise and" = |current, val| current & val;
            fetch_nand "Bitwise nand" = |current, val| !(current & val);
            fetch_or "Bitwise or" = |current, val| current | val;
            fetch_xor "Bitwise exclusive or" = |current, val| current ^ val;
            fetch_max "Keeps the larger one" = |current, val| current.max(val);
            fetch_min "Keeps the smaller one" = |current, val| current.min(val);
        })+
    };
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

fetches! { bool:
    fetch_and "Logical and" = |current, val| current & val;
    fetch_nand "Logical nand" = |current, val| !(current & val);
    fetch_or "Logical or" = |current, val| current | val;
    fetch_xor "Logical exclusive or" = |current, val| current ^ val;
}

impl<T: Default> Default for AtomicCell<T> {
    #[track_caller]
    fn default() -> Self {
        AtomicCell::new(T::default())
    }
}

impl<T> From<T> for AtomicCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        AtomicCell::new(value)
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for AtomicCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicCell").field("value", &self.load()).finish()
    }
}
