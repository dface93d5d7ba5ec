//! `tokio::io::unix`: not under control; whatever would watch a file descriptor fails with an error that names it.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;

use super::Interest;
use crate::uncontrolled::error;

/// A file descriptor that cannot be watched under control.
pub struct AsyncFd<T: AsRawFd> {
    inner: T,
    never: Infallible,
}

/// Of an [`AsyncFd`] that is ready, of which there is none.
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    never: Infallible,
    of: PhantomData<&'a AsyncFd<T>>,
}

/// Of an [`AsyncFd`] that is ready, of which there is none.
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    never: Infallible,
    of: PhantomData<&'a mut AsyncFd<T>>,
}

/// The descriptor was not ready.
#[derive(Debug)]
pub struct TryIoError(());

impl<T: AsRawFd> AsyncFd<T> {
    /// Fails.
    pub fn new(inner: T) -> io::Result<Self> {
        AsyncFd::with_interest(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// Fails.
    pub fn with_interest(_inner: T, _interest: Interest) -> io::Result<Self> {
        Err(error("io::unix::AsyncFd::new"))
    }

    /// Never called.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Never called.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Never called.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// Never called.
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        match self.never {}
    }

    /// Never called.
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        match self.never {}
    }

    /// Never called.
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        match self.never {}
    }

    /// Never called.
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        match self.never {}
    }
}

impl<T: AsRawFd> AsyncFdReadyGuard<'_, T> {
    /// Never called.
    pub fn clear_ready(&mut self) {
        match self.never {}
    }

    /// Never called.
    pub fn try_io<R>(&mut self, _f: impl FnOnce(&AsyncFd<T>) -> io::Result<R>) -> Result<io::Result<R>, TryIoError> {
        match self.never {}
    }
}

impl<T: AsRawFd> AsyncFdReadyMutGuard<'_, T> {
    /// Never called.
    pub fn clear_ready(&mut self) {
        match self.never {}
    }

    /// Never called.
    pub fn try_io<R>(
        &mut self,
        _f: impl FnOnce(&mut AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match self.never {}
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("inner", &self.inner).finish()
    }
}

impl fmt::Display for TryIoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file descriptor was not ready")
    }
}

impl std::error::Error for TryIoError {}
