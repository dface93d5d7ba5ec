//! What workers have in common, and how they wait for it and for each other.
//!
//! What is shared is held for a moment only, some hundred times in a millisecond: a worker that slept until it is
//! free would lose more time than it takes. So they are impatient for a while before they sleep.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use super::checkpoint::Ticket;
use super::strategy::Scratch;
use super::{Claimed, Shared};
use crate::finding::Divergence;

/// So often it is tried to get hold of what is shared before a worker goes to sleep, with a pause in between; on some
/// processors that takes as long as a quarter of what is waited for.
const ATTEMPTS: usize = 512;

/// What all workers have in common.
pub(super) struct Common {
    shared: RwLock<Shared>,
    /// Workers that want to change it, and have to wait until others have done.
    wanted: AtomicUsize,
    /// How often it was said that something has changed.
    changes: Mutex<u64>,
    changed: Condvar,
    /// What the last worker that is gone has left to another.
    left: Mutex<Option<Box<Scratch>>>,
}

/// One worker's own.
pub(super) struct Own {
    pub(super) common: Arc<Common>,
    kept: Mutex<Kept>,
}

/// What a worker keeps from one execution to the next.
#[derive(Default)]
pub(super) struct Kept {
    /// Left by the execution before.
    pub(super) scratch: Option<Box<Scratch>>,
    /// Executions that were redundant, and have not been asked for.
    pub(super) redundant: Vec<Ticket>,
    /// How an execution differed that was over before that could be said.
    pub(super) divergence: Option<Divergence>,
    /// What it makes next, claimed when the execution before was over.
    pub(super) next: Option<Claimed>,
}

impl Kept {
    pub(super) fn was_redundant(&mut self, ticket: Ticket) -> bool {
        match self.redundant.iter().position(|other| *other == ticket) {
            Some(at) => {
                self.redundant.swap_remove(at);
                true
            }
            None => false,
        }
    }
}

impl Common {
    pub(super) fn new(shared: Shared) -> Arc<Common> {
        let (shared, wanted) = (RwLock::new(shared), AtomicUsize::new(0));
        Arc::new(Common { shared, wanted, changes: Mutex::new(0), changed: Condvar::new(), left: Mutex::default() })
    }

    /// What is shared, if nobody else has it.
    pub(super) fn alone(common: &mut Arc<Common>) -> Option<&mut Shared> {
        let shared = &mut Arc::get_mut(common)?.shared;
        Some(shared.get_mut().unwrap_or_else(|e| e.into_inner()))
    }

    fn left(&self) -> MutexGuard<'_, Option<Box<Scratch>>> {
        self.left.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// What is shared, to change it.
    #[inline]
    pub(super) fn lock(&self) -> RwLockWriteGuard<'_, Shared> {
        match self.shared.try_write() {
            Ok(guard) => guard,
            Err(_) => self.lock_in_turn(),
        }
    }

    #[cold]
    fn lock_in_turn(&self) -> RwLockWriteGuard<'_, Shared> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let guard = impatiently(|| self.shared.try_write());
        let guard = guard.unwrap_or_else(|| self.shared.write().unwrap_or_else(|e| e.into_inner()));
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// What is shared, to read it as others do.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Shared> {
        let guard = impatiently(|| self.shared.try_read());
        guard.unwrap_or_else(|| self.shared.read().unwrap_or_else(|e| e.into_inner()))
    }

    /// What is shared, to read it, if need be again: those go first who want to change it.
    #[inline]
    pub(super) fn make_way<'a>(&'a self, shared: Option<RwLockReadGuard<'a, Shared>>) -> RwLockReadGuard<'a, Shared> {
        match shared {
            Some(shared) if self.wanted.load(Ordering::Relaxed) == 0 => shared,
            held => {
                drop(held);
                self.read()
            }
        }
    }

    /// Lets go of what is shared; who waits for a change of it looks at it again.
    pub(super) fn unlock(&self, shared: RwLockWriteGuard<'_, Shared>) {
        let somebody_waits = shared.waiting > 0;
        drop(shared);
        // It is a system call.
        if somebody_waits {
            *self.changes() += 1;
            self.changed.notify_all();
        }
    }

    /// Waits until another worker has changed something.
    pub(super) fn wait<'a>(&'a self, mut shared: RwLockWriteGuard<'a, Shared>) -> RwLockWriteGuard<'a, Shared> {
        shared.waiting += 1;
        let seen = *self.changes();
        drop(shared);
        let changes = self.changed.wait_while(self.changes(), |changes| *changes == seen);
        drop(changes);
        let mut shared = self.lock();
        shared.waiting -= 1;
        shared
    }

    fn changes(&self) -> MutexGuard<'_, u64> {
        self.changes.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.give_back();
        if let Some(scratch) = self.kept().scratch.take() {
            *self.common.left() = Some(scratch.forgetful());
        }
    }
}

fn impatiently<G>(mut attempt: impl FnMut() -> Result<G, TryLockError<G>>) -> Option<G> {
    for _ in 0..ATTEMPTS {
        match attempt() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(e)) => return Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    None
}

impl Own {
    pub(super) fn new(common: Arc<Common>) -> Arc<Own> {
        let scratch = common.left().take();
        Arc::new(Own { common, kept: Mutex::new(Kept { scratch, ..Kept::default() }) })
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Knows of no execution any more.
    pub(super) fn forget(&self) {
        let mut kept = self.kept();
        let scratch = kept.scratch.take().map(Scratch::forgetful);
        *kept = Kept { scratch, ..Kept::default() };
    }

    /// Leaves to others what this worker would have made next.
    pub(super) fn give_back(&self) {
        if let Some(next) = self.kept().next.take() {
            let mut shared = self.common.lock();
            shared.tree.unclaim(next.leaf);
            shared.claimed -= 1;
            self.common.unlock(shared);
        }
    }

    /// Whether there are other workers.
    pub(super) fn has_company(&self) -> bool {
        Arc::strong_count(&self.common) > 1
    }
}
