//! `std::sync::RwLock`, under control.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::mutex::{Poison, is_unwinding, poisons};
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Slot, State, outcome};

type At = &'static Location<'static>;

/// A reader–writer lock: [`std::sync::RwLock`] outside an exploration; under control inside.
///
/// Under control it is first come, first served: a reader that comes after a waiting writer waits
/// behind it, so a task that reads twice can deadlock with a writer in between, as it can with std's.
/// std promises no order. That of a fair queue causes every outcome that another one can, since who
/// would be preferred is one who came earlier in another schedule; but a writer that is passed over for ever
/// takes a lock that [prefers](crate::prefer) readers.
/// std's own lock still guards the data, and so poisoning is std's.
pub struct RwLock<T: ?Sized> {
    slot: Slot,
    /// Outside an exploration every writer holds this too, from before it asks for the lock. It keeps
    /// other writers out while a write lock is downgraded, which std's own cannot do before 1.92.
    writers: std::sync::Mutex<()>,
    poison: Poison,
    /// Whom it prefers under control: the operand of its operations.
    prefers: AtomicU8,
    inner: std::sync::RwLock<T>,
}

/// Gives the read lock back when dropped, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'rwlock, T: ?Sized + 'rwlock> {
    guard: ManuallyDrop<std::sync::RwLockReadGuard<'rwlock, T>>,
    /// The operation that gives it back, if it was locked under control.
    unlock: Option<Operation>,
}

/// Gives the write lock back when dropped, as [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'rwlock, T: ?Sized + 'rwlock> {
    guard: ManuallyDrop<std::sync::RwLockWriteGuard<'rwlock, T>>,
    lock: &'rwlock RwLock<T>,
    held: Held<'rwlock>,
    taken_at: At,
    taken_unwinding: bool,
}

/// How a write lock is held.
enum Held<'rwlock> {
    Natively { _writers: std::sync::MutexGuard<'rwlock, ()> },
    UnderControl(ResourceId),
}

impl<T> RwLock<T> {
    /// As [`std::sync::RwLock::new`].
    #[track_caller]
    pub const fn new(t: T) -> RwLock<T> {
        RwLock {
            slot: Slot::new(),
            writers: std::sync::Mutex::new(()),
            poison: Poison::new(),
            prefers: AtomicU8::new(0),
            inner: std::sync::RwLock::new(t),
        }
    }

    /// As [`std::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        self.poison.of(self.inner.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    #[inline]
    fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::RwLock, || State::Plain)
    }

    #[inline]
    fn operation(&self, kind: OpKind, id: ResourceId, at: At) -> Operation {
        Operation::new(kind, id, rt::site(at)).with_arg(u64::from(self.prefers.load(Ordering::Relaxed)))
    }

    /// As [`std::sync::RwLock::read`].
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let at = Location::caller();
        let Some(rt) = rt::current() else {
            return self.reader(self.inner.read(), None, at);
        };
        let id = self.resource(rt);
        rt.step(self.operation(OpKind::Read, id, at));
        self.take_read(id, at)
    }

    /// As [`std::sync::RwLock::try_read`].
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let at = Location::caller();
        let Some(rt) = rt::current() else {
            return match self.inner.try_read() {
                Ok(guard) => Ok(self.reader(Ok(guard), None, at)?),
                Err(TryLockError::Poisoned(error)) => Ok(self.reader(Err(error), None, at)?),
                Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            };
        };
        let id = self.resource(rt);
        match rt.step(self.operation(OpKind::TryRead, id, at)) {
            outcome::OK => Ok(self.take_read(id, at)?),
            _ => Err(TryLockError::WouldBlock),
        }
    }

    /// As [`std::sync::RwLock::write`].
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let at = Location::caller();
        let Some(rt) = rt::current() else {
            let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
            return self.writer(self.inner.write(), Held::Natively { _writers: writers }, at);
        };
        let id = self.resource(rt);
        rt.step(self.operation(OpKind::Write, id, at));
        self.take_write(id, at)
    }

    /// As [`std::sync::RwLock::try_write`].
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let at = Location::caller();
        let Some(rt) = rt::current() else {
            let writers = match self.writers.try_lock() {
                Ok(writers) => writers,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
            };
            let held = Held::Natively { _writers: writers };
            return match self.inner.try_write() {
                Ok(guard) => Ok(self.writer(Ok(guard), held, at)?),
                Err(TryLockError::Poisoned(error)) => Ok(self.writer(Err(error), held, at)?),
                Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            };
        };
        let id = self.resource(rt);
        match rt.step(self.operation(OpKind::TryWrite, id, at)) {
            outcome::OK => Ok(self.take_write(id, at)?),
            _ => Err(TryLockError::WouldBlock),
        }
    }

    /// As [`std::sync::RwLock::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        if let Some(rt) = rt::current() {
            rt.step(Operation::new(OpKind::Rmw, self.resource(rt), rt::here()));
        }
        self.inner.is_poisoned() || self.poison.is_set()
    }

    /// As [`std::sync::RwLock::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        if let Some(rt) = rt::current() {
            rt.step(Operation::new(OpKind::Store, self.resource(rt), rt::here()));
        }
        self.poison.clear();
        self.inner.clear_poison();
    }

    /// As [`std::sync::RwLock::get_mut`].
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poison.of(self.inner.get_mut())
    }

    /// Takes the native read lock that the engine has granted.
    #[inline]
    fn take_read(&self, id: ResourceId, at: At) -> LockResult<RwLockReadGuard<'_, T>> {
        let native = match self.inner.try_read() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(error)) => Err(error),
            // Held by code that is not under control; it will let go without our help.
            Err(TryLockError::WouldBlock) => self.inner.read(),
        };
        self.reader(native, Some(id), at)
    }

    /// Takes the native write lock that the engine has granted.
    #[inline]
    fn take_write(&self, id: ResourceId, at: At) -> LockResult<RwLockWriteGuard<'_, T>> {
        let native = match self.inner.try_write() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(error)) => Err(error),
            // Held by code that is not under control; it will let go without our help.
            Err(TryLockError::WouldBlock) => self.inner.write(),
        };
        self.writer(native, Held::UnderControl(id), at)
    }

    #[inline]
    fn writer<'a>(
        &'a self,
        native: LockResult<std::sync::RwLockWriteGuard<'a, T>>,
        held: Held<'a>,
        taken_at: At,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        let guard = |guard, held| RwLockWriteGuard {
            guard: ManuallyDrop::new(guard),
            lock: self,
            held,
            taken_at,
            taken_unwinding: is_unwinding(),
        };
        match self.poison.of(native) {
            Ok(native) => Ok(guard(native, held)),
            Err(error) => Err(PoisonError::new(guard(error.into_inner(), held))),
        }
    }

    #[inline]
    fn reader<'a>(
        &'a self,
        native: LockResult<std::sync::RwLockReadGuard<'a, T>>,
        locked: Option<ResourceId>,
        taken_at: At,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        let unlock = locked.map(|id| self.operation(OpKind::ReadUnlock, id, taken_at));
        let guard = |guard| RwLockReadGuard { guard: ManuallyDrop::new(guard), unlock };
        match self.poison.of(native) {
            Ok(native) => Ok(guard(native)),
            Err(error) => Err(PoisonError::new(guard(error.into_inner()))),
        }
    }
}

impl<'rwlock, T: ?Sized> RwLockWriteGuard<'rwlock, T> {
    /// As std's `RwLockWriteGuard::downgrade`: no other writer can come in between.
    #[track_caller]
    pub fn downgrade(s: Self) -> RwLockReadGuard<'rwlock, T> {
        let at = Location::caller();
        let (lock, locked) = (s.lock, s.locked());
        if let Some((id, rt)) = locked {
            rt.step(lock.operation(OpKind::Downgrade, id, at));
        }
        let mut s = ManuallyDrop::new(s);
        // SAFETY: `s` is never dropped nor used again but for its guard, so `held` is taken once.
        let held = unsafe { std::ptr::read(&s.held) };
        s.unlock_native(false);
        let readers = match locked {
            Some((id, _)) => lock.take_read(id, at),
            None => lock.reader(lock.inner.read(), None, at),
        };
        drop(held);
        readers.unwrap_or_else(PoisonError::into_inner)
    }

    /// The resource that is locked, and its execution, if it was locked under control.
    #[inline]
    fn locked(&self) -> Option<(ResourceId, Handle)> {
        match self.held {
            Held::UnderControl(id) => Some((id, rt::current()?)),
            Held::Natively { .. } => None,
        }
    }

    /// Drops the native guard, for good; leaves no poison unless it `poisons`.
    #[inline]
    fn unlock_native(&mut self, poisons: bool) {
        let inner = &self.lock.inner;
        let clears = !poisons && std::thread::panicking() && !inner.is_poisoned();
        // SAFETY: called once, by `drop` or by `downgrade`, after which the guard is not used again.
        unsafe { ManuallyDrop::drop(&mut self.guard) };
        if clears {
            inner.clear_poison();
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let Some((id, rt)) = self.locked() else {
            self.unlock_native(true);
            return;
        };
        let poisons = poisons(rt) && !self.taken_unwinding;
        rt.step(self.lock.operation(OpKind::WriteUnlock, id, self.taken_at));
        self.unlock_native(poisons);
        if poisons {
            self.lock.poison.set();
        }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some((unlock, rt)) = self.unlock.and_then(|unlock| Some((unlock, rt::current()?))) {
            rt.step(unlock);
        }
        // SAFETY: dropped once, here; the guard is not used again.
        unsafe { ManuallyDrop::drop(&mut self.guard) };
    }
}

// SAFETY: a shared guard gives out `&T` alone; what is beside it can be shared anyway.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut d = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => d.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => d.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => d.field("data", &format_args!("<locked>")),
        };
        d.field("poisoned", &(self.inner.is_poisoned() || self.poison.is_set()));
        d.finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(t: T) -> Self {
        RwLock::new(t)
    }
}

impl<T: ?Sized> crate::prefer::Prefers for RwLock<T> {
    fn prefer(&self, operand: u8) {
        self.prefers.store(operand, Ordering::Relaxed);
    }
}

impl<T: ?Sized> crate::label::Labelled for RwLock<T> {
    fn id(&self, rt: crate::rt::Handle) -> Option<crate::rt::ResourceId> {
        Some(self.resource(rt))
    }
}
