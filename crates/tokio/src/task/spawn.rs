//! Spawning tasks.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use drawloom::future;

use super::{Id, JoinHandle, coop};
use crate::context::{self, Async};
use crate::runtime::{Alive, Handle, RuntimeFlavor};
use crate::turns::InTurn;

/// Spawns a task that runs `future`, awaited or not.
///
/// # Panics
///
/// Outside of a runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_in(&context::current(), future)
}

/// The body of a task of the exploration: `future`, which knows where it is, also when it is dropped.
fn begin<F: Future>(runtime: Option<Handle>, native: Id, future: F, alive: Option<Alive>) -> Begun<F> {
    Begun { runtime, native, future: Some(coop::budgeted(future)), has_begun: false, is_local: false, _alive: alive }
}

/// As [`begin`], of a task of a `LocalSet`.
pub(super) fn begin_local<F: Future>(runtime: Option<Handle>, native: Id, future: F) -> Begun<F> {
    let mut begun = begin(runtime, native, future, None);
    begun.is_local = true;
    begun
}

/// What [`begin`] returns.
pub(crate) struct Begun<F> {
    runtime: Option<Handle>,
    native: Id,
    /// There until it is dropped.
    future: Option<coop::Budgeted<F>>,
    has_begun: bool,
    is_local: bool,
    _alive: Option<Alive>,
}

impl<F> Begun<F> {
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            context::begin_task(Id::running(self.native), self.runtime.take(), true);
            if self.is_local {
                super::begin_local_task();
            }
        }
    }
}

impl<F: Future> Future for Begun<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: it is only ever dropped in place.
        let future = unsafe {
            let this = self.get_unchecked_mut();
            this.begin();
            Pin::new_unchecked(&mut this.future)
        };
        future.as_pin_mut().expect("polled after it was dropped").poll(context)
    }
}

impl<F> Drop for Begun<F> {
    fn drop(&mut self) {
        // A task that is torn down has nobody to ask.
        if !future::facade::is_over() {
            self.begin();
        }
        // Assigning drops it in place, as its pin demands.
        self.future = None;
    }
}

/// `future`, polled and dropped in the context of `runtime`, as a task of it.
fn in_runtime<F: Future>(runtime: Handle, future: F) -> InRuntime<F> {
    InRuntime { runtime, future: Some(future) }
}

/// What [`in_runtime`] returns.
struct InRuntime<F> {
    runtime: Handle,
    /// There until it is dropped.
    future: Option<F>,
}

impl<F: Future> Future for InRuntime<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: it is only ever dropped in place.
        let (runtime, future) = unsafe {
            let InRuntime { runtime, future } = self.get_unchecked_mut();
            (runtime, Pin::new_unchecked(future))
        };
        let _within = context::within(runtime.clone());
        let _async = Async::set(true);
        future.as_pin_mut().expect("polled after it was dropped").poll(context)
    }
}

impl<F> Drop for InRuntime<F> {
    fn drop(&mut self) {
        let _within = context::within(self.runtime.clone());
        let _async = Async::set(true);
        // Assigning drops it in place, as its pin demands.
        self.future = None;
    }
}

/// As [`spawn`], on `runtime`.
#[track_caller]
pub(crate) fn spawn_in<F>(runtime: &Handle, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let native = Id::native();
    if runtime.has_ended() {
        return JoinHandle::cancelled(native);
    }
    if let Some(tasks) = runtime.natives() {
        let alive = runtime.alive(true);
        let task = async move {
            let _alive = alive;
            future.await
        };
        return JoinHandle::native(tasks.spawn(native, in_runtime(runtime.clone(), task)), native);
    }
    let task = begin(Some(runtime.clone()), native, future, Some(runtime.alive(true)));
    let _entered = runtime.tasks().enter();
    let handle = match runtime.turns() {
        Some(turns) => future::facade::spawn_in_turn(InTurn::new(turns.clone(), task)),
        None => future::spawn(task),
    };
    JoinHandle::new(handle, native)
}

/// Runs `f`, which may block, on a thread of its own.
///
/// # Panics
///
/// Outside of a runtime.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    spawn_blocking_in(&context::current(), f)
}

/// As [`spawn_blocking`], on `runtime`.
#[track_caller]
pub(crate) fn spawn_blocking_in<F, R>(runtime: &Handle, f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let native = Id::native();
    if runtime.has_ended() {
        return JoinHandle::cancelled(native);
    }
    let _entered = runtime.tasks().enter();
    let theirs = runtime.clone();
    let (alive, hooks) = (runtime.alive(false), runtime.thread_hooks());
    let handle = future::spawn_blocking(move || {
        let _alive = alive;
        context::begin_task(Id::running(native), Some(theirs), false);
        hooks.around(f)
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
    let runtime = context::runtime().filter(|_| context::holds_the_runtime());
    let on_one_thread =
        runtime.as_ref().is_some_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::CurrentThread);
    let is_local = super::is_local();
    assert!(!on_one_thread && !is_local, "can call blocking only when running on the multi-threaded runtime");
    let _unlimited = coop::Limited::none();
    let _blocking = Async::set(false);
    // Others go on meanwhile.
    let _replaced = runtime.as_ref().map(Handle::one_worker_more);
    let _turn = runtime.as_ref().and_then(Handle::turns).map(|turns| turns.give_up(Location::caller()));
    f()
}
