//! Who is asked before a call is made.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use crate::abi::{Answer, Hooks, Text, VERSION};

/// Null, unless an exploration runs.
static HOOKS: AtomicPtr<Hooks> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// We are at work on this thread: what is called meanwhile is not looked at.
    static BUSY: Cell<bool> = const { Cell::new(false) };
    static THREAD: Cell<i32> = const { Cell::new(0) };
}

/// Threads that wait in a hook: what they hold they hold until they are let run.
static STOPPED: [AtomicI32; 256] = [const { AtomicI32::new(0) }; 256];

/// Registers hooks that live for ever, or takes them back.
///
/// # Safety
/// `hooks` is null, or points to [`Hooks`] of the version that it says it has.
#[unsafe(no_mangle)]
unsafe extern "C" fn drawloom_preload_register(hooks: *const Hooks) -> bool {
    // SAFETY: every version begins with its number.
    if !hooks.is_null() && unsafe { (*hooks).version } != VERSION {
        return false;
    }
    PROCESS.store(process(), Ordering::Relaxed);
    HOOKS.store(hooks.cast_mut(), Ordering::Release);
    true
}

/// The process that hooks belong to. A child has no exploration, whatever was going on in its parent; and one that still
/// has its parent's memory, as `vfork` makes them, leaves all of it alone.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Asks the exploration; while it lasts, calls on this thread are not looked at.
pub(crate) struct Asked {
    hooks: &'static Hooks,
}

/// Whom to ask, if the calling thread is a task of an exploration.
#[inline]
pub(crate) fn hooks() -> Option<Asked> {
    let hooks = HOOKS.load(Ordering::Acquire);
    // SAFETY: hooks that were registered live for ever.
    let hooks = unsafe { hooks.as_ref() }?;
    if BUSY.get() || !(hooks.controlled)() || PROCESS.load(Ordering::Relaxed) != process() {
        return None;
    }
    BUSY.set(true);
    Some(Asked { hooks })
}

impl Drop for Asked {
    fn drop(&mut self) {
        BUSY.set(false);
    }
}

impl Asked {
    pub(crate) fn task(&self) -> u64 {
        (self.hooks.task)()
    }

    pub(crate) fn touch(&self, name: &str, write: bool) -> Answer {
        // SAFETY: the text outlives the call; the same below.
        stopped(|| unsafe { (self.hooks.touch)(Text::of(name), write) })
    }

    pub(crate) fn enlist(&self, name: &str) {
        // SAFETY: as above.
        unsafe { (self.hooks.enlist)(Text::of(name)) }
    }

    pub(crate) fn leave(&self, name: &str) {
        // SAFETY: as above.
        unsafe { (self.hooks.leave)(Text::of(name)) }
    }

    /// Wakes who waits for it. Whoever is torn down meanwhile learns of it at its next step.
    pub(crate) fn wake(&self, name: &str) {
        // SAFETY: as above.
        stopped(|| unsafe { (self.hooks.wake)(Text::of(name)) });
    }

    pub(crate) fn wait(&self, name: &str, nanos: u64, alone: bool) -> Answer {
        // SAFETY: as above.
        stopped(|| unsafe { (self.hooks.wait)(Text::of(name), nanos, alone) })
    }

    pub(crate) fn give_way(&self) -> Answer {
        stopped(|| (self.hooks.give_way)())
    }

    pub(crate) fn sleep(&self, nanos: u64) -> Answer {
        stopped(|| (self.hooks.sleep)(nanos))
    }

    pub(crate) fn outside(&self, name: &str) {
        // SAFETY: as above.
        unsafe { (self.hooks.outside)(Text::of(name)) }
    }
}

/// Calls a hook that may let others run; `errno` is not its to change.
fn stopped(hook: impl FnOnce() -> Answer) -> Answer {
    let before = errno();
    let me = thread();
    let place = STOPPED.iter().find(|place| place.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst).is_ok());
    let answer = hook();
    if let Some(place) = place {
        place.store(0, Ordering::SeqCst);
    }
    set_errno(before);
    answer
}

/// Whether that thread waits in a hook.
pub(crate) fn is_stopped(thread: i32) -> bool {
    thread != 0 && STOPPED.iter().any(|place| place.load(Ordering::SeqCst) == thread)
}

fn process() -> i32 {
    // SAFETY: always succeeds.
    unsafe { libc::getpid() }
}

/// The number that the kernel has for the calling thread.
pub(crate) fn thread() -> i32 {
    if THREAD.get() == 0 {
        // SAFETY: always succeeds.
        THREAD.set(unsafe { libc::gettid() });
    }
    THREAD.get()
}

pub(crate) fn errno() -> i32 {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(error: i32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
}
