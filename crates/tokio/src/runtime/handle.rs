//! The handle of a runtime.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use drawloom::future::facade::{Entered, Tasks, running};

use super::RuntimeFlavor;
use crate::context::{self, Async};
use crate::task::{AbortHandle, JoinHandle, spawn_blocking_in, spawn_in};
use crate::turns::{InTurn, Turns};

/// Under tokio's own name this is put in the place of tokio in crates that were not written for it. They hold locks
/// of their own while they notify or send; if another task were let run then, and wanted the same lock, the whole
/// process would wait. So there, tasks take turns on every runtime: all orders of polls are explored, and none of what
/// happens within them.
const POLLS_ARE_ATOMIC: bool = matches!(env!("CARGO_PKG_NAME").as_bytes(), b"tokio");

/// What a runtime is known by, as `tokio::runtime::Handle`.
#[derive(Clone)]
pub struct Handle {
    inner: Arc<Inner>,
}

struct Inner {
    flavor: RuntimeFlavor,
    workers: usize,
    tasks: Tasks,
    /// Whose turn it is, where tasks take turns.
    turns: Option<Arc<Turns>>,
    /// Tasks outside of explorations, to be aborted in the end.
    natives: Mutex<Vec<AbortHandle>>,
    paused: AtomicBool,
    id: u64,
}

impl Handle {
    #[track_caller]
    pub(super) fn new(flavor: RuntimeFlavor, workers: usize, paused: bool) -> Handle {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let takes_turns = flavor == RuntimeFlavor::CurrentThread || POLLS_ARE_ATOMIC;
        // Not in a closure, which would be the place that it was made at.
        let turns = if takes_turns { Some(Turns::new(false)) } else { None };
        let inner = Inner {
            flavor,
            workers,
            tasks: Tasks::default(),
            turns,
            natives: Mutex::new(Vec::new()),
            paused: AtomicBool::new(paused),
            id: MADE.fetch_add(1, Ordering::Relaxed),
        };
        Handle { inner: Arc::new(inner) }
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.inner.tasks
    }

    pub(crate) fn turns(&self) -> Option<&Arc<Turns>> {
        self.inner.turns.as_ref()
    }

    /// A task was spawned here.
    pub(crate) fn spawned<T: 'static>(&self, handle: &JoinHandle<T>) {
        if running().is_none() {
            self.inner.natives.lock().unwrap_or_else(PoisonError::into_inner).push(handle.abort_handle());
        }
    }

    pub(super) fn abort_natives(&self) {
        let natives = std::mem::take(&mut *self.inner.natives.lock().unwrap_or_else(PoisonError::into_inner));
        natives.iter().for_each(AbortHandle::abort);
    }

    #[track_caller]
    pub(crate) fn pause(&self, paused: bool) {
        assert!(
            !paused || self.inner.flavor == RuntimeFlavor::CurrentThread,
            "`time::pause()` requires the `current_thread` Tokio runtime"
        );
        let before = self.inner.paused.swap(paused, Ordering::AcqRel);
        assert!(before != paused, "time is {} frozen", if paused { "already" } else { "not" });
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.inner.paused.load(Ordering::Acquire)
    }

    /// Until the returned guard is dropped, this is the current runtime.
    pub fn enter(&self) -> EnterGuard<'_> {
        let before = context::set_runtime(Some(self.clone()));
        EnterGuard { before, _entered: self.tasks().enter(), of: PhantomData }
    }

    /// The current runtime.
    ///
    /// # Panics
    ///
    /// Outside of one.
    #[must_use]
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// The current runtime, if there is one.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        context::runtime().ok_or(TryCurrentError(()))
    }

    /// As [`tokio::spawn`](crate::spawn), on this runtime.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_in(Some(self.clone()), future)
    }

    /// As [`spawn_blocking`](crate::task::spawn_blocking), on this runtime.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        spawn_blocking_in(Some(self.clone()), func)
    }

    /// Runs a future to its end on the calling thread.
    ///
    /// # Panics
    ///
    /// From within a future.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        // On a runtime of one thread it is not that thread that runs it.
        self.run(future, self.turns().filter(|_| self.inner.flavor == RuntimeFlavor::MultiThread).cloned())
    }

    /// As [`block_on`](Self::block_on), on the thread that a runtime of one thread has.
    #[track_caller]
    pub(super) fn drive<F: Future>(&self, future: F) -> F::Output {
        self.run(future, self.turns().cloned())
    }

    #[track_caller]
    fn run<F: Future>(&self, future: F, turns: Option<Arc<Turns>>) -> F::Output {
        assert!(
            !context::is_async(),
            "Cannot start a runtime from within a runtime. This happens because a function (like `block_on`) \
             attempted to block the current thread while the thread is being used to drive asynchronous tasks."
        );
        let _entered = self.enter();
        let _async = Async::set(true);
        match turns {
            Some(turns) => drawloom::future::block_on(InTurn::new(turns, future)),
            None => drawloom::future::block_on(future),
        }
    }

    /// Whether it has one thread or several.
    #[must_use]
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        self.inner.flavor
    }

    /// The name of the runtime.
    #[must_use]
    pub fn id(&self) -> Id {
        Id(self.inner.id)
    }

    /// What is known of it in numbers.
    #[must_use]
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics { workers: self.inner.workers }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("flavor", &self.inner.flavor).finish_non_exhaustive()
    }
}

/// The name of a runtime.
#[derive(Clone, Copy, Debug, Hash, Eq, PartialEq)]
pub struct Id(u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is known of a runtime in numbers.
#[derive(Clone, Debug)]
pub struct RuntimeMetrics {
    workers: usize,
}

impl RuntimeMetrics {
    /// How many threads it was asked to have.
    #[must_use]
    pub fn num_workers(&self) -> usize {
        self.workers
    }
}

/// What [`Handle::enter`] returns.
#[must_use = "Creating and dropping a guard does nothing"]
pub struct EnterGuard<'a> {
    before: Option<Handle>,
    _entered: Entered,
    of: PhantomData<&'a Handle>,
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        context::set_runtime(self.before.take());
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// There is no current runtime.
#[derive(Debug)]
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Whether there is no current runtime: always.
    #[must_use]
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Whether the thread is about to end: never.
    #[must_use]
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no reactor running, must be called from the context of a Tokio 1.x runtime")
    }
}

impl Error for TryCurrentError {}
