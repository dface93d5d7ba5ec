//! `tokio::sync` under control: what each does in one critical section is one step here.

mod barrier;
pub mod broadcast;
mod guard;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
pub(crate) mod permits;
mod rwlock;
mod semaphore;
mod set_once;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::{Notified, Notify, OwnedNotified};
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
    RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
pub use set_once::{SetOnce, SetOnceError};

/// The futures that have names.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}
