//! What the running task knows of its runtime.

use std::cell::{Cell, RefCell};
use std::future::Future;

use drawloom::future;

use crate::runtime::Handle;
use crate::task::Id;

drawloom::thread_local! {
    static RUNTIME: RefCell<Option<Handle>> = const { RefCell::new(None) };
    static TASK: Cell<Option<Id>> = const { Cell::new(None) };
    /// Whether the running task drives a future, which must not block it.
    static ASYNC: Cell<bool> = const { Cell::new(false) };
}

/// The runtime that the running task belongs to.
pub(crate) fn runtime() -> Option<Handle> {
    RUNTIME.try_with(|runtime| runtime.borrow().clone()).ok().flatten()
}

/// Makes `runtime` that of the running task; returns the one that it had.
pub(crate) fn set_runtime(runtime: Option<Handle>) -> Option<Handle> {
    RUNTIME.try_with(|current| current.replace(runtime)).ok().flatten()
}

/// The running task, if it is one of `spawn`.
pub(crate) fn task() -> Option<Id> {
    TASK.try_with(Cell::get).ok().flatten()
}

/// The running task begins as `id`, in `runtime`.
pub(crate) fn begin_task(id: Id, runtime: Option<Handle>, is_async: bool) {
    TASK.set(Some(id));
    ASYNC.set(is_async);
    set_runtime(runtime);
}

/// While it lives, the running task is, or is not, one that must not block.
pub(crate) struct Async {
    before: bool,
}

impl Async {
    pub(crate) fn set(is_async: bool) -> Self {
        Async { before: ASYNC.replace(is_async) }
    }
}

impl Drop for Async {
    fn drop(&mut self) {
        let _ = ASYNC.try_with(|is_async| is_async.set(self.before));
    }
}

/// Whether the running task drives a future.
pub(crate) fn is_async() -> bool {
    ASYNC.try_with(Cell::get).unwrap_or(false)
}

/// Waits for `future`, as what blocks does.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    assert!(
        !is_async(),
        "Cannot block the current thread from within a runtime. This happens because a function attempted to \
         block the current thread while the thread is being used to drive asynchronous tasks."
    );
    future::block_on(future)
}
