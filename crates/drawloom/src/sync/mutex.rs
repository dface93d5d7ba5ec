//! `std::sync::Mutex`, under control.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Slot, State, outcome};

/// A mutual exclusion lock: [`std::sync::Mutex`] outside an exploration; under control inside.
///
/// Under control std's own mutex still guards the data, and is never contended: the engine has
/// granted it first. So poisoning is std's, and a static can be shared with code that is not under
/// control.
///
/// `is_poisoned`, `clear_poison` and `Debug`, which looks inside by `try_lock`, are scheduling points
/// as much as `lock` is: what they see or change depends on when they are let run.
pub struct Mutex<T: ?Sized> {
    slot: Slot,
    poison: Poison,
    inner: std::sync::Mutex<T>,
}

/// Unlocks when dropped, as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    guard: ManuallyDrop<std::sync::MutexGuard<'a, T>>,
    mutex: &'a Mutex<T>,
    /// The resource that is locked; none, if it was not locked under control.
    locked: ResourceId,
    /// Where it was locked: also the place of the unlock, which has none of its own.
    taken_at: &'static Location<'static>,
    taken_unwinding: bool,
}

impl<T> Mutex<T> {
    /// As [`std::sync::Mutex::new`].
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { slot: Slot::new(), poison: Poison::new(), inner: std::sync::Mutex::new(value) }
    }

    /// As [`std::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        self.poison.of(self.inner.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    #[inline]
    pub(super) fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Mutex, || State::Plain)
    }

    /// As [`std::sync::Mutex::lock`].
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let taken_at = Location::caller();
        let Some(rt) = rt::current() else {
            return self.wrap(self.inner.lock(), None, taken_at);
        };
        let id = self.resource(rt);
        let unwinding = is_unwinding();
        rt.lock(id, rt::site(taken_at));
        self.take(id, taken_at, unwinding)
    }

    /// Takes the native lock that the engine has granted; `unwinding` says whether the task was before.
    #[inline]
    pub(super) fn take(
        &self,
        id: ResourceId,
        taken_at: &'static Location<'static>,
        unwinding: bool,
    ) -> LockResult<MutexGuard<'_, T>> {
        let native = match self.inner.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(error)) => Err(error),
            // Held by code that is not under control; it will let go without our help.
            Err(TryLockError::WouldBlock) => self.inner.lock(),
        };
        self.guarded(native, Some(id), taken_at, unwinding)
    }

    /// As [`std::sync::Mutex::try_lock`].
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let taken_at = Location::caller();
        let Some(rt) = rt::current() else {
            return match self.inner.try_lock() {
                Ok(guard) => Ok(self.wrap(Ok(guard), None, taken_at)?),
                Err(TryLockError::Poisoned(error)) => Ok(self.wrap(Err(error), None, taken_at)?),
                Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            };
        };
        let id = self.resource(rt);
        match rt.step(Operation::new(OpKind::TryLock, id, rt::site(taken_at))) {
            outcome::OK => self.take(id, taken_at, is_unwinding()).map_err(TryLockError::Poisoned),
            _ => Err(TryLockError::WouldBlock),
        }
    }

    /// As [`std::sync::Mutex::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        if let Some(rt) = rt::current() {
            rt.step(Operation::new(OpKind::Rmw, self.resource(rt), rt::here()));
        }
        self.inner.is_poisoned() || self.poison.is_set()
    }

    /// As [`std::sync::Mutex::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        if let Some(rt) = rt::current() {
            rt.step(Operation::new(OpKind::Store, self.resource(rt), rt::here()));
        }
        self.poison.clear();
        self.inner.clear_poison();
    }

    /// As [`std::sync::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poison.of(self.inner.get_mut())
    }

    #[inline]
    pub(super) fn wrap<'a>(
        &'a self,
        result: LockResult<std::sync::MutexGuard<'a, T>>,
        locked: Option<ResourceId>,
        taken_at: &'static Location<'static>,
    ) -> LockResult<MutexGuard<'a, T>> {
        self.guarded(result, locked, taken_at, is_unwinding())
    }

    #[inline]
    fn guarded<'a>(
        &'a self,
        result: LockResult<std::sync::MutexGuard<'a, T>>,
        locked: Option<ResourceId>,
        taken_at: &'static Location<'static>,
        taken_unwinding: bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        let guard = |guard| MutexGuard {
            guard: ManuallyDrop::new(guard),
            mutex: self,
            locked: locked.unwrap_or(ResourceId::NONE),
            taken_at,
            taken_unwinding,
        };
        match self.poison.of(result) {
            Ok(native) => Ok(guard(native)),
            Err(error) => Err(PoisonError::new(guard(error.into_inner()))),
        }
    }
}

// SAFETY: a shared guard gives out `&T` alone; what is beside it can be shared anyway.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    // Small enough to be inlined into the user's code, with all that is unusual elsewhere.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        if self.locked == ResourceId::NONE || std::thread::panicking() {
            return self.drop_unusually();
        }
        // First the native lock, while the engine still takes the mutex for locked: nobody notices, since
        // whoever wants it asks the engine first; and nobody else's panic can poison it meanwhile.
        // SAFETY: dropped once, here or in `drop_unusually`; the guard is not used again.
        unsafe { ManuallyDrop::drop(&mut self.guard) };
        if let Some(rt) = rt::current() {
            rt.unlock(self.locked, rt::site(self.taken_at));
        }
    }
}

/// Whether a lock that the running task gives back now is to be poisoned.
///
/// std poisons when anything on this OS thread is unwinding; here only the task's own panic counts,
/// and not one that tears it down. Ask before the step that gives the lock back: others run in it.
#[inline]
pub(super) fn poisons(rt: Handle) -> bool {
    std::thread::panicking() && rt.is_panicking() && !rt.is_tearing_down()
}

/// Whether the running task is unwinding: a lock that it takes then is not poisoned by that.
#[inline]
pub(super) fn is_unwinding() -> bool {
    std::thread::panicking() && rt::current().is_some_and(Handle::is_panicking)
}

/// The poison of a lock that std's own did not notice: it takes a lock that was taken while another
/// task was unwinding for one that was taken in a destructor.
pub(super) struct Poison(AtomicBool);

impl Poison {
    pub(super) const fn new() -> Poison {
        Poison(AtomicBool::new(false))
    }

    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What std's own lock gave, as it should be.
    #[inline]
    pub(super) fn of<G>(&self, native: LockResult<G>) -> LockResult<G> {
        match native {
            Ok(given) if self.is_set() => Err(PoisonError::new(given)),
            native => native,
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Gives the native lock back, while the engine still takes the mutex for locked.
    ///
    /// Nobody notices: whoever wants it asks the engine first.
    pub(super) fn release(self, rt: Handle) -> &'a Mutex<T> {
        let mut this = ManuallyDrop::new(self);
        let poisons = poisons(rt) && !this.taken_unwinding;
        this.unlock_native(poisons);
        this.mutex
    }

    /// Drops the native guard, for good; leaves no poison unless it `poisons`.
    #[inline]
    fn unlock_native(&mut self, poisons: bool) {
        if std::thread::panicking() {
            return self.unlock_native_while_panicking(poisons);
        }
        // SAFETY: called once, by `drop` or by `release`, after which the guard is not used again.
        unsafe { ManuallyDrop::drop(&mut self.guard) };
        if poisons {
            self.mutex.poison.set();
        }
    }

    #[cold]
    fn unlock_native_while_panicking(&mut self, poisons: bool) {
        let inner = &self.mutex.inner;
        let clears = !poisons && !inner.is_poisoned();
        // SAFETY: as in `unlock_native`.
        unsafe { ManuallyDrop::drop(&mut self.guard) };
        if clears {
            inner.clear_poison();
        }
        if poisons {
            self.mutex.poison.set();
        }
    }

    /// Outside an exploration, or while somebody unwinds.
    #[cold]
    #[inline(never)]
    fn drop_unusually(&mut self) {
        let Some((id, rt)) = self.locked().and_then(|id| Some((id, rt::current()?))) else {
            // SAFETY: dropped once, here or below; the guard is not used again.
            unsafe { ManuallyDrop::drop(&mut self.guard) };
            return;
        };
        let poisons = poisons(rt) && !self.taken_unwinding;
        rt.unlock(id, rt::site(self.taken_at));
        // An unlock is carried out even in teardown, so we always come here.
        self.unlock_native(poisons);
    }

    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.mutex
    }

    /// The resource that is locked, if it was locked under control.
    #[inline]
    pub(super) fn locked(&self) -> Option<ResourceId> {
        (self.locked != ResourceId::NONE).then_some(self.locked)
    }

    /// std's guard, for what is not under control.
    pub(super) fn into_native(self) -> (&'a Mutex<T>, std::sync::MutexGuard<'a, T>) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is never dropped nor used again, so the guard is taken once.
        (this.mutex, unsafe { ManuallyDrop::take(&mut this.guard) })
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut show = |data: &dyn fmt::Debug| {
            let mut d = f.debug_struct("Mutex");
            let poisoned = self.inner.is_poisoned() || self.poison.is_set();
            d.field("data", data).field("poisoned", &poisoned).finish_non_exhaustive()
        };
        match self.try_lock() {
            Ok(guard) => show(&&*guard),
            Err(TryLockError::Poisoned(error)) => show(&&**error.get_ref()),
            Err(TryLockError::WouldBlock) => {
                // How std shows this depends on its version; let it, with the lock held.
                let _locked = self.inner.try_lock();
                self.inner.fmt(f)
            }
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: ?Sized> crate::label::Labelled for Mutex<T> {
    fn id(&self, rt: crate::rt::Handle) -> Option<crate::rt::ResourceId> {
        Some(self.resource(rt))
    }
}
