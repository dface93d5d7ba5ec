//! Cancellation: asked for by others, taking effect where the task itself waits or asks.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::object::Object;
use crate::rt;
use crate::wait::{Ended, Wait};

/// What a task and those who may cancel it share.
pub(crate) struct Cancellation(Object<State>);

#[derive(Default)]
struct State {
    asked: bool,
    /// What the task waits in.
    wait: Option<Arc<Wait>>,
}

crate::thread_local! {
    static MINE: RefCell<Option<Arc<Cancellation>>> = const { RefCell::new(None) };
    /// How many masking sections the running task is in.
    static MASKED: Cell<u32> = const { Cell::new(0) };
}

/// The payload that a cancelled task is unwound with.
struct Cancelled;

impl Cancellation {
    #[track_caller]
    pub(super) fn new() -> Arc<Cancellation> {
        Arc::new(Cancellation(Object::default()))
    }

    /// Asks the task to end.
    #[track_caller]
    pub(super) fn ask(&self) {
        let wait = self.0.update(|state| {
            state.asked = true;
            state.wait.take()
        });
        if let Some(wait) = wait {
            wait.end_and_release(Ended::Cancelled);
        }
    }

    /// Leaves `wait` to be ended; false if the task was cancelled already.
    #[track_caller]
    fn register(&self, wait: &Arc<Wait>) -> bool {
        let (asked, before) = self.0.update(|state| {
            let before = if state.asked { None } else { state.wait.replace(wait.clone()) };
            (state.asked, before)
        });
        drop(before);
        !asked
    }

    #[track_caller]
    fn forget(&self) {
        drop(self.0.update(|state| state.wait.take()));
    }
}

/// Makes `cancellation` that of the running task, for good.
pub(super) fn enter(cancellation: Arc<Cancellation>) {
    MINE.with(|mine| *mine.borrow_mut() = Some(cancellation));
}

/// What can cancel the running task now.
fn mine() -> Option<Arc<Cancellation>> {
    if unwinding() || MASKED.try_with(Cell::get) != Ok(0) {
        return None;
    }
    MINE.try_with(|mine| mine.borrow().clone()).ok().flatten()
}

fn unwinding() -> bool {
    crate::thread::panicking()
}

/// While a task waits, a cancellation may end the wait.
pub(crate) struct Cancellable(Option<Arc<Cancellation>>);

impl Cancellable {
    /// The running task begins to wait.
    ///
    /// Unwinds the task if it was cancelled.
    #[track_caller]
    pub(crate) fn begin(wait: &Arc<Wait>) -> Cancellable {
        let mine = mine();
        if mine.as_ref().is_some_and(|mine| !mine.register(wait)) {
            unwind();
        }
        Cancellable(mine)
    }

    /// The wait is over.
    #[track_caller]
    pub(crate) fn end(self) {
        if let Some(mine) = self.0 {
            mine.forget();
        }
    }
}

/// Ends the running task here, if it was cancelled and is not in a [masking section](masked).
///
/// Waiting for a channel, a [select](crate::select!), another task or for time to pass does the same. Locks,
/// atomics and everything else that is std's do not: in production there is no way to interrupt them.
///
/// ```
/// use drawloom::task;
///
/// let busy = task::spawn(|| loop {
///     task::checkpoint();
///     # std::thread::yield_now();
/// });
/// busy.cancel();
/// assert!(busy.get().unwrap_err().is_cancelled());
/// ```
#[track_caller]
pub fn checkpoint() {
    if let Some(mine) = mine() {
        if mine.0.look(|state| state.asked) {
            unwind();
        }
    }
}

/// Runs `f` as a section in which the task is not cancelled; a cancellation that comes meanwhile takes
/// effect afterwards.
///
/// ```
/// use drawloom::task;
///
/// let both = task::masked(|| {
///     task::checkpoint(); // does not end the task here
///     [1, 2]
/// });
/// assert_eq!(both, [1, 2]);
/// ```
#[track_caller]
pub fn masked<T>(f: impl FnOnce() -> T) -> T {
    struct Unmask;
    impl Drop for Unmask {
        fn drop(&mut self) {
            let _ = MASKED.try_with(|depth| depth.set(depth.get() - 1));
        }
    }
    MASKED.set(MASKED.get() + 1);
    let _unmask = Unmask;
    f()
}

/// Unwinds the running task: destructors run, and whoever waits for the task is told.
pub(crate) fn unwind() -> ! {
    rt::unwind(Box::new(Cancelled))
}

/// Whether that is how a task has ended.
pub(super) fn is_cancellation(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Cancelled>()
}
