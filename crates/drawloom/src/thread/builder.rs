//! Spawning: `spawn` and the builder, which can name a thread.

use std::io;
use std::sync::Arc;

use super::join::{JoinHandle, TaskHandle, spawn_task};
use super::scope::{Scope, ScopedJoinHandle};
use crate::rt::{self, Handle};

/// As [`std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match rt::current() {
        None => JoinHandle::native(std::thread::spawn(f)),
        // SAFETY: nothing is borrowed.
        Some(rt) => JoinHandle::task(unsafe { spawn_task(rt, rt::here(), None, None, f) }),
    }
}

/// Configures a thread before it is spawned, as [`std::thread::Builder`].
#[must_use = "must eventually spawn the thread"]
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// As [`std::thread::Builder::new`].
    #[allow(clippy::new_without_default, reason = "std's has none")]
    pub fn new() -> Builder {
        Builder { name: None, stack_size: None }
    }

    /// As [`std::thread::Builder::name`]. Reports show it.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// As [`std::thread::Builder::stack_size`]. Inside an exploration all tasks have stacks of one
    /// size, the exploration's own `stack_size`, and this is ignored.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// As [`std::thread::Builder::spawn`]. Inside an exploration it never fails.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match rt::current() {
            None => self.into_native().spawn(f).map(JoinHandle::native),
            // SAFETY: nothing is borrowed.
            Some(rt) => Ok(JoinHandle::task(unsafe { self.spawn_task(rt, f) })),
        }
    }

    /// As [`std::thread::Builder::spawn_unchecked`].
    ///
    /// # Safety
    ///
    /// As std's: what `f` and `T` borrow must outlive the thread, which is to be joined before.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        match rt::current() {
            // SAFETY: the caller vouches for it.
            None => unsafe { self.into_native().spawn_unchecked(f) }.map(JoinHandle::native),
            // SAFETY: the caller vouches for it.
            Some(rt) => Ok(JoinHandle::task(unsafe { self.spawn_task(rt, f) })),
        }
    }

    /// As [`std::thread::Builder::spawn_scoped`].
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.spawn_with(self, f)
    }

    #[track_caller]
    unsafe fn spawn_task<F: FnOnce() -> T, T>(self, rt: Handle, f: F) -> TaskHandle<T> {
        // SAFETY: the caller vouches for it.
        unsafe { spawn_task(rt, rt::here(), self.task_name(), None, f) }
    }

    /// The name, as tasks carry it.
    #[track_caller]
    pub(super) fn task_name(self) -> Option<Arc<str>> {
        let name = self.name?;
        assert!(!name.contains('\0'), "thread name may not contain interior null bytes");
        Some(name.into())
    }

    pub(super) fn into_native(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}
