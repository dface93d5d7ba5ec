//! `std::sync::LazyLock`, under control.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Once;

use drawloom_engine::OnceState as Progress;

use super::once::Control;
use super::once_lock::Values;
use crate::rt::{self, Handle};

/// A value made on first use: [`std::sync::LazyLock`] outside an exploration; under control inside.
///
/// # Every execution starts again, if it can
///
/// The initialiser of a `static` is a plain `fn() -> T` and is run again in each execution, so that
/// its running is explored too. Values of earlier executions stay alive as long as the `LazyLock`
/// does. A closure can be run only once: a `LazyLock` that has one and is captured from outside keeps
/// what its first use made. Later executions have the same steps but for those of the closure itself;
/// if it has any, they diverge from the first one, and that is reported.
pub struct LazyLock<T, F = fn() -> T> {
    control: Control,
    native: Once,
    values: Values<T>,
    init: UnsafeCell<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// As [`std::sync::LazyLock::new`].
    #[track_caller]
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock { control: Control::new(), native: Once::new(), values: Values::new(), init: UnsafeCell::new(Some(f)) }
    }

    /// As [`std::sync::LazyLock::force`].
    #[inline]
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let Some(rt) = rt::current() else {
            this.run_natively();
            return this.value(None);
        };
        if let Some(run) = this.control.enter(rt, rt::here(), || Progress::New) {
            if run.after_panic {
                drop(run);
                panic_poisoned();
            }
            if Self::repeats() {
                this.values.set(rt, this.copy_of_init()());
            } else {
                // Does nothing if an earlier execution did it.
                this.run_natively();
            }
            run.succeeded();
        }
        this.value(Some(rt))
    }

    /// As std's `LazyLock::force_mut`.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        Self::force(this);
        this.value_mut(rt::current()).expect("it was just made")
    }

    /// Runs the initialiser for the value of the cell's own, unless it has run.
    fn run_natively(&self) {
        self.native.call_once_force(|state| {
            if state.is_poisoned() {
                panic_poisoned();
            }
            let value = if Self::repeats() {
                self.copy_of_init()()
            } else {
                // SAFETY: only here, in what std runs once, is an initialiser taken that does not repeat.
                let init = unsafe { (*self.init.get()).take() };
                init.expect("an initialiser runs once")()
            };
            // Nobody else sets it, so it cannot be refused.
            let _ = self.values.own.set(value);
        });
    }

    fn copy_of_init(&self) -> F {
        assert!(Self::repeats());
        // SAFETY: nobody writes to an initialiser that repeats; and it is a function pointer, which is
        // `Copy`, so that reading it again and again is sound.
        unsafe { std::ptr::read(self.init.get()) }.expect("it is never taken")
    }
}

impl<T, F> LazyLock<T, F> {
    /// Whether the initialiser can be run again: it is a plain function pointer.
    ///
    /// No other type has that name: names of closures, functions and structs are paths, which do not
    /// begin with `fn(`. (`TypeId` would say it better, but wants `'static`.)
    fn repeats() -> bool {
        size_of::<F>() == size_of::<fn() -> T>()
            && !std::mem::needs_drop::<F>()
            && std::any::type_name::<F>() == std::any::type_name::<fn() -> T>()
    }

    /// The value that the current execution, or who is in none, sees.
    #[inline]
    fn value(&self, rt: Option<Handle>) -> &T {
        let own = || self.values.own.get();
        let value = rt.map_or_else(own, |rt| self.values.of(rt).or_else(own));
        value.expect("an initialiser that has run left its value")
    }

    fn value_mut(&mut self, rt: Option<Handle>) -> Option<&mut T> {
        match rt {
            Some(rt) if Self::repeats() => self.values.of_mut(rt),
            _ => self.values.own.get_mut(),
        }
    }

    /// As std's `LazyLock::get`.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        match rt::current() {
            Some(rt) => this.control.check(rt, rt::here(), || Progress::New).then(|| this.value(Some(rt))),
            None => this.values.own.get(),
        }
    }

    /// As std's `LazyLock::get_mut`. No scheduling point: `&mut` proves that nobody shares it.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.value_mut(rt::current())
    }
}

#[cold]
#[track_caller]
fn panic_poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned")
}

// SAFETY: no `&F` is ever made from a `&LazyLock`; an initialiser is moved to the one thread that runs
// it, or is a function pointer.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_tuple("LazyLock");
        match LazyLock::get(self) {
            Some(value) => d.field(value),
            None => d.field(&format_args!("<uninit>")),
        };
        d.finish()
    }
}
