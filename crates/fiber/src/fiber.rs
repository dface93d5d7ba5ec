//! A pooled fiber: a coroutine that runs one task after another.

use std::ptr;
use std::sync::OnceLock;

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
    /// The number by which a runtime of another language knows its stack.
    pub(crate) stack: usize,
    _counted: Counted,
}

impl Fiber {
    /// A fiber that takes its tasks from `runtime`, which must outlive it.
    pub(crate) fn new(stack_size: usize, runtime: Handle) -> Result<Box<Fiber>, NoStack> {
        let counted = Counted::new()?;
        let stack = DefaultStack::new(stack_size).map_err(NoStack::System)?;
        let bounds = (stack.limit().get(), stack.base().get());
        let coroutine = serve(stack, runtime);
        Ok(Box::new(Fiber { coroutine, bounds, yielder: ptr::null(), finished: false, stack: 0, _counted: counted }))
    }

    /// Lowest and highest address of what can be touched of its stack: a collector of another language may look at all of it.
    pub(crate) fn usable(&self) -> (usize, usize) {
        // SAFETY: it reads a number that the system knows.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        (self.bounds.0 + usize::try_from(page).unwrap_or_default(), self.bounds.1)
    }

    /// Forgets what runs on it: it begins anew, on the same stack.
    ///
    /// # Safety
    ///
    /// It must be suspended, and nothing on its stack may have to be dropped.
    pub(crate) unsafe fn reset(&mut self, runtime: Handle) {
        // SAFETY: as the caller vouches.
        unsafe { self.coroutine.force_reset() };
        let (low, high) = self.usable();
        unpoison(low, high);
        // SAFETY: what is read is written anew before anybody sees it, and nothing in between panics: a coroutine that
        // was reset gives its stack away.
        unsafe {
            let stack = ptr::read(&raw const self.coroutine).into_stack();
            ptr::write(&raw mut self.coroutine, serve(stack, runtime));
        }
        self.yielder = ptr::null();
    }

    /// Runs it until it suspends itself. False if it has returned.
    #[inline]
    pub(crate) fn resume(&mut self) -> bool {
        matches!(self.coroutine.resume(()), CoroutineResult::Yield(()))
    }
}

/// Tells AddressSanitizer, where the program is built with it, that a stack is empty: functions that never returned have left marks around
/// their variables.
fn unpoison(low: usize, high: usize) {
    type Unpoison = unsafe extern "C" fn(*const libc::c_void, usize);
    static FUNCTION: OnceLock<Option<Unpoison>> = OnceLock::new();
    let function = FUNCTION.get_or_init(|| {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_unpoison_memory_region".as_ptr()) };
        // SAFETY: it is the function of this name, or null.
        unsafe { std::mem::transmute::<*mut libc::c_void, Option<Unpoison>>(found) }
    });
    if let Some(unpoison) = function {
        // SAFETY: it only changes what the sanitizer knows of these addresses.
        unsafe { unpoison(low as *const libc::c_void, high - low) };
    }
}

/// A coroutine on `stack` that takes its tasks from `runtime`.
fn serve(stack: DefaultStack, runtime: Handle) -> Coroutine<(), (), (), DefaultStack> {
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| run_tasks(runtime, yielder))
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
        let foreign = self.inner().foreign;
        for fiber in self.inner().fibers.drain(..) {
            if let Some(foreign) = foreign {
                foreign.stack_gone(fiber.stack);
            }
            if !fiber.finished {
                std::mem::forget(fiber);
            }
        }
        self.inner().quitting = false;
    }
}
