//! Spawning and joining: what a task leaves behind, and the handle that waits for it.

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use drawloom_fiber::{Body, ForcedUnwind};

use super::current::{TaskOf, Thread};
use super::scope::ScopeData;
use crate::rt::{self, Handle, OpKind, Site};

/// As [`std::thread::Result`].
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// The result of a task, shared by the task and its handle.
struct Packet<T> {
    /// Who may touch `result`: nobody but the task while it is `PENDING`, the handle when it is
    /// `DONE`, nobody any more when it is `TAKEN` or `TORN_DOWN`.
    state: AtomicU8,
    result: UnsafeCell<Option<Result<T>>>,
}

const PENDING: u8 = 0;
const DONE: u8 = 1;
const TAKEN: u8 = 2;
const TORN_DOWN: u8 = 3;

// SAFETY: `state` hands the result from the task to one taker; it is never shared between them.
unsafe impl<T: Send> Sync for Packet<T> {}
// SAFETY: as above; the result itself is `Send`, a panic's payload is.
unsafe impl<T: Send> Send for Packet<T> {}

impl<T> Packet<T> {
    fn put(&self, result: Result<T>) {
        // SAFETY: the state is `PENDING`, and this is the task.
        unsafe { *self.result.get() = Some(result) };
        self.state.store(DONE, Ordering::Release);
    }

    fn take(&self) -> Option<Result<T>> {
        self.state.compare_exchange(DONE, TAKEN, Ordering::Acquire, Ordering::Relaxed).ok()?;
        // SAFETY: the state was `DONE`, and nobody else can have changed it to `TAKEN`.
        unsafe { (*self.result.get()).take() }
    }
}

/// The handle of a task: what `JoinHandle` and `ScopedJoinHandle` are under control.
pub(super) struct TaskHandle<T> {
    packet: Arc<Packet<T>>,
    id: TaskOf,
    pub(super) thread: Thread,
    scope: Option<Arc<ScopeData>>,
}

/// Spawns a task that runs `f`; `scope` is the scope that waits for it, if there is one.
///
/// # Safety
///
/// What `f` and `T` borrow must live until the task has exited or is never resumed again.
pub(super) unsafe fn spawn_task<F, T>(
    rt: Handle,
    site: Site,
    name: Option<Arc<str>>,
    scope: Option<&Arc<ScopeData>>,
    f: F,
) -> TaskHandle<T>
where
    F: FnOnce() -> T,
{
    let packet = Arc::new(Packet { state: AtomicU8::new(PENDING), result: UnsafeCell::new(None) });
    let theirs = packet.clone();
    let their_scope = scope.cloned();
    let body: Box<dyn FnOnce() + '_> = Box::new(move || run(rt, theirs, their_scope, f));
    // SAFETY: only the lifetime changes, and the caller vouches for what is borrowed.
    let body = unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Body>(body) };
    let task = rt.spawn(name.as_deref(), site, body);
    if let Some(name) = &name {
        rt.set_thread_name(task, name.clone());
    }
    if let Some(scope) = scope {
        scope.spawned(task);
    }
    let thread = Thread::task(rt, task, name);
    TaskHandle { packet, id: TaskOf { task, epoch: rt.epoch() }, thread, scope: scope.cloned() }
}

/// What a task does: runs the closure and leaves its result.
fn run<F: FnOnce() -> T, T>(rt: Handle, packet: Arc<Packet<T>>, scope: Option<Arc<ScopeData>>, f: F) {
    let result = catch_unwind(AssertUnwindSafe(f));
    if let Err(payload) = &result {
        if payload.is::<ForcedUnwind>() {
            packet.state.store(TORN_DOWN, Ordering::Release);
            return;
        }
        match &scope {
            Some(scope) => {
                rt.panicked(false);
                scope.panicked(rt.running());
            }
            None => rt.panicked(Arc::strong_count(&packet) == 1),
        }
    }
    packet.put(result);
}

impl<T> TaskHandle<T> {
    #[track_caller]
    pub(super) fn join(self) -> Result<T> {
        let Some(rt) = self.id.here() else {
            return self.packet.take().unwrap_or_else(|| Err(Box::new(OUTSIDE)));
        };
        rt::bare(rt, OpKind::Join, u64::from(self.id.task.0));
        if let Some(scope) = &self.scope {
            scope.joined(self.id.task);
        }
        match self.packet.take() {
            Some(result) => {
                if result.is_err() {
                    rt.received_panic(self.id.task);
                }
                result
            }
            // It was unwound, and we are in a destructor: there is no result to go on with.
            None => rt.leak_task(),
        }
    }

    #[track_caller]
    pub(super) fn is_finished(&self) -> bool {
        match self.id.here() {
            Some(rt) => rt::bare(rt, OpKind::IsFinished, u64::from(self.id.task.0)) == rt::outcome::OK,
            None => self.packet.state.load(Ordering::Acquire) != PENDING,
        }
    }
}

const OUTSIDE: &str = "a task was joined outside of its exploration before it had ended";

impl<T> Drop for TaskHandle<T> {
    #[inline]
    fn drop(&mut self) {
        if self.scope.is_some() || self.packet.state.load(Ordering::Acquire) == TAKEN {
            return;
        }
        if let Some(rt) = self.id.here() {
            rt.detached(self.id.task);
        }
    }
}

/// Waits for a thread, as [`std::thread::JoinHandle`]. Dropping it detaches the thread.
pub struct JoinHandle<T>(Inner<T>);

enum Inner<T> {
    Native { handle: std::thread::JoinHandle<T>, thread: Thread },
    Task(TaskHandle<T>),
}

// SAFETY: as std has it: the handle only passes a result on, which was `Send` when it was spawned.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above; nothing of `T` can be reached through a shared handle.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    pub(super) fn native(handle: std::thread::JoinHandle<T>) -> Self {
        let thread = Thread::native(handle.thread().clone());
        JoinHandle(Inner::Native { handle, thread })
    }

    pub(super) fn task(handle: TaskHandle<T>) -> Self {
        JoinHandle(Inner::Task(handle))
    }

    /// As [`std::thread::JoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Inner::Native { thread, .. } => thread,
            Inner::Task(handle) => &handle.thread,
        }
    }

    /// As [`std::thread::JoinHandle::join`].
    ///
    /// A task that is joined outside of its exploration is not waited for: if it has not ended, the
    /// result is an error.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Inner::Native { handle, .. } => handle.join(),
            Inner::Task(handle) => handle.join(),
        }
    }

    /// As [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Native { handle, .. } => handle.is_finished(),
            Inner::Task(handle) => handle.is_finished(),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
