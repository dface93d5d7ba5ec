//! What the running task knows of its runtime.

use std::cell::{Cell, RefCell};
use std::future::Future;

use drawloom::future;

use crate::runtime::Handle;
use crate::task::Id;

drawloom::thread_local! {
    static RUNTIME: RefCell<Option<Handle>> = const { RefCell::new(None) };
    static TASK: Cell<Option<Id>> = const { Cell::new(None) };
    static MODE: Cell<Mode> = const { Cell::new(Mode::Blocking) };
    /// How many runtimes the running task has entered, one within the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// What the running task may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Anything.
    Blocking,
    /// It drives a future, which must not block it.
    Async,
    /// It drives a future on a thread that its runtime does not need.
    Aside,
}

/// What tokio says where there is no runtime.
pub(crate) const MISSING: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";

/// What tokio says where the runtime has ended.
pub(crate) const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// The runtime that the running task belongs to.
pub(crate) fn runtime() -> Option<Handle> {
    RUNTIME.try_with(|runtime| runtime.borrow().clone()).ok().flatten()
}

/// The runtime that the running task belongs to.
///
/// # Panics
///
/// Outside of one, as tokio does.
#[track_caller]
pub(crate) fn current() -> Handle {
    match runtime() {
        Some(runtime) => runtime,
        None => panic!("{MISSING}"),
    }
}

/// Enters `runtime` until the returned value is dropped.
pub(crate) fn enter(runtime: Handle) -> Within {
    let depth = DEPTH.get() + 1;
    DEPTH.set(depth);
    Within { before: set_runtime(Some(runtime)), depth }
}

/// What [`enter`] returns.
pub(crate) struct Within {
    before: Option<Handle>,
    depth: usize,
}

impl Drop for Within {
    #[track_caller]
    fn drop(&mut self) {
        let in_order = DEPTH.try_with(|depth| depth.get() == self.depth).unwrap_or(true);
        if !in_order {
            assert!(
                std::thread::panicking(),
                "`EnterGuard` values dropped out of order. Guards returned by `tokio::runtime::Handle::enter()` must \
                 be dropped in the reverse order as they were acquired."
            );
            return;
        }
        let _ = DEPTH.try_with(|depth| depth.set(self.depth - 1));
        set_runtime(self.before.take());
    }
}

/// While it lives, the running thread polls something of a runtime, whatever it had entered before.
pub(crate) struct Elsewhere {
    before: Option<Handle>,
}

/// As [`enter`], for polls, which are over before anything else is.
pub(crate) fn within(runtime: Handle) -> Elsewhere {
    Elsewhere { before: set_runtime(Some(runtime)) }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        set_runtime(self.before.take());
    }
}

/// While it lives, the running task is `id`: its output is dropped by somebody else.
pub(crate) struct AsTask {
    before: Option<Id>,
}

impl AsTask {
    pub(crate) fn new(id: Id) -> Self {
        AsTask { before: TASK.try_with(|task| task.replace(Some(id))).ok().flatten() }
    }
}

impl Drop for AsTask {
    fn drop(&mut self) {
        let _ = TASK.try_with(|task| task.set(self.before));
    }
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
    MODE.set(if is_async { Mode::Async } else { Mode::Blocking });
    set_runtime(runtime);
}

/// While it lives, the running task is, or is not, one that must not block.
pub(crate) struct Async {
    before: Mode,
}

impl Async {
    fn new(mode: Mode) -> Self {
        Async { before: MODE.try_with(|current| current.replace(mode)).unwrap_or(Mode::Blocking) }
    }

    pub(crate) fn set(is_async: bool) -> Self {
        Async::new(if is_async { Mode::Async } else { Mode::Blocking })
    }

    /// It drives a future on a thread that its runtime does not need.
    pub(crate) fn aside() -> Self {
        Async::new(Mode::Aside)
    }

    /// Whether it drove a future before.
    pub(crate) fn was_async(&self) -> bool {
        self.before != Mode::Blocking
    }
}

impl Drop for Async {
    fn drop(&mut self) {
        let _ = MODE.try_with(|mode| mode.set(self.before));
    }
}

/// Whether the running task drives a future.
pub(crate) fn is_async() -> bool {
    MODE.try_with(Cell::get).is_ok_and(|mode| mode != Mode::Blocking)
}

/// Whether the running task drives a future where its runtime would be kept waiting.
pub(crate) fn holds_the_runtime() -> bool {
    MODE.try_with(Cell::get).is_ok_and(|mode| mode == Mode::Async)
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
