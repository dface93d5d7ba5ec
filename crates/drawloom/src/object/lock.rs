//! The lock around an object's state: what makes a use of it atomic outside of an exploration.
//!
//! Inside of one nobody ever meets it held, but it is taken at every step, and a thread outside may share the
//! object. So it is as cheap as a lock can be: one exchange to take it, a store to give it back.

use std::cell::UnsafeCell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) struct Lock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through `&mut Lock`, or by the one who holds the lock, on any thread.
unsafe impl<T: Send> Sync for Lock<T> {}

// As of std's mutexes; like theirs that ignore poison.
impl<T> UnwindSafe for Lock<T> {}
impl<T> RefUnwindSafe for Lock<T> {}

impl<T> Lock<T> {
    pub(super) const fn new(value: T) -> Lock<T> {
        Lock { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `f` while nobody else uses the value. It is short, and never waits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        if self.held.swap(true, Ordering::Acquire) {
            self.wait();
        }
        let _held = Held(&self.held);
        // SAFETY: we hold the lock until `_held` is dropped, which is after the reference is gone.
        f(unsafe { &mut *self.value.get() })
    }

    #[cold]
    fn wait(&self) {
        while self.held.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    pub(super) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

struct Held<'a>(&'a AtomicBool);

impl Drop for Held<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
