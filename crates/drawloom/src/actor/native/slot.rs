//! How processes wait, and are woken: on their threads, or as tasks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use super::tasks::Sleep;

/// Where a process waits.
#[derive(Default)]
pub(super) struct Slot {
    state: Mutex<State>,
    woken: Condvar,
    doomed: AtomicBool,
    is_task: bool,
    /// Of a task: the limit of its receive.
    limit: Mutex<Option<Limit>>,
}

/// When a receive ends without anything, and what wakes its task then.
pub(super) struct Limit {
    pub(super) until: Instant,
    pub(super) sleep: Sleep,
}

#[derive(Default)]
struct State {
    /// How often somebody has brought something.
    news: u64,
    waiting: bool,
    /// Of a task: it waits until nobody continues, and is not counted among those who do.
    settles: bool,
    /// Of a task: what its runtime wakes it by.
    waker: Option<Waker>,
}

impl Slot {
    pub(super) fn new(is_task: bool) -> Slot {
        Slot { is_task, ..Slot::default() }
    }

    /// Whether the process has no thread.
    pub(super) fn is_task(&self) -> bool {
        self.is_task
    }

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
            if !state.settles {
                quiet.enter();
            }
            let waker = state.waker.clone();
            drop(state);
            self.woken.notify_one();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    /// A task begins to run, for a while.
    pub(super) fn wakes_by(&self, waker: &Waker) {
        let mut state = self.state();
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
    }

    /// A task waits, unless more has come than was `seen`; whether it does.
    pub(super) fn rest(&self, seen: u64, quiet: &Quiet) -> bool {
        let mut state = self.state();
        if state.news != seen {
            return false;
        }
        state.waiting = true;
        if !state.settles {
            quiet.leave();
        }
        true
    }

    /// A task is over, wherever it stood: it continues, to its end.
    pub(super) fn gets_up(&self, quiet: &Quiet) {
        let mut state = self.state();
        let counted = !state.waiting && !state.settles;
        if state.settles {
            quiet.settling.fetch_sub(1, Ordering::SeqCst);
        }
        (state.waiting, state.settles) = (false, false);
        if !counted {
            quiet.enter();
        }
    }

    /// The limit of a task's receive.
    pub(super) fn limit(&self) -> MutexGuard<'_, Option<Limit>> {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task's receive is over.
    pub(super) fn end_receive(&self) {
        let limit = self.limit().take();
        drop(limit);
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
    lock: Mutex<Vec<Waker>>,
    changed: Condvar,
}

impl Quiet {
    /// One more continues.
    pub(super) fn enter(&self) {
        self.active.fetch_add(1, Ordering::SeqCst);
    }

    /// One waits, or has ended.
    pub(super) fn leave(&self) {
        if self.active.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.look_again();
        }
    }

    /// Whoever waits looks whether to continue.
    pub(super) fn look_again(&self) {
        if self.settling.load(Ordering::SeqCst) > 0 {
            let mut tasks = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.changed.notify_all();
            let woken = std::mem::take(&mut *tasks);
            drop(tasks);
            woken.into_iter().for_each(Waker::wake);
        }
    }

    /// The same for a task: whether nobody else continues.
    pub(super) fn poll(&self, slot: &Slot, context: &Context<'_>) -> Poll<()> {
        let mut state = slot.state();
        if !state.settles {
            state.settles = true;
            drop(state);
            self.settling.fetch_add(1, Ordering::SeqCst);
            self.leave();
            state = slot.state();
        }
        // Before it is asked whether anybody goes on: who leaves after that wakes this one.
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).push(context.waker().clone());
        if self.active.load(Ordering::SeqCst) > 0 {
            return Poll::Pending;
        }
        state.settles = false;
        self.enter();
        self.settling.fetch_sub(1, Ordering::SeqCst);
        Poll::Ready(())
    }

    /// The calling process waits until nobody continues, or it is to end.
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
