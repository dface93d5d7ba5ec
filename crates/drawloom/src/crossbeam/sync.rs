//! What threads wait by.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::sync::{Condvar, Mutex, MutexGuard};
pub use crate::sync::{
    RwLock as ShardedLock, RwLockReadGuard as ShardedLockReadGuard, RwLockWriteGuard as ShardedLockWriteGuard,
};
use crate::time::Instant;

/// Waits for a token, as `crossbeam::sync::Parker`.
#[derive(Default)]
pub struct Parker {
    unparker: Unparker,
    /// One thread at a time.
    not_sync: PhantomData<Cell<()>>,
}

/// Gives a [`Parker`] its token, as `crossbeam::sync::Unparker`.
#[derive(Clone, Default)]
pub struct Unparker {
    token: Arc<Token>,
}

#[derive(Default)]
struct Token {
    there: Mutex<bool>,
    comes: Condvar,
}

impl Token {
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.there.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parker {
    /// Without a token.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        Parker::default()
    }

    /// Waits for the token, and takes it.
    #[track_caller]
    pub fn park(&self) {
        let token = &self.unparker.token;
        let mut there = token.lock();
        while !std::mem::take(&mut *there) {
            there = token.comes.wait(there).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// As [`park`](Self::park), for `timeout` at most.
    #[track_caller]
    pub fn park_timeout(&self, timeout: Duration) {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.park_deadline(deadline),
            None => self.park(),
        }
    }

    /// As [`park`](Self::park), until `deadline` at most.
    #[track_caller]
    pub fn park_deadline(&self, deadline: Instant) {
        let token = &self.unparker.token;
        let mut there = token.lock();
        while !std::mem::take(&mut *there) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            there = token.comes.wait_timeout(there, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What gives it its token.
    pub fn unparker(&self) -> &Unparker {
        &self.unparker
    }
}

impl Unparker {
    /// Gives the token, unless it is there already.
    #[track_caller]
    pub fn unpark(&self) {
        *self.token.lock() = true;
        self.token.comes.notify_one();
    }
}

/// Waits until all of its clones are gone, as `crossbeam::sync::WaitGroup`.
pub struct WaitGroup {
    members: Arc<Members>,
}

struct Members {
    count: Mutex<usize>,
    none: Condvar,
}

impl Members {
    #[track_caller]
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitGroup {
    /// A group of one.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        WaitGroup { members: Arc::new(Members { count: Mutex::new(1), none: Condvar::new() }) }
    }

    /// Leaves the group, and waits until all others have left.
    #[track_caller]
    pub fn wait(self) {
        let members = self.members.clone();
        drop(self);
        let mut count = members.count();
        while *count > 0 {
            count = members.none.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Default for WaitGroup {
    #[track_caller]
    fn default() -> Self {
        WaitGroup::new()
    }
}

impl Clone for WaitGroup {
    #[track_caller]
    fn clone(&self) -> Self {
        *self.members.count() += 1;
        WaitGroup { members: self.members.clone() }
    }
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        let mut count = self.members.count();
        *count -= 1;
        if *count == 0 {
            self.members.none.notify_all();
        }
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Parker { .. }")
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Unparker { .. }")
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").field("count", &*self.members.count()).finish()
    }
}
