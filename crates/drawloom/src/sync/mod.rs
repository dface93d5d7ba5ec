//! `std::sync`, under control.

pub mod atomic;
mod barrier;
mod condvar;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod rwlock;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

#[doc(hidden)] // its place is `drawloom::ext`
pub use crate::latch::Latch;
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
#[allow(deprecated)]
pub use once::ONCE_INIT;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
