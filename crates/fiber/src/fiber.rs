//! A pooled fiber: a coroutine that runs one task after another.

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::runtime::{Handle, NO_FIBER, run_tasks};
use crate::stacks::{Counted, NoStack};

/// A coroutine and what is needed to suspend it from within.
pub(crate) struct Fiber {
    coroutine: Coroutine<(), (), (), DefaultStack>,
    /// Lowest and highest address of its stack, the guard page included.
    pub(crate) bounds: (usize, usize),
    /// Set by the coroutine itself when it is first resumed; lives on its stack.
    pub(crate) yielder: *const Yielder<(), ()>,
    /// Its coroutine has returned.
    pub(crate) finished: bool,
    _counted: Counted,
}

impl Fiber {
    /// A fiber that takes its tasks from `runtime`, which must outlive it.
    pub(crate) fn new(stack_size: usize, runtime: Handle) -> Result<Box<Fiber>, NoStack> {
        let counted = Counted::new()?;
        let stack = DefaultStack::new(stack_size).map_err(NoStack::System)?;
        let bounds = (stack.limit().get(), stack.base().get());
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            run_tasks(runtime, yielder);
        });
        Ok(Box::new(Fiber { coroutine, bounds, yielder: std::ptr::null(), finished: false, _counted: counted }))
    }

    /// Runs it until it suspends itself. False if it has returned.
    #[inline]
    pub(crate) fn resume(&mut self) -> bool {
        matches!(self.coroutine.resume(()), CoroutineResult::Yield(()))
    }
}

impl Handle {
    /// Lets idle fibers return, so that their stacks can be freed. Leaked ones stay for ever.
    pub(crate) fn drop_fibers(self) {
        let inner = self.inner();
        inner.quitting = true;
        inner.running_fiber = NO_FIBER;
        for idle in std::mem::take(&mut inner.idle) {
            // SAFETY: it is still in `fibers`, and idle: nobody runs on it or refers to it.
            let returned = unsafe { !(*idle).resume() };
            debug_assert!(returned, "an idle fiber returns when told to quit");
            // SAFETY: as above.
            unsafe { (*idle).finished = true };
        }
        for fiber in self.inner().fibers.drain(..) {
            if !fiber.finished {
                std::mem::forget(fiber);
            }
        }
        self.inner().quitting = false;
    }
}
