//! The crate `parking_lot` under control: locks that a panic does not poison.
//!
//! In production these names are that crate's own. Under control they are the locks of
//! [`sync`](crate::sync), so all that is said of those holds; waiting readers and writers are served in the
//! order in which they came. What is not there: timed locking, upgradable reads, reentrant and raw locks.

mod condvar;
mod mutex;
mod rwlock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard, const_mutex};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard, const_rwlock};
