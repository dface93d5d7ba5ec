//! The handle of a task, and what becomes of the task.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use drawloom::future;

use super::Id;

/// Waits for a task, as `tokio::task::JoinHandle`. Dropping it detaches the task.
pub struct JoinHandle<T> {
    inner: Inner<T>,
    abort: AbortHandle,
}

enum Inner<T> {
    Shared(future::JoinHandle<T>),
    /// What need not be `Send` does not go through a handle that has to be.
    Local(future::JoinHandle<()>, Arc<Mutex<Option<T>>>),
}

impl<T: Send + 'static> JoinHandle<T> {
    pub(crate) fn new(inner: future::JoinHandle<T>, native: Id) -> Self {
        let id = inner.number().map_or(native, Id::numbered);
        let abort = AbortHandle { inner: inner.abort_handle(), id };
        JoinHandle { inner: Inner::Shared(inner), abort }
    }
}

impl<T> JoinHandle<T> {
    /// Of a task that leaves its output in `output`.
    pub(crate) fn local(inner: future::JoinHandle<()>, output: Arc<Mutex<Option<T>>>, native: Id) -> Self {
        let id = inner.number().map_or(native, Id::numbered);
        let abort = AbortHandle { inner: inner.abort_handle(), id };
        JoinHandle { inner: Inner::Local(inner, output), abort }
    }

    /// Ends the task at its next wait, if it is not blocking.
    pub fn abort(&self) {
        self.abort.abort();
    }

    /// Whether the task has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.abort.is_finished()
    }

    /// The name of the task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.abort.id
    }

    /// Ends the task from afar.
    #[must_use = "abort handles do nothing unless `.abort` is called"]
    pub fn abort_handle(&self) -> AbortHandle {
        self.abort.clone()
    }
}

/// Nothing in it is ever pinned.
impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let id = self.id();
        let poll = match &mut self.inner {
            Inner::Shared(inner) => Pin::new(inner).poll(context),
            Inner::Local(inner, output) => Pin::new(inner).poll(context).map_ok(|()| {
                let output = output.lock().unwrap_or_else(PoisonError::into_inner).take();
                output.expect("a task that has ended well has left its output")
            }),
        };
        poll.map_err(|inner| JoinError { inner, id })
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish()
    }
}

/// Ends a task from afar, as `tokio::task::AbortHandle`.
#[derive(Clone)]
pub struct AbortHandle {
    inner: future::AbortHandle,
    id: Id,
}

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.inner.abort();
    }

    /// As [`JoinHandle::is_finished`].
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }

    /// The name of the task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id).finish()
    }
}

/// Why a task has no output, as `tokio::task::JoinError`.
pub struct JoinError {
    inner: future::JoinError,
    id: Id,
}

impl JoinError {
    /// Whether it was aborted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }

    /// Whether it has panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.inner.is_panic()
    }

    /// What it has panicked with.
    ///
    /// # Panics
    ///
    /// If it has not.
    #[must_use]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.inner.into_panic()
    }

    /// What it has panicked with, if it has.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        let id = self.id;
        self.inner.try_into_panic().map_err(|inner| JoinError { inner, id })
    }

    /// The name of the task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.id
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As the inner one says it, with the name: "task 3 was cancelled".
        let inner = self.inner.to_string();
        write!(f, "task {}{}", self.id, inner.strip_prefix("task").unwrap_or(&inner))
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_cancelled() {
            true => write!(f, "JoinError::Cancelled({:?})", self.id),
            false => write!(f, "JoinError::Panic({:?}, {})", self.id, self.inner),
        }
    }
}

impl Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        io::Error::other(match error.is_cancelled() {
            true => "task was cancelled",
            false => "task panicked",
        })
    }
}
