//! How workers on OS threads share an exhaustive exploration, and wait for it and for each other.
//!
//! The board is held for a moment only, some hundred times in a millisecond: a worker that slept until it is free would
//! lose more time than it takes. So workers are impatient for a while before they sleep.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockWriteGuard, TryLockError};

use drawloom_engine::exhaustive::{Board, Commons, Desk, Kept, Sharing, Then};

use super::spread::lock;

/// For explorers whose workers run on OS threads.
pub const SHARING: Sharing =
    Sharing { commons: |board| Arc::new(OnThreads::new(board)), desk: |kept| Arc::new(Own(Mutex::new(kept))) };

/// So often it is tried to get hold of the board before a worker goes to sleep, with a pause in between; on some
/// processors that takes as long as a quarter of what is waited for.
const ATTEMPTS: usize = 512;

struct OnThreads {
    shared: RwLock<Shared>,
    /// Workers that want to change it, and have to wait until others have done.
    wanted: AtomicUsize,
    /// How often it was said that something has changed.
    changes: Mutex<u64>,
    changed: Condvar,
}

struct Shared {
    board: Board,
    /// Workers that have nothing to do for the moment.
    waiting: usize,
}

impl OnThreads {
    fn new(board: Board) -> OnThreads {
        let shared = RwLock::new(Shared { board, waiting: 0 });
        OnThreads { shared, wanted: AtomicUsize::new(0), changes: Mutex::new(0), changed: Condvar::new() }
    }

    #[inline]
    fn write(&self) -> RwLockWriteGuard<'_, Shared> {
        match self.shared.try_write() {
            Ok(guard) => guard,
            Err(_) => self.write_in_turn(),
        }
    }

    #[cold]
    fn write_in_turn(&self) -> RwLockWriteGuard<'_, Shared> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let guard = impatiently(|| self.shared.try_write());
        let guard = guard.unwrap_or_else(|| self.shared.write().unwrap_or_else(|e| e.into_inner()));
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Lets go of the board; who waits for a change of it looks at it again.
    fn tell(&self, shared: RwLockWriteGuard<'_, Shared>) {
        let somebody_waits = shared.waiting > 0;
        drop(shared);
        // It is a system call.
        if somebody_waits {
            *self.changes() += 1;
            self.changed.notify_all();
        }
    }

    /// Waits until another worker has changed something.
    fn wait<'a>(&'a self, mut shared: RwLockWriteGuard<'a, Shared>) -> RwLockWriteGuard<'a, Shared> {
        shared.waiting += 1;
        let seen = *self.changes();
        drop(shared);
        let changes = self.changed.wait_while(self.changes(), |changes| *changes == seen);
        drop(changes);
        let mut shared = self.write();
        shared.waiting -= 1;
        shared
    }

    fn changes(&self) -> MutexGuard<'_, u64> {
        lock(&self.changes)
    }
}

impl Commons for OnThreads {
    fn change(&self, act: &mut dyn FnMut(&mut Board) -> Then) {
        let mut shared = self.write();
        loop {
            match act(&mut shared.board) {
                Then::Done => return,
                Then::Tell => return self.tell(shared),
                Then::Wait => shared = self.wait(shared),
            }
        }
    }

    fn read(&self, look: &mut dyn FnMut(&Board) -> bool) {
        loop {
            let guard = impatiently(|| self.shared.try_read());
            let shared = guard.unwrap_or_else(|| self.shared.read().unwrap_or_else(|e| e.into_inner()));
            loop {
                if !look(&shared.board) {
                    return;
                }
                if self.wanted.load(Ordering::Relaxed) > 0 {
                    break;
                }
            }
        }
    }

    fn board(&mut self) -> &mut Board {
        &mut self.shared.get_mut().unwrap_or_else(|e| e.into_inner()).board
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

/// What one worker keeps: nobody else asks for it, but its explorer and its strategy do.
struct Own(Mutex<Kept>);

impl Desk for Own {
    fn with(&self, act: &mut dyn FnMut(&mut Kept)) {
        act(&mut lock(&self.0));
    }
}
