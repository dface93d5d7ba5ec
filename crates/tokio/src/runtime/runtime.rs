//! The runtime itself.

use std::fmt;
use std::future::Future;
use std::io;
use std::time::Duration;

use drawloom::future::facade;

use super::{Builder, EnterGuard, Handle, RuntimeMetrics};
use crate::context;
use crate::task::JoinHandle;

/// Runs tasks, as `tokio::runtime::Runtime`. Dropping it ends them: those that wait are aborted, those that
/// block are waited for.
pub struct Runtime {
    handle: Handle,
    /// What is left to be done when it is dropped.
    end: End,
}

enum End {
    Wait,
    Abort { wait: Duration },
}

/// Whether an error of io says that the runtime has ended.
#[must_use]
pub fn is_rt_shutdown_err(err: &io::Error) -> bool {
    err.get_ref().is_some_and(|inner| inner.is::<ShutDown>())
}

/// What becomes of io where the runtime has ended.
pub(super) fn shut_down() -> io::Error {
    io::Error::other(ShutDown)
}

/// An error of io, where the runtime has ended.
#[derive(Debug)]
struct ShutDown;

impl fmt::Display for ShutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(context::SHUT_DOWN)
    }
}

impl std::error::Error for ShutDown {}

/// Whether a runtime has one thread or several.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// Tasks are polled one at a time.
    CurrentThread,
    /// Tasks are polled side by side.
    MultiThread,
}

impl Runtime {
    /// A runtime of several threads.
    #[track_caller]
    pub fn new() -> io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    pub(super) fn of(handle: Handle) -> Runtime {
        Runtime { handle, end: End::Wait }
    }

    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs `func`, which may block, on a thread of its own.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(func)
    }

    /// Runs a future to its end on the calling thread.
    ///
    /// # Panics
    ///
    /// From within a future.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.drive(future)
    }

    /// Until the returned guard is dropped, this is the current runtime.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Ends it. Outside of an exploration what blocks is waited for so long, and inside not at all.
    pub fn shutdown_timeout(mut self, duration: Duration) {
        self.end = End::Abort { wait: duration };
    }

    /// Ends it, without waiting for anything.
    pub fn shutdown_background(mut self) {
        self.end = End::Abort { wait: Duration::ZERO };
    }

    /// What is known of it in numbers.
    #[must_use]
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }
}

impl Drop for Runtime {
    #[track_caller]
    fn drop(&mut self) {
        // What is torn down ends its tasks itself.
        if facade::is_over() {
            return;
        }
        if let End::Wait = self.end {
            assert!(
                !context::is_async(),
                "Cannot drop a runtime in a context where blocking is not allowed. This happens when a runtime is \
                 dropped from within an asynchronous context."
            );
        }
        self.handle.end();
        match self.end {
            End::Abort { wait } => {
                self.handle.tasks().abort();
                self.handle.end_natives(Some(wait));
            }
            End::Wait => {
                self.handle.tasks().end();
                self.handle.end_natives(None);
            }
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("handle", &self.handle).finish_non_exhaustive()
    }
}
