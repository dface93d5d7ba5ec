//! `std::sync::Once`, under control; and what `OnceLock` and `LazyLock` share with it.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use drawloom_engine::OnceState as Progress;

use crate::rt::{self, Handle, OpKind, Operation, ResourceId, ResourceKind, Site, Slot, State, outcome};

/// Runs something once: [`std::sync::Once`] outside an exploration; under control inside.
///
/// Under control a `static` one starts again in every execution, and what ran outside of an exploration
/// has not run inside of it.
pub struct Once {
    control: Control,
    native: std::sync::Once,
    /// Whether the last native run panicked; std's own does not tell without a run.
    native_poisoned: AtomicBool,
}

/// The state that an initialiser gets of earlier attempts, as [`std::sync::OnceState`].
pub struct OnceState {
    poisoned: bool,
    not_sync: PhantomData<Cell<()>>,
}

/// As [`std::sync::ONCE_INIT`], deprecated there too.
#[deprecated(note = "the `Once::new()` function is now preferred")]
#[allow(clippy::declare_interior_mutable_const)]
pub const ONCE_INIT: Once = Once::new();

impl Once {
    /// As [`std::sync::Once::new`].
    #[must_use]
    #[track_caller]
    #[allow(clippy::new_without_default, reason = "std's has none")]
    pub const fn new() -> Once {
        Once { control: Control::new(), native: std::sync::Once::new(), native_poisoned: AtomicBool::new(false) }
    }

    /// As [`std::sync::Once::call_once`].
    #[inline]
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        match rt::current() {
            Some(rt) => {
                let Some(run) = self.control.enter(rt, rt::here(), || Progress::New) else { return };
                if run.after_panic {
                    drop(run);
                    panic_poisoned();
                }
                f();
                run.succeeded();
            }
            None if self.native.is_completed() => {}
            None => self.run_natively(|native| native.call_once(|| self.noting_panic(f))),
        }
    }

    /// As [`std::sync::Once::call_once_force`].
    #[inline]
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(&OnceState),
    {
        match rt::current() {
            Some(rt) => {
                let Some(run) = self.control.enter(rt, rt::here(), || Progress::New) else { return };
                f(&OnceState::new(run.after_panic));
                run.succeeded();
            }
            None if self.native.is_completed() => {}
            None => self.run_natively(|native| {
                native.call_once_force(|state| {
                    let state = OnceState::new(state.is_poisoned());
                    self.noting_panic(|| f(&state));
                });
            }),
        }
    }

    /// As [`std::sync::Once::is_completed`].
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        match rt::current() {
            Some(rt) => self.control.check(rt, rt::here(), || Progress::New),
            None => self.native.is_completed(),
        }
    }

    /// As std's `Once::wait`: waits until it has run, and panics if an attempt has.
    #[track_caller]
    pub fn wait(&self) {
        let site = rt::here();
        let poisoned = match rt::current() {
            Some(rt) => self.control.wait(rt, site, false, || Progress::New),
            None => {
                let poisoned = || !self.native.is_completed() && self.native_poisoned.load(Ordering::Acquire);
                wait_natively(|| self.native.is_completed() || poisoned());
                poisoned()
            }
        };
        if poisoned {
            panic_poisoned();
        }
    }

    /// As std's `Once::wait_force`: waits until it has run, however many attempts panic.
    #[track_caller]
    pub fn wait_force(&self) {
        match rt::current() {
            Some(rt) => {
                self.control.wait(rt, rt::here(), true, || Progress::New);
            }
            None => wait_natively(|| self.native.is_completed()),
        }
    }

    fn run_natively(&self, run: impl FnOnce(&std::sync::Once)) {
        let _wake = WakeNativeWaiters;
        run(&self.native);
    }

    fn noting_panic(&self, f: impl FnOnce()) {
        struct Poison<'a>(&'a AtomicBool);
        impl Drop for Poison<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Release);
            }
        }
        self.native_poisoned.store(false, Ordering::Release);
        let poison = Poison(&self.native_poisoned);
        f();
        std::mem::forget(poison);
    }
}

#[cold]
#[track_caller]
fn panic_poisoned() -> ! {
    panic!("Once instance has previously been poisoned")
}

impl OnceState {
    fn new(poisoned: bool) -> OnceState {
        OnceState { poisoned, not_sync: PhantomData }
    }

    /// As [`std::sync::OnceState::is_poisoned`].
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

/// The part of a one-time initialiser that is under control.
pub(super) struct Control {
    slot: Slot,
    /// What tasks wait at for an initialiser that nobody runs yet: a semaphore of the execution in the
    /// upper 40 bits, numbered in the lower 24, which the next run opens for good.
    gate: AtomicU64,
}

const GATE_BITS: u32 = 24;
/// As many permits as nobody uses up.
const WIDE_OPEN: u64 = 1 << 40;

impl Control {
    #[track_caller]
    pub(super) const fn new() -> Control {
        Control { slot: Slot::new(), gate: AtomicU64::new(0) }
    }

    #[inline]
    fn resource(&self, rt: Handle, at_first: impl FnOnce() -> Progress) -> ResourceId {
        self.slot.resource(rt, ResourceKind::Once, || State::Once(at_first()))
    }

    /// Asks to run the initialiser. `None` if it has run, once that is so.
    #[inline]
    pub(super) fn enter(&self, rt: Handle, site: Site, at_first: impl FnOnce() -> Progress) -> Option<Run<'_>> {
        let id = self.resource(rt, at_first);
        match rt.step(Operation::new(OpKind::OnceEnter, id, site)) {
            outcome::RUN => Some(Run { control: self, rt, id, site, after_panic: false, succeeded: false }),
            outcome::RUN_AFTER_PANIC => Some(Run { control: self, rt, id, site, after_panic: true, succeeded: false }),
            _ => None,
        }
    }

    /// Whether the initialiser has run.
    #[inline]
    pub(super) fn check(&self, rt: Handle, site: Site, at_first: impl FnOnce() -> Progress) -> bool {
        let id = self.resource(rt, at_first);
        rt.step(Operation::new(OpKind::OnceCheck, id, site)) == outcome::OK
    }

    /// Waits until the initialiser has run. True if an attempt panicked instead, unless `force`.
    pub(super) fn wait(&self, rt: Handle, site: Site, force: bool, at_first: impl Fn() -> Progress) -> bool {
        loop {
            if self.check(rt, site, &at_first) {
                return false;
            }
            // Since the check no other task has run.
            if !force && progress(rt, self.resource(rt, &at_first)) == Progress::Poisoned {
                return true;
            }
            let gate = self.gate(rt, site);
            rt.step(Operation::new(OpKind::Acquire, gate, site).with_arg(1));
        }
    }

    fn gate(&self, rt: Handle, site: Site) -> ResourceId {
        if let Some(gate) = self.existing_gate(rt) {
            return gate;
        }
        let gate = rt.create_resource(ResourceKind::Semaphore, State::Count(0), site);
        // It has no owner who could drop it, and is no leak.
        rt.with_engine(|engine| engine.drop_resource(gate));
        self.gate.store(rt.epoch() << GATE_BITS | u64::from(gate.0), Ordering::Relaxed);
        gate
    }

    fn existing_gate(&self, rt: Handle) -> Option<ResourceId> {
        let word = self.gate.load(Ordering::Relaxed);
        (word >> GATE_BITS == rt.epoch()).then_some(ResourceId((word & ((1 << GATE_BITS) - 1)) as u32))
    }
}

fn progress(rt: Handle, id: ResourceId) -> Progress {
    rt.with_engine(|engine| match engine.resources()[id.0 as usize].state {
        State::Once(progress) => progress,
        other => unreachable!("a once is {other:?}"),
    })
}

/// The running of an initialiser. It has failed unless it `succeeded` before it is dropped.
pub(super) struct Run<'a> {
    control: &'a Control,
    rt: Handle,
    id: ResourceId,
    site: Site,
    /// Whether an earlier attempt failed.
    pub(super) after_panic: bool,
    succeeded: bool,
}

impl Run<'_> {
    #[inline]
    pub(super) fn succeeded(mut self) {
        self.succeeded = true;
    }
}

impl Drop for Run<'_> {
    #[inline]
    fn drop(&mut self) {
        let finish = Operation::new(OpKind::OnceFinish, self.id, self.site);
        self.rt.step(finish.with_arg(u64::from(self.succeeded)));
        // Since the step no other task has run: whoever asked before it waits here, nobody else.
        if let Some(gate) = self.control.existing_gate(self.rt) {
            self.control.gate.store(0, Ordering::Relaxed);
            self.rt.step(Operation::new(OpKind::Release, gate, self.site).with_arg(WIDE_OPEN));
        }
    }
}

// ── waiting outside an exploration ──────────────────────────────────────────────────────────────────

/// Where threads wait for initialisers, all for all: std's own `wait` is not in every version yet.
static NATIVE_WAITERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());

/// Waits until `done`, which is asked again after each native run.
pub(super) fn wait_natively(done: impl Fn() -> bool) {
    if done() {
        return;
    }
    let (lock, woken) = &NATIVE_WAITERS;
    let mut guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    while !done() {
        guard = woken.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Wakes native waiters when a native run is over, however it ended.
pub(super) struct WakeNativeWaiters;

impl Drop for WakeNativeWaiters {
    fn drop(&mut self) {
        let (lock, woken) = &NATIVE_WAITERS;
        drop(lock.lock().unwrap_or_else(PoisonError::into_inner));
        woken.notify_all();
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned()).finish()
    }
}

impl crate::label::Labelled for Once {
    fn id(&self, rt: crate::rt::Handle) -> Option<crate::rt::ResourceId> {
        Some(self.control.resource(rt, || Progress::New))
    }
}
