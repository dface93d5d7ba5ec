//! The few words that the programs are written in: thin names for the library's atomics, locks and threads.

use std::sync::{Arc, PoisonError};

use super::super::library::sync::atomic::{AtomicI64, Ordering::SeqCst};
use super::super::library::sync::{Condvar, Mutex, MutexGuard};
use super::super::library::thread::{self, JoinHandle};

/// A shared variable. Each access is one step, as an access to plain memory is where the program comes from.
pub(super) struct Var(AtomicI64);

impl Var {
    #[track_caller]
    pub(super) fn new(value: i64) -> Self {
        Var(AtomicI64::new(value))
    }

    #[track_caller]
    pub(super) fn read(&self) -> i64 {
        self.0.load(SeqCst)
    }

    #[track_caller]
    pub(super) fn write(&self, value: i64) {
        self.0.store(value, SeqCst);
    }

    /// Reads, then writes: two steps, as `x += by` on plain memory. The new value.
    #[track_caller]
    pub(super) fn plus(&self, by: i64) -> i64 {
        let new = self.read() + by;
        self.write(new);
        new
    }

    /// Adds in one step; the new value.
    #[track_caller]
    pub(super) fn atomic_add(&self, by: i64) -> i64 {
        self.0.fetch_add(by, SeqCst) + by
    }

    /// Exchanges in one step; the old value.
    #[track_caller]
    pub(super) fn swap(&self, value: i64) -> i64 {
        self.0.swap(value, SeqCst)
    }

    /// Replaces `old` by `new` in one step, or says what is there instead.
    #[track_caller]
    pub(super) fn replace(&self, old: i64, new: i64) -> Result<(), i64> {
        self.0.compare_exchange(old, new, SeqCst, SeqCst).map(|_| ())
    }

    /// The value when nobody else is left: no step.
    pub(super) fn last(&mut self) -> i64 {
        *self.0.get_mut()
    }
}

/// Several variables that begin as 0. A macro, so that they are made where it is used: objects are known by
/// the place where they were made.
macro_rules! zeroes {
    () => {
        std::array::from_fn(|_| Var::new(0))
    };
}
pub(super) use zeroes;

/// A lock that guards nothing by itself: what it guards are steps of their own.
pub(super) struct Lock(Mutex<()>);

pub(super) type Held<'a> = MutexGuard<'a, ()>;

impl Lock {
    #[track_caller]
    pub(super) fn new() -> Self {
        Lock(Mutex::new(()))
    }

    /// Poisoned or not: a failed assertion must not become the failure of others.
    #[track_caller]
    pub(super) fn lock(&self) -> Held<'_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition that tasks wait for.
pub(super) struct Condition(Condvar);

impl Condition {
    #[track_caller]
    pub(super) fn new() -> Self {
        Condition(Condvar::new())
    }

    #[track_caller]
    pub(super) fn wait<'a>(&self, held: Held<'a>) -> Held<'a> {
        self.0.wait(held).unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    pub(super) fn signal(&self) {
        self.0.notify_one();
    }
}

pub(super) type Task = JoinHandle<()>;

/// A task that works on what all of them share.
#[track_caller]
pub(super) fn spawn<S: Send + Sync + 'static>(shared: &Arc<S>, body: impl FnOnce(&S) + Send + 'static) -> Task {
    let shared = Arc::clone(shared);
    thread::spawn(move || body(&shared))
}

/// Joins in this order.
#[track_caller]
pub(super) fn join(tasks: impl IntoIterator<Item = Task>) {
    for task in tasks {
        task.join().unwrap();
    }
}

/// The shared state, when all tasks are joined.
pub(super) fn alone<S>(shared: Arc<S>) -> S {
    Arc::into_inner(shared).expect("all tasks are joined, and have dropped theirs")
}

/// Tells the scheduler that nothing is gained by looking again at once.
#[track_caller]
pub(super) fn spin() {
    thread::yield_now();
}
