//! Values of a task, as `tokio::task_local!`.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Declares task-locals, as `tokio::task_local!`.
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty; $($rest:tt)*) => {
        $crate::task_local!($(#[$attr])* $vis static $name: $t);
        $crate::task_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty) => {
        $(#[$attr])*
        $vis static $name: $crate::task::LocalKey<$t> = {
            $crate::__private::thread_local! {
                static SLOT: ::std::cell::RefCell<::std::option::Option<$t>> =
                    const { ::std::cell::RefCell::new(::std::option::Option::None) };
            }
            static KEY: $crate::__private::ThreadLocalKey<::std::cell::RefCell<::std::option::Option<$t>>> = SLOT;
            $crate::task::LocalKey::__new(&KEY)
        };
    };
}

/// A task-local, as `tokio::task::LocalKey`; declared by [`task_local!`](crate::task_local!).
pub struct LocalKey<T: 'static> {
    /// Set while a future of its scope is polled.
    slot: &'static drawloom::thread::LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    /// For [`task_local!`](crate::task_local!) alone.
    #[doc(hidden)]
    #[must_use]
    pub const fn __new(slot: &'static drawloom::thread::LocalKey<RefCell<Option<T>>>) -> Self {
        LocalKey { slot }
    }

    /// `future`, for which the value is `value`.
    pub fn scope<F>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F>
    where
        F: Future,
    {
        TaskLocalFuture { key: self, value: Some(value), future: Some(future), _pinned: PhantomPinned }
    }

    /// Runs `f`, for which the value is `value`.
    #[track_caller]
    pub fn sync_scope<F, R>(&'static self, value: T, f: F) -> R
    where
        F: FnOnce() -> R,
    {
        let mut value = Some(value);
        let _swapped = Swapped::new(self, &mut value);
        f()
    }

    /// The value.
    ///
    /// # Panics
    ///
    /// Outside of a scope.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(_) => panic!("cannot access a task-local storage value without setting it first"),
        }
    }

    /// The value, inside a scope.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let found = self.slot.try_with(|slot| slot.borrow().as_ref().map(f));
        found.ok().flatten().ok_or(AccessError { _private: () })
    }

    /// A copy of the value.
    ///
    /// # Panics
    ///
    /// Outside of a scope.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// A copy of the value, inside a scope.
    pub fn try_get(&'static self) -> Result<T, AccessError>
    where
        T: Clone,
    {
        self.try_with(T::clone)
    }

    /// Whether nobody has the value borrowed.
    fn swap(&'static self, value: &mut Option<T>) -> bool {
        let swapped = self.slot.try_with(|slot| match slot.try_borrow_mut() {
            Ok(mut slot) => {
                std::mem::swap(&mut *slot, value);
                true
            }
            Err(_) => false,
        });
        swapped.unwrap_or(true)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// While it lives, the value is in its slot, and what was there is here.
struct Swapped<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
}

impl<'a, T> Swapped<'a, T> {
    #[track_caller]
    fn new(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Self {
        let swapped = key.swap(value);
        assert!(swapped, "cannot enter a task-local scope while the task-local storage is borrowed");
        Swapped { key, value }
    }
}

impl<T> Drop for Swapped<'_, T> {
    fn drop(&mut self) {
        self.key.swap(self.value);
    }
}

/// What [`LocalKey::scope`] returns.
#[must_use = "futures do nothing unless polled"]
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    value: Option<T>,
    /// There until it is ready.
    future: Option<F>,
    /// As in tokio.
    _pinned: PhantomPinned,
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value out: it has none from now on.
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        // SAFETY: `value` is not pinned.
        unsafe { self.get_unchecked_mut() }.value.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: it is only ever dropped in place. `value` is not.
        let (key, value, mut future) = unsafe {
            let this = self.get_unchecked_mut();
            (this.key, &mut this.value, Pin::new_unchecked(&mut this.future))
        };
        let _swapped = Swapped::new(key, value);
        let poll = future.as_mut().as_pin_mut().expect("`TaskLocalFuture` polled after completion").poll(context);
        if poll.is_ready() {
            // Within the scope, since its destructors may use the value.
            future.set(None);
        }
        poll
    }
}

impl<T: 'static, F> Drop for TaskLocalFuture<T, F> {
    fn drop(&mut self) {
        if self.future.is_some() {
            let _swapped = Swapped::new(self.key, &mut self.value);
            self.future = None;
        }
    }
}

impl<T: 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture").finish_non_exhaustive()
    }
}

/// There is no value: this is no scope of the task-local.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct AccessError {
    _private: (),
}

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task-local value not set")
    }
}

impl Error for AccessError {}
