//! A runtime whose tasks need not be `Send`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use super::{Builder, EnterGuard, Handle, Runtime, RuntimeMetrics};
use crate::task::{JoinHandle, LocalSet, LocalsOf};

/// A runtime of one thread for what need not be `Send`, as `tokio::runtime::LocalRuntime`.
#[derive(Debug)]
pub struct LocalRuntime {
    /// Dropped first: its tasks are of the runtime. A panic of theirs breaks nothing in it.
    tasks: AssertUnwindSafe<LocalSet>,
    _locals: LocalsOf,
    runtime: Runtime,
}

/// How a [`LocalRuntime`] is to be: nothing to say.
#[derive(Default, Debug, Clone)]
#[non_exhaustive]
pub struct LocalOptions {
    /// As tokio's, it stays on its thread.
    here: PhantomData<*mut u8>,
}

impl LocalRuntime {
    /// A runtime.
    #[track_caller]
    pub fn new() -> io::Result<LocalRuntime> {
        Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    }

    #[track_caller]
    pub(super) fn of(runtime: Runtime) -> LocalRuntime {
        let tasks = LocalSet::new();
        LocalRuntime { _locals: LocalsOf::new(runtime.handle(), &tasks), tasks: AssertUnwindSafe(tasks), runtime }
    }

    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Spawns a task.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let _entered = self.runtime.enter();
        self.tasks.spawn_local(future)
    }

    /// Runs `func`, which may block, on a thread of its own.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.runtime.spawn_blocking(func)
    }

    /// Runs a future to its end on the calling thread.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.tasks.block_on(&self.runtime, future)
    }

    /// Until the returned guard is dropped, this is the current runtime.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    /// What is known of it in numbers.
    #[must_use]
    pub fn metrics(&self) -> RuntimeMetrics {
        self.runtime.metrics()
    }

    /// Ends it, without waiting for what blocks.
    pub fn shutdown_timeout(self, duration: Duration) {
        self.runtime.shutdown_timeout(duration);
    }

    /// Ends it, without waiting for anything.
    pub fn shutdown_background(self) {
        self.runtime.shutdown_background();
    }
}
