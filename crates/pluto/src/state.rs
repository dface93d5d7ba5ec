//! What is known of the test that runs, and of its execution.

use std::cell::{Cell, RefCell};

/// How the tasks of a test run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No test runs.
    Outside,
    /// A task runs to its end where it is spawned.
    Inline,
    /// Tasks are fibers.
    Fibers,
}

thread_local! {
    pub(crate) static MODE: Cell<Mode> = const { Cell::new(Mode::Outside) };
    /// Tasks of this test are asked to end, so each looks before what it does.
    pub(crate) static CANCELS: Cell<bool> = const { Cell::new(false) };
    /// A task was asked to end.
    pub(crate) static CANCELLED: Cell<bool> = const { Cell::new(false) };
    /// Operations since a message was passed on or a result was got.
    static IDLE: Cell<u64> = const { Cell::new(0) };
    /// As many of them are a livelock.
    pub(crate) static PROGRESS_BOUND: Cell<u64> = const { Cell::new(u64::MAX) };
    /// What the execution has printed.
    pub(crate) static PRINTED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// What the first execution of an exploration has printed.
    pub(crate) static FIRST_PRINTED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
    /// What Pluto's runtime has said on standard error in the execution.
    pub(crate) static COMPLAINED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// Remarks of tasks that nobody waits for, of the first execution.
    pub(crate) static REMARKS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn mode() -> Mode {
    MODE.get()
}

pub(crate) fn is_inline() -> bool {
    MODE.get() != Mode::Fibers
}

/// Another exploration begins.
pub(crate) fn begin_exploration() {
    FIRST_PRINTED.set(None);
    REMARKS.with_borrow_mut(Vec::clear);
}

/// Another execution begins.
pub(crate) fn begin_execution() {
    IDLE.set(0);
    PRINTED.with_borrow_mut(Vec::clear);
    COMPLAINED.with_borrow_mut(Vec::clear);
}

/// It is over.
pub(crate) fn end_execution() {
    FIRST_PRINTED.with_borrow_mut(|first| {
        first.get_or_insert_with(|| PRINTED.with_borrow(Vec::clone));
    });
}

/// Whether the first execution of the exploration runs: what it says is heard.
pub(crate) fn is_first() -> bool {
    FIRST_PRINTED.with_borrow(Option::is_none)
}

/// A message was passed on, or a result was got.
pub(crate) fn progress() {
    IDLE.set(0);
}

/// A task has looked in vain, and may do so for ever. Whether that is one time too many.
pub(crate) fn idles() -> bool {
    IDLE.set(IDLE.get() + 1);
    IDLE.get() >= PROGRESS_BOUND.get()
}
