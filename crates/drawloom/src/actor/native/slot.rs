//! How threads of processes wait, and are woken.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Wake;
use std::time::{Duration, Instant};

/// Where the thread of a process waits.
#[derive(Default)]
pub(super) struct Slot {
    state: Mutex<State>,
    woken: Condvar,
    doomed: AtomicBool,
}

#[derive(Default)]
struct State {
    /// How often somebody has brought something.
    news: u64,
    waiting: bool,
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has come so far; to be asked before one looks.
    pub(super) fn seen(&self) -> u64 {
        self.state().news
    }

    /// Waits until more has come than was `seen`, or time is up.
    pub(super) fn wait(&self, seen: u64, until: Option<Instant>, quiet: &Quiet) {
        let mut state = self.state();
        if state.news != seen {
            return;
        }
        state.waiting = true;
        quiet.leave();
        while state.news == seen {
            let woken = |state| self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
            let Some(until) = until else {
                state = woken(state);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                break;
            }
            state = self.woken.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        // Whoever has brought something has counted this process among those that go on.
        if state.waiting {
            state.waiting = false;
            quiet.enter();
        }
    }

    /// Something has come.
    pub(super) fn notify(&self, quiet: &Quiet) {
        let mut state = self.state();
        state.news += 1;
        if state.waiting {
            state.waiting = false;
            quiet.enter();
            drop(state);
            self.woken.notify_one();
        }
    }

    /// The process is to end at its next step.
    pub(super) fn doom(&self, quiet: &Quiet) {
        self.doomed.store(true, Ordering::Release);
        self.notify(quiet);
        quiet.look_again();
    }

    pub(super) fn is_doomed(&self) -> bool {
        self.doomed.load(Ordering::Acquire)
    }
}

/// Wakes a process that awaits something else than a message.
pub(super) struct Wakes {
    slot: Arc<Slot>,
    quiet: Arc<Quiet>,
}

impl Wakes {
    pub(super) fn of(slot: &Arc<Slot>, quiet: &Arc<Quiet>) -> Arc<Wakes> {
        Arc::new(Wakes { slot: Arc::clone(slot), quiet: Arc::clone(quiet) })
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.slot.notify(&self.quiet);
    }
}

/// How many processes do something, for those who wait until nobody does.
#[derive(Default)]
pub(super) struct Quiet {
    active: AtomicUsize,
    settling: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Quiet {
    /// One more goes on.
    pub(super) fn enter(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
    }

    /// One waits, or has ended.
    pub(super) fn leave(&self) {
        if self.active.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.look_again();
        }
    }

    /// Whoever waits looks whether to go on.
    pub(super) fn look_again(&self) {
        if self.settling.load(Ordering::SeqCst) > 0 {
            let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.changed.notify_all();
        }
    }

    /// The calling process waits until nobody goes on, or it is to end.
    pub(super) fn wait(&self, doomed: impl Fn() -> bool) {
        self.settling.fetch_add(1, Ordering::SeqCst);
        self.leave();
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.active.load(Ordering::SeqCst) > 0 && !doomed() {
            held = self.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        drop(held);
        self.enter();
        self.settling.fetch_sub(1, Ordering::SeqCst);
    }
}
