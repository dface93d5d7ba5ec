//! [`Semaphore`], as `tokio::sync::Semaphore`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use drawloom::object::Object;

use super::permits::{Acquire, Permits, Place, release};
use crate::context;

/// A fair counting semaphore, as `tokio::sync::Semaphore`.
pub struct Semaphore {
    permits: Object<Permits>,
}

impl Semaphore {
    /// How many permits there can be.
    pub const MAX_PERMITS: usize = Permits::MAX;

    /// A semaphore with `permits` permits.
    ///
    /// # Panics
    ///
    /// If these are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[must_use]
    #[track_caller]
    pub const fn new(permits: usize) -> Self {
        assert!(permits <= Permits::MAX, "a semaphore may not have more than MAX_PERMITS permits");
        Semaphore { permits: Object::new(Permits::new(permits)) }
    }

    /// As [`new`](Self::new).
    #[must_use]
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Semaphore::new(permits)
    }

    /// How many permits nobody has.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.permits.look(Permits::available)
    }

    /// Adds permits: who waits gets them first.
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        release(&self.permits, n, Location::caller());
    }

    /// Removes up to `n` of the permits that nobody has; returns how many.
    #[track_caller]
    pub fn forget_permits(&self, n: usize) -> usize {
        self.permits.update(|permits| permits.forget(n))
    }

    async fn take(&self, n: u32, place: Place) -> Result<SemaphorePermit<'_>, AcquireError> {
        Acquire::new(&self.permits, n as usize, place).await?;
        Ok(SemaphorePermit { semaphore: self, permits: n, place })
    }

    fn try_take(&self, n: u32, place: Place) -> Result<(), TryAcquireError> {
        self.permits.update_doing(place, |permits| permits.try_taking(n as usize))
    }

    /// Waits for a permit.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.take(1, Location::caller())
    }

    /// Waits for `n` permits.
    #[track_caller]
    pub fn acquire_many(&self, n: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.take(n, Location::caller())
    }

    /// A permit, if there is one.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// `n` permits, if there are as many.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let place = Location::caller();
        self.try_take(n, place)?;
        Ok(SemaphorePermit { semaphore: self, permits: n, place })
    }

    /// As [`acquire`](Self::acquire), for threads.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        context::block_on(self.acquire())
    }

    /// As [`acquire_many`](Self::acquire_many), for threads.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        context::block_on(self.acquire_many(n))
    }

    /// As [`acquire`](Self::acquire); the permit keeps the semaphore alive.
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// As [`acquire_many`](Self::acquire_many); the permit keeps the semaphore alive.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let place = Location::caller();
        async move {
            Acquire::new(&self.permits, n as usize, place).await?;
            Ok(OwnedSemaphorePermit { semaphore: self, permits: n, place })
        }
    }

    /// As [`try_acquire`](Self::try_acquire); the permit keeps the semaphore alive.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`try_acquire_many`](Self::try_acquire_many); the permit keeps the semaphore alive.
    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let place = Location::caller();
        self.try_take(n, place)?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits: n, place })
    }

    /// As [`acquire_owned`](Self::acquire_owned), for threads.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        context::block_on(self.acquire_owned())
    }

    /// As [`acquire_many_owned`](Self::acquire_many_owned), for threads.
    #[track_caller]
    pub fn blocking_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        context::block_on(self.acquire_many_owned(n))
    }

    /// Nobody gets a permit from now on; who waits is told so.
    #[track_caller]
    pub fn close(&self) {
        self.permits.update(Permits::close).wake();
    }

    /// Whether it is closed.
    #[must_use]
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.permits.look(Permits::is_closed)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

macro_rules! permit {
    ($permit:ty) => {
        impl $permit {
            /// Keeps the permits for ever: the semaphore has fewer from now on.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// Takes over the permits of `other`, which must be of the same semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(
                    std::ptr::eq::<Semaphore>(&*self.semaphore, &*other.semaphore),
                    "merging permits from different semaphore instances"
                );
                self.permits += std::mem::take(&mut other.permits);
            }

            /// How many permits these are.
            #[must_use]
            pub fn num_permits(&self) -> usize {
                self.permits as usize
            }
        }

        impl Drop for $permit {
            fn drop(&mut self) {
                release(&self.semaphore.permits, self.permits as usize, self.place);
            }
        }

        impl fmt::Debug for $permit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($permit)).field("permits", &self.permits).finish_non_exhaustive()
            }
        }
    };
}

/// Permits of a [`Semaphore`], given back when dropped.
#[must_use]
#[clippy::has_significant_drop]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: u32,
    place: Place,
}

permit!(SemaphorePermit<'_>);

impl<'a> SemaphorePermit<'a> {
    /// Splits `n` permits off.
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let n = u32::try_from(n).ok()?;
        self.permits = self.permits.checked_sub(n)?;
        Some(SemaphorePermit { semaphore: self.semaphore, permits: n, place: self.place })
    }

    /// The semaphore that they are of.
    #[must_use]
    pub fn semaphore(&self) -> &Semaphore {
        self.semaphore
    }
}

/// As [`SemaphorePermit`], and keeps the semaphore alive.
#[must_use]
#[clippy::has_significant_drop]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: u32,
    place: Place,
}

permit!(OwnedSemaphorePermit);

impl OwnedSemaphorePermit {
    /// Splits `n` permits off.
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let n = u32::try_from(n).ok()?;
        self.permits = self.permits.checked_sub(n)?;
        Some(OwnedSemaphorePermit { semaphore: self.semaphore.clone(), permits: n, place: self.place })
    }

    /// The semaphore that they are of.
    #[must_use]
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}

/// The semaphore is closed.
#[derive(Debug)]
pub struct AcquireError(());

impl AcquireError {
    pub(crate) fn new() -> Self {
        AcquireError(())
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl Error for AcquireError {}

/// Why there is no permit at once.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are too few now.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryAcquireError::Closed => f.write_str("semaphore closed"),
            TryAcquireError::NoPermits => f.write_str("no permits available"),
        }
    }
}

impl Error for TryAcquireError {}
