//! `std::sync::OnceLock`, under control.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use drawloom_engine::OnceState as Progress;

use super::once::{Control, WakeNativeWaiters, wait_natively};
use crate::rt::{self, Handle};

/// A cell that is written once: [`std::sync::OnceLock`] outside an exploration; under control inside.
///
/// # Every execution starts again
///
/// A `static` one, or one that is captured from outside, is empty at the beginning of every execution;
/// so is one that was filled outside of the exploration. Only a value that it was *made* with, by
/// `From` or `Clone`, is there in all of them. Values of earlier executions stay alive as long as the
/// cell does, since references to them may; those of a static are never dropped, as with std.
pub struct OnceLock<T> {
    control: Control,
    values: Values<T>,
    /// Whether it was made with its value, which is then `values.own`.
    given: bool,
}

impl<T> OnceLock<T> {
    /// As [`std::sync::OnceLock::new`].
    #[must_use]
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock { control: Control::new(), values: Values::new(), given: false }
    }

    #[inline]
    fn at_first(&self) -> Progress {
        if self.given { Progress::Done } else { Progress::New }
    }

    /// The value that the engine says is there.
    #[inline]
    fn value(&self, rt: Handle) -> &T {
        let value = if self.given { self.values.own.get() } else { self.values.of(rt) };
        value.expect("an initialiser that has run left its value")
    }

    /// As [`std::sync::OnceLock::get`].
    #[inline]
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        match rt::current() {
            Some(rt) => self.control.check(rt, rt::here(), || self.at_first()).then(|| self.value(rt)),
            None => self.values.own.get(),
        }
    }

    /// As [`std::sync::OnceLock::get_mut`]. No scheduling point: `&mut` proves that nobody shares it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match rt::current() {
            Some(rt) if !self.given => self.values.of_mut(rt),
            _ => self.values.own.get_mut(),
        }
    }

    /// As std's `OnceLock::wait`: waits for the value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        match rt::current() {
            Some(rt) => {
                self.control.wait(rt, rt::here(), true, || self.at_first());
                self.value(rt)
            }
            None => {
                wait_natively(|| self.values.own.get().is_some());
                self.values.own.get().expect("the wait was for it")
            }
        }
    }

    /// As [`std::sync::OnceLock::set`].
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("an initialiser runs once"));
        value.map_or(Ok(()), Err)
    }

    /// As [`std::sync::OnceLock::get_or_init`].
    #[inline]
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        let Some(rt) = rt::current() else {
            return self.get_or_init_natively(f);
        };
        if let Some(run) = self.control.enter(rt, rt::here(), || self.at_first()) {
            self.values.set(rt, f());
            run.succeeded();
        }
        self.value(rt)
    }

    /// As [`get_or_init`](Self::get_or_init), inside an exploration, for an initialiser that may fail: then the cell
    /// stays empty, and the next one tries.
    #[cfg(feature = "once_cell")]
    #[track_caller]
    pub(crate) fn get_or_try_init_under_control<E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let rt = rt::current().expect("inside an exploration");
        if let Some(run) = self.control.enter(rt, rt::here(), || self.at_first()) {
            self.values.set(rt, f()?);
            run.succeeded();
        }
        Ok(self.value(rt))
    }

    fn get_or_init_natively(&self, f: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.values.own.get() {
            return value;
        }
        let _wake = WakeNativeWaiters;
        self.values.own.get_or_init(f)
    }

    /// As [`std::sync::OnceLock::into_inner`].
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// As [`std::sync::OnceLock::take`]. No scheduling point: `&mut` proves that nobody shares it.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        let taken = match rt::current() {
            Some(rt) if !self.given => self.values.take(rt),
            _ => self.values.own.take(),
        };
        if taken.is_some() {
            self.control = Control::new();
            self.given = false;
        }
        taken
    }
}

/// What a cell holds: a value of its own, and one for each execution.
pub(super) struct Values<T> {
    /// The value that the cell was made with or that was set outside of an exploration.
    pub(super) own: std::sync::OnceLock<T>,
    /// The value of the execution numbered `latest_of`; it is the last that `kept` keeps.
    latest: AtomicPtr<T>,
    latest_of: AtomicU64,
    /// The values of all executions so far, by number. `Arc` only because it may be moved while what
    /// it holds is borrowed: none is ever cloned.
    kept: Mutex<Vec<(u64, Arc<T>)>>,
}

// SAFETY: no `Arc` is ever cloned, so that they own their values as a `Box` would.
unsafe impl<T: Send> Send for Values<T> {}

impl<T> Values<T> {
    pub(super) const fn new() -> Values<T> {
        Values {
            own: std::sync::OnceLock::new(),
            latest: AtomicPtr::new(std::ptr::null_mut()),
            latest_of: AtomicU64::new(0),
            kept: Mutex::new(Vec::new()),
        }
    }

    /// The value of the current execution.
    #[inline]
    pub(super) fn of(&self, rt: Handle) -> Option<&T> {
        if self.latest_of.load(Ordering::Acquire) != rt.epoch() {
            return None;
        }
        // SAFETY: it points into an `Arc` in `kept`, which is only taken out by whoever has `&mut self`.
        unsafe { self.latest.load(Ordering::Acquire).as_ref() }
    }

    /// Sets the value of the current execution, which has none.
    pub(super) fn set(&self, rt: Handle, value: T) {
        let value = Arc::new(value);
        let pointer = Arc::as_ptr(&value).cast_mut();
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push((rt.epoch(), value));
        self.latest.store(pointer, Ordering::Release);
        self.latest_of.store(rt.epoch(), Ordering::Release);
    }

    pub(super) fn of_mut(&mut self, rt: Handle) -> Option<&mut T> {
        let (epoch, value) = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner).last_mut()?;
        if *epoch != rt.epoch() {
            return None;
        }
        Arc::get_mut(value)
    }

    fn take(&mut self, rt: Handle) -> Option<T> {
        self.of_mut(rt)?;
        self.latest_of.store(0, Ordering::Release);
        let (_, value) = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner).pop()?;
        Arc::into_inner(value)
    }
}

impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let values = Values { own: value.into(), ..Values::new() };
        OnceLock { control: Control::new(), values, given: true }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        match self.get() {
            Some(value) => value.clone().into(),
            None => OnceLock::new(),
        }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => d.field(value),
            None => d.field(&format_args!("<uninit>")),
        };
        d.finish()
    }
}
