//! Thread-locals: one value per task and execution.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::ptr::NonNull;

use drawloom_fiber::{Destroyed, LocalKey as Key};

use crate::rt::{self, Handle};

/// Declares thread-locals, as [`std::thread_local!`].
///
/// Inside an exploration every task has its own value, fresh in every execution. It is made when the
/// task first uses it, and dropped when the task ends.
///
/// ```
/// use std::cell::Cell;
///
/// drawloom::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(0) };
/// }
/// COUNT.set(COUNT.get() + 1);
/// assert_eq!(COUNT.get(), 1);
/// ```
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block; $($rest:tt)*) => {
        $crate::thread_local!(@one [$(#[$attr])*] [$vis] $name, $t, [const $init]);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block) => {
        $crate::thread_local!(@one [$(#[$attr])*] [$vis] $name, $t, [const $init]);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!(@one [$(#[$attr])*] [$vis] $name, $t, [init()] $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr) => {
        $crate::thread_local!(@one [$(#[$attr])*] [$vis] $name, $t, [init()] $init);
    };
    (@one [$(#[$attr:meta])*] [$vis:vis] $name:ident, $t:ty, [const $init:block]) => {
        $(#[$attr])*
        $vis const $name: $crate::thread::LocalKey<$t> = {
            ::std::thread_local! { static NATIVE: $t = const $init; }
            static KEY: u8 = 0;
            fn init() -> $t {
                const $init
            }
            $crate::thread::LocalKey::__new(NATIVE, &KEY, init)
        };
    };
    (@one [$(#[$attr:meta])*] [$vis:vis] $name:ident, $t:ty, [init()] $init:expr) => {
        $(#[$attr])*
        $vis const $name: $crate::thread::LocalKey<$t> = {
            ::std::thread_local! { static NATIVE: $t = init(); }
            static KEY: u8 = 0;
            fn init() -> $t {
                $init
            }
            $crate::thread::LocalKey::__new(NATIVE, &KEY, init)
        };
    };
}

/// A thread-local, as [`std::thread::LocalKey`]; declared by [`thread_local!`](crate::thread_local!).
pub struct LocalKey<T: 'static> {
    native: std::thread::LocalKey<T>,
    /// Its address is what tells this local from all others.
    key: &'static u8,
    init: fn() -> T,
}

/// The value was destroyed already, as [`std::thread::AccessError`].
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl From<Destroyed> for AccessError {
    fn from(_: Destroyed) -> Self {
        AccessError
    }
}

impl<T: 'static> LocalKey<T> {
    /// For [`thread_local!`](crate::thread_local!) alone.
    #[doc(hidden)]
    pub const fn __new(native: std::thread::LocalKey<T>, key: &'static u8, init: fn() -> T) -> Self {
        LocalKey { native, key, init }
    }

    /// The running task's value, if it has one already.
    #[inline]
    fn find(&'static self, rt: Handle) -> Result<Option<NonNull<T>>, AccessError> {
        Ok(rt.local(self.id())?.map(NonNull::cast))
    }

    fn id(&'static self) -> Key {
        Key(std::ptr::from_ref(self.key) as usize)
    }

    /// The running task's value, made by `init` if it has none.
    fn find_or(&'static self, rt: Handle, init: impl FnOnce() -> T) -> Result<NonNull<T>, AccessError> {
        if let Some(value) = self.find(rt)? {
            return Ok(value);
        }
        let value = init();
        drop(rt.set_local(self.id(), value));
        self.find(rt)?.ok_or(AccessError)
    }

    /// As [`std::thread::LocalKey::with`].
    ///
    /// # Panics
    ///
    /// If the value was destroyed already: this thread is about to end.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => destroyed(error),
        }
    }

    /// As [`std::thread::LocalKey::try_with`].
    #[inline]
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match rt::current() {
            None => self.native.try_with(f).map_err(|_| AccessError),
            Some(rt) => {
                let value = self.find_or(rt, self.init)?;
                // SAFETY: the value stays where it is until the task, in whose code we are, ends.
                Ok(f(unsafe { value.as_ref() }))
            }
        }
    }

    /// Makes `value` the initial value, or hands it and what is there already to `f`.
    #[track_caller]
    fn initialize_with<R>(&'static self, rt: Handle, value: T, f: impl FnOnce(Option<T>, &T) -> R) -> R {
        let mut value = Some(value);
        let found = match self.find(rt) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => value.take().map_or(Err(AccessError), |value| self.find_or(rt, || value)),
            Err(error) => Err(error),
        };
        match found {
            // SAFETY: as in `try_with`.
            Ok(found) => f(value, unsafe { found.as_ref() }),
            Err(error) => destroyed(error),
        }
    }
}

#[cold]
#[track_caller]
fn destroyed(error: AccessError) -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {error:?}")
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// As std's: sets the value, without making the initial one first.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        match rt::current() {
            None => self.native.set(value),
            Some(rt) => self.initialize_with(rt, Cell::new(value), |value, cell| {
                if let Some(value) = value {
                    cell.set(value.into_inner());
                }
            }),
        }
    }

    /// As std's: a copy of the value.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// As std's: takes the value, leaves `Default`.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// As std's: replaces the value, returns the old one.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// As std's: runs `f` on the borrowed value.
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// As std's: runs `f` on the mutably borrowed value.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// As std's: sets the value, without making the initial one first.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        match rt::current() {
            None => self.native.set(value),
            Some(rt) => self.initialize_with(rt, RefCell::new(value), |value, cell| {
                if let Some(value) = value {
                    *cell.borrow_mut() = value.into_inner();
                }
            }),
        }
    }

    /// As std's: takes the value, leaves `Default`.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// As std's: replaces the value, returns the old one.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
