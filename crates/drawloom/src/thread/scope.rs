//! Scoped threads: tasks that may borrow from the task that waits for them.
//!
//! Under control a scope waits for its tasks by joining each. The wait also stands when the scope is
//! left by a panic, be it the user's or the one that tears an execution down: a task must be gone, or
//! never be resumed again, before the stack that it borrows from is.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::builder::Builder;
use super::current::{Thread, current};
use super::join::{Result, TaskHandle, spawn_task};
use crate::rt::{self, Handle, OpKind, Operation, ResourceId, Site, TaskId};

/// A scope to spawn threads in, as [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    kind: Kind,
    /// Invariance over both lifetimes, as std has it and for its reasons.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

enum Kind {
    /// std's own scope, which is only known once std has made it.
    Native(AtomicPtr<()>),
    Tasks(Arc<ScopeData>),
}

/// What a scope knows of its tasks.
pub(super) struct ScopeData {
    epoch: u64,
    main: Thread,
    tasks: Mutex<Tasks>,
}

#[derive(Default)]
struct Tasks {
    /// Spawned and not joined yet.
    running: Vec<TaskId>,
    /// Ended by a panic that no join has received.
    panicked: Vec<TaskId>,
}

impl ScopeData {
    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn spawned(&self, task: TaskId) {
        self.tasks().running.push(task);
    }

    pub(super) fn panicked(&self, task: TaskId) {
        self.tasks().panicked.push(task);
    }

    /// A handle has joined `task`, and received its panic if there was one.
    pub(super) fn joined(&self, task: TaskId) {
        let mut tasks = self.tasks();
        tasks.running.retain(|t| *t != task);
        tasks.panicked.retain(|t| *t != task);
    }

    fn join_all(&self, rt: Handle, site: Site) {
        loop {
            let Some(task) = self.tasks().running.first().copied() else { return };
            rt.step(Operation::new(OpKind::Join, ResourceId::NONE, site).with_arg(u64::from(task.0)));
            self.tasks().running.retain(|t| *t != task);
        }
    }
}

/// Waits for the tasks of a scope that is left by unwinding.
struct WaitForAll<'a> {
    data: &'a ScopeData,
    rt: Handle,
    site: Site,
}

impl Drop for WaitForAll<'_> {
    fn drop(&mut self) {
        self.data.join_all(self.rt, self.site);
        for task in std::mem::take(&mut self.data.tasks().panicked) {
            self.rt.received_panic(task);
        }
    }
}

/// As [`std::thread::scope`].
///
/// Under control the scope ends after its tasks' thread-locals were destroyed. std may return
/// earlier; a program that depends on it is not explored in that respect.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let Some(rt) = rt::current() else { return native_scope(f) };
    let data = Arc::new(ScopeData { epoch: rt.epoch(), main: current(), tasks: Mutex::default() });
    let scope = Scope { kind: Kind::Tasks(data.clone()), scope: PhantomData, env: PhantomData };
    let site = rt::here();
    let wait = WaitForAll { data: &data, rt, site };
    let result = f(&scope);
    data.join_all(rt, site);
    let a_thread_panicked = !data.tasks().panicked.is_empty();
    drop(wait);
    if a_thread_panicked {
        panic!("a scoped thread panicked");
    }
    result
}

#[track_caller]
fn native_scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let place = Scope { kind: Kind::Native(AtomicPtr::default()), scope: PhantomData, env: PhantomData };
    std::thread::scope(|native| {
        if let Kind::Native(pointer) = &place.kind {
            pointer.store(std::ptr::from_ref(native).cast_mut().cast(), Ordering::Release);
        }
        let scope: *const Scope<'_, '_> = (&raw const place).cast();
        // SAFETY: `place` outlives std's scope, which waits for every thread that could use it; the
        // lifetimes are std's own, of which `Scope` keeps nothing.
        f(unsafe { &*scope })
    })
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// As [`std::thread::Scope::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_with(Builder::new(), f).expect("failed to spawn thread")
    }

    #[track_caller]
    pub(super) fn spawn_with<F, T>(&'scope self, builder: Builder, f: F) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match &self.kind {
            Kind::Native(pointer) => {
                let native = pointer.load(Ordering::Acquire).cast::<std::thread::Scope<'scope, 'env>>();
                // SAFETY: set by `native_scope` before anybody could see this scope, to std's scope of
                // the same lifetimes.
                let native = unsafe { &*native };
                builder.into_native().spawn_scoped(native, f).map(ScopedJoinHandle::native)
            }
            Kind::Tasks(data) => {
                let rt = rt::current()
                    .filter(|rt| rt.epoch() == data.epoch)
                    .expect("a scope of an exploration can only be used by tasks of the same execution");
                // SAFETY: the scope waits for the task, and `'scope` lasts until it has.
                let handle = unsafe { spawn_task(rt, rt::here(), builder.task_name(), Some(data), f) };
                Ok(ScopedJoinHandle { inner: Inner::Task(handle), scope: PhantomData })
            }
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Native(pointer) => {
                let native = pointer.load(Ordering::Acquire).cast::<std::thread::Scope<'_, '_>>();
                // SAFETY: as in `spawn_with`.
                unsafe { &*native }.fmt(f)
            }
            Kind::Tasks(data) => {
                let (running, panicked) = {
                    let tasks = data.tasks();
                    (tasks.running.len(), !tasks.panicked.is_empty())
                };
                f.debug_struct("Scope")
                    .field("num_running_threads", &running)
                    .field("a_thread_panicked", &panicked)
                    .field("main_thread", &data.main)
                    .finish_non_exhaustive()
            }
        }
    }
}

/// Waits for a scoped thread, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    inner: Inner<'scope, T>,
    scope: PhantomData<&'scope ()>,
}

enum Inner<'scope, T> {
    Native { handle: std::thread::ScopedJoinHandle<'scope, T>, thread: Thread },
    Task(TaskHandle<T>),
}

impl<'scope, T> ScopedJoinHandle<'scope, T> {
    fn native(handle: std::thread::ScopedJoinHandle<'scope, T>) -> Self {
        let thread = Thread::native(handle.thread().clone());
        ScopedJoinHandle { inner: Inner::Native { handle, thread }, scope: PhantomData }
    }

    /// As [`std::thread::ScopedJoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.inner {
            Inner::Native { thread, .. } => thread,
            Inner::Task(handle) => &handle.thread,
        }
    }

    /// As [`std::thread::ScopedJoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.inner {
            Inner::Native { handle, .. } => handle.join(),
            Inner::Task(handle) => handle.join(),
        }
    }

    /// As [`std::thread::ScopedJoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Inner::Native { handle, .. } => handle.is_finished(),
            Inner::Task(handle) => handle.is_finished(),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
