//! Spawning tasks.

use std::future::Future;
use std::panic::Location;

use drawloom::future;

use super::{Id, JoinHandle};
use crate::context::{self, Async};
use crate::runtime::{Handle, RuntimeFlavor};
use crate::turns::InTurn;

/// Spawns a task that runs `future`, awaited or not.
///
/// Outside of a runtime, where tokio panics, it runs until it ends.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_in(context::runtime(), future)
}

/// The body of a task: `future`, which knows where it is.
pub(crate) async fn begin<F: Future>(runtime: Option<Handle>, native: Id, future: F) -> F::Output {
    context::begin_task(Id::running(native), runtime, true);
    future.await
}

/// As [`spawn`], on `runtime`.
#[track_caller]
pub(crate) fn spawn_in<F>(runtime: Option<Handle>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let native = Id::native();
    let Some(runtime) = runtime else { return JoinHandle::new(future::spawn(begin(None, native, future)), native) };
    let task = begin(Some(runtime.clone()), native, future);
    let _entered = runtime.tasks().enter();
    let handle = match runtime.turns() {
        Some(turns) => future::spawn(InTurn::new(turns.clone(), task)),
        None => future::spawn(task),
    };
    let handle = JoinHandle::new(handle, native);
    runtime.spawned(&handle);
    handle
}

/// Runs `f`, which may block, on a thread of its own.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    spawn_blocking_in(context::runtime(), f)
}

/// As [`spawn_blocking`], on `runtime`.
#[track_caller]
pub(crate) fn spawn_blocking_in<F, R>(runtime: Option<Handle>, f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let native = Id::native();
    let _entered = runtime.as_ref().map(|runtime| runtime.tasks().enter());
    let theirs = runtime.clone();
    let handle = future::spawn_blocking(move || {
        context::begin_task(Id::running(native), theirs, false);
        f()
    });
    JoinHandle::new(handle, native)
}

/// Runs `f`, which may block, on this task.
///
/// # Panics
///
/// On a runtime of one thread.
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    let runtime = context::runtime().filter(|_| context::is_async());
    let on_one_thread =
        runtime.as_ref().is_some_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::CurrentThread);
    assert!(!on_one_thread, "can call blocking only when running on the multi-threaded runtime");
    let _blocking = Async::set(false);
    // Others go on meanwhile.
    let _turn = runtime.as_ref().and_then(Handle::turns).map(|turns| turns.give_up(Location::caller()));
    f()
}
