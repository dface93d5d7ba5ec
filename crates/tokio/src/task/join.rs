//! The handle of a task, and what becomes of the task.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use drawloom::future::{self, facade};

use super::native::{Output, Spawned, TaskState};
use super::{Id, coop};
use crate::context::AsTask;

/// Waits for a task, as `tokio::task::JoinHandle`. Dropping it detaches the task.
pub struct JoinHandle<T> {
    /// There until it is dropped.
    inner: Option<Inner<T>>,
    abort: AbortHandle,
}

enum Inner<T> {
    Shared(future::JoinHandle<T>),
    /// What need not be `Send` does not go through a handle that has to be.
    Local(future::JoinHandle<()>, Arc<Mutex<Option<T>>>),
    /// Outside of explorations.
    Native(Arc<Output<T>>),
    /// The runtime had ended before the task could begin.
    Never,
}

impl<T: Send + 'static> JoinHandle<T> {
    pub(crate) fn new(inner: future::JoinHandle<T>, native: Id) -> Self {
        let id = inner.number().map_or(native, Id::numbered);
        let abort = AbortHandle { inner: Abort::Task(inner.abort_handle()), id };
        JoinHandle { inner: Some(Inner::Shared(inner)), abort }
    }
}

impl<T> JoinHandle<T> {
    /// Of a task that leaves its output in `output`.
    pub(crate) fn local(inner: future::JoinHandle<()>, output: Arc<Mutex<Option<T>>>, native: Id) -> Self {
        let id = inner.number().map_or(native, Id::numbered);
        let abort = AbortHandle { inner: Abort::Task(inner.abort_handle()), id };
        JoinHandle { inner: Some(Inner::Local(inner, output)), abort }
    }

    /// Of a task outside of explorations.
    pub(super) fn native((output, state): Spawned<T>, id: Id) -> Self {
        JoinHandle { inner: Some(Inner::Native(output)), abort: AbortHandle { inner: Abort::Native(state), id } }
    }

    /// Of a task that never begins.
    pub(crate) fn cancelled(id: Id) -> Self {
        JoinHandle { inner: Some(Inner::Never), abort: AbortHandle { inner: Abort::Never, id } }
    }

    /// Ends the task at its next wait, if it is not blocking.
    #[track_caller]
    pub fn abort(&self) {
        self.abort.abort();
    }

    /// As [`abort`](Self::abort), asked for at `place`, if somebody has written that.
    pub(super) fn abort_from(&self, place: Option<&'static Location<'static>>) {
        self.abort.abort_from(place);
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

    /// As a poll, by who awaits at `place`; without one, where it is called.
    #[track_caller]
    pub(super) fn poll_from(
        &mut self,
        context: &mut Context<'_>,
        place: Option<&'static Location<'static>>,
    ) -> Poll<Result<T, JoinError>> {
        let id = self.id();
        let budget = ready!(coop::poll_proceed(context));
        // Not in a closure, which would be the place.
        let poll = match self.inner.as_mut().expect("there until it is dropped") {
            Inner::Shared(inner) => match place {
                Some(place) => inner.poll_from(context, place),
                None => Pin::new(inner).poll(context),
            },
            Inner::Native(output) => output.poll(context),
            Inner::Never => Poll::Ready(Err(facade::cancelled())),
            Inner::Local(inner, output) => {
                let poll = match place {
                    Some(place) => inner.poll_from(context, place),
                    None => Pin::new(inner).poll(context),
                };
                poll.map_ok(|()| {
                    let output = output.lock().unwrap_or_else(PoisonError::into_inner).take();
                    output.expect("a task that has ended well has left its output")
                })
            }
        };
        budget.after(poll.map_err(|inner| JoinError { inner, id }))
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

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_from(context, None)
    }
}

/// An output that nobody has awaited is dropped as if its task did.
impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let _as_task = AsTask::new(self.abort.id);
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            self.inner = None;
            // It knows the output, too.
            self.abort.inner = Abort::Never;
        }));
        // As in tokio, what the output panics with is lost.
        if let Err(payload) = dropped {
            if facade::is_torn_down(&*payload) {
                resume_unwind(payload);
            }
        }
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
    inner: Abort,
    id: Id,
}

#[derive(Clone)]
enum Abort {
    Task(future::AbortHandle),
    Native(Arc<TaskState>),
    Never,
}

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    #[track_caller]
    pub fn abort(&self) {
        self.abort_from(Some(Location::caller()));
    }

    fn abort_from(&self, place: Option<&'static Location<'static>>) {
        match &self.inner {
            Abort::Task(task) => task.abort_from(place),
            Abort::Native(task) => task.abort(),
            Abort::Never => {}
        }
    }

    /// As [`JoinHandle::is_finished`].
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Abort::Task(task) => task.is_finished(),
            Abort::Native(task) => task.is_finished(),
            Abort::Never => true,
        }
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
            false => {
                // As the inner one says it, with the name.
                let inner = format!("{:?}", self.inner);
                write!(
                    f,
                    "JoinError::Panic({:?}, {}",
                    self.id,
                    inner.strip_prefix("JoinError::Panic(").unwrap_or(&inner)
                )
            }
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
