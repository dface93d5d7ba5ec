//! `std::sync::Condvar`, under control.

use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::MutexGuard;
use super::mutex::is_unwinding;
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Slot, State, outcome};

/// A condition variable: [`std::sync::Condvar`] outside an exploration; under control inside.
///
/// Under control a wait may end without a notification, as a bounded choice of the schedule
/// (`spurious_wakeups`); a notification wakes who has waited longest; and timeouts run out in virtual
/// time, without anybody waiting for real.
///
/// std may panic when one condition variable is used with two mutexes. Here, as with std on Linux,
/// it is let pass: each wait gives back and takes again the mutex that it was given.
///
/// A notification from inside an exploration does not reach waiting threads outside, nor the reverse.
pub struct Condvar {
    slot: Slot,
    native: std::sync::Condvar,
}

/// Whether a wait ended because time was up, as [`std::sync::WaitTimeoutResult`].
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// As [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A wait under control that is about to begin.
struct Wait<'a, T> {
    rt: Handle,
    guard: MutexGuard<'a, T>,
    mutex: ResourceId,
    at: &'static Location<'static>,
}

impl Condvar {
    /// As [`std::sync::Condvar::new`].
    #[must_use]
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar { slot: Slot::new(), native: std::sync::Condvar::new() }
    }

    /// As [`std::sync::Condvar::wait`].
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let at = Location::caller();
        match Wait::of(guard, at) {
            Ok(wait) => unzip(self.wait_under_control(wait, None)).0,
            Err(guard) => {
                let (mutex, native) = guard.into_native();
                mutex.wrap(self.native.wait(native), None, at)
            }
        }
    }

    /// As [`std::sync::Condvar::wait_while`].
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, mut guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`std::sync::Condvar::wait_timeout_ms`], deprecated there too: true means that it was woken.
    #[deprecated(note = "replaced by `Condvar::wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(&self, guard: MutexGuard<'a, T>, ms: u32) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let (guard, result) = unzip(self.wait_timeout(guard, Duration::from_millis(u64::from(ms))));
        zip(guard, !result.timed_out())
    }

    /// As [`std::sync::Condvar::wait_timeout`], in virtual time when under control.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let at = Location::caller();
        match Wait::of(guard, at) {
            Ok(wait) => self.wait_under_control(wait, Some(dur)),
            Err(guard) => {
                let (mutex, native) = guard.into_native();
                let (guard, timed_out) = match self.native.wait_timeout(native, dur) {
                    Ok((guard, result)) => (Ok(guard), result.timed_out()),
                    Err(error) => {
                        let (guard, result) = error.into_inner();
                        (Err(PoisonError::new(guard)), result.timed_out())
                    }
                };
                zip(mutex.wrap(guard, None, at), WaitTimeoutResult(timed_out))
            }
        }
    }

    /// As [`std::sync::Condvar::wait_timeout_while`], in virtual time when under control.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let clock = Clock::start();
        let mut left = dur;
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if left.is_zero() {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            guard = self.wait_timeout(guard, left)?.0;
            left = dur.saturating_sub(clock.elapsed());
        }
    }

    /// As [`std::sync::Condvar::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) {
        match rt::current() {
            Some(rt) => self.notify(rt, OpKind::NotifyOne, Location::caller()),
            None => self.native.notify_one(),
        }
    }

    /// As [`std::sync::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) {
        match rt::current() {
            Some(rt) => self.notify(rt, OpKind::NotifyAll, Location::caller()),
            None => self.native.notify_all(),
        }
    }

    #[inline]
    fn resource(&self, rt: Handle) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Condvar, || State::Plain)
    }

    #[inline]
    fn notify(&self, rt: Handle, kind: OpKind, at: &'static Location<'static>) {
        rt.step(Operation::new(kind, self.resource(rt), rt::site(at)));
    }

    fn wait_under_control<'a, T>(
        &self,
        wait: Wait<'a, T>,
        timeout: Option<Duration>,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let Wait { rt, guard, mutex: id, at } = wait;
        let site = rt::site(at);
        if rt.wakes_spuriously(site) {
            let mutex = guard.mutex();
            drop(guard);
            rt.step(Operation::new(OpKind::Lock, id, site));
            return zip(mutex.take(id, at, is_unwinding()), WaitTimeoutResult(false));
        }
        let operation = Operation::new(OpKind::CondWait, self.resource(rt), site).with_arg(u64::from(id.0));
        let mutex = guard.release(rt);
        let unlock = UnlockIfUnwound { rt, mutex: id, at };
        // A time that does not fit is longer than any execution: no timeout.
        let nanos = timeout.and_then(|dur| u64::try_from(dur.as_nanos()).ok());
        let outcome = match nanos {
            Some(nanos) => rt.step_with_timeout(operation, nanos),
            None => rt.step(operation),
        };
        std::mem::forget(unlock);
        rt.step(Operation::new(OpKind::Lock, id, site));
        zip(mutex.take(id, at, is_unwinding()), WaitTimeoutResult(outcome == outcome::TIMED_OUT))
    }
}

impl<'a, T> Wait<'a, T> {
    /// The wait, or the guard back if it is not under control.
    #[inline]
    fn of(guard: MutexGuard<'a, T>, at: &'static Location<'static>) -> Result<Wait<'a, T>, MutexGuard<'a, T>> {
        match (guard.locked(), rt::current()) {
            (Some(mutex), Some(rt)) => Ok(Wait { rt, guard, mutex, at }),
            _ => Err(guard),
        }
    }
}

/// Gives the mutex back if the task is torn down before its wait has done so.
struct UnlockIfUnwound {
    rt: Handle,
    mutex: ResourceId,
    at: &'static Location<'static>,
}

impl Drop for UnlockIfUnwound {
    fn drop(&mut self) {
        let me = self.rt.running();
        let holds = self.rt.with_engine(|engine| {
            engine.resources()[self.mutex.0 as usize].holders.iter().any(|holder| holder.task == me)
        });
        if holds {
            self.rt.step(Operation::new(OpKind::Unlock, self.mutex, rt::site(self.at)));
        }
    }
}

/// The time that passes during a wait: virtual under control.
enum Clock {
    Native(std::time::Instant),
    Virtual(Handle, u64, &'static Location<'static>),
}

impl Clock {
    #[track_caller]
    fn start() -> Clock {
        match rt::current() {
            Some(rt) => Clock::Virtual(rt, rt.now_before_wait(rt::here()), Location::caller()),
            None => Clock::Native(std::time::Instant::now()),
        }
    }

    fn elapsed(&self) -> Duration {
        match self {
            Clock::Native(start) => start.elapsed(),
            Clock::Virtual(rt, start, at) => {
                rt.step(Operation::new(OpKind::Now, ResourceId::NONE, rt::site(at)));
                Duration::from_nanos(rt.with_engine(|engine| engine.now()) - start)
            }
        }
    }
}

fn zip<G, R>(guard: LockResult<G>, result: R) -> LockResult<(G, R)> {
    match guard {
        Ok(guard) => Ok((guard, result)),
        Err(error) => Err(PoisonError::new((error.into_inner(), result))),
    }
}

fn unzip<G, R>(both: LockResult<(G, R)>) -> (LockResult<G>, R) {
    match both {
        Ok((guard, result)) => (Ok(guard), result),
        Err(error) => {
            let (guard, result) = error.into_inner();
            (Err(PoisonError::new(guard)), result)
        }
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl crate::label::Labelled for Condvar {
    fn id(&self, rt: crate::rt::Handle) -> Option<crate::rt::ResourceId> {
        Some(self.resource(rt))
    }
}
