//! A task of another language that does what ends a process: a bad address, a division by zero, an abort. It is a finding.
//!
//! Such code has no bounds checks, so a crash is what many of its bugs come to. The handler of the signal notes the frames, and has the task go
//! on in [`crashed`] on its own stack, which never returns to the program. A task that crashes in the C library may hold a lock there, of the
//! allocator for one: no more executions are made in this process then.

use std::ffi::c_int;
#[cfg(unix)]
use std::{cell::Cell, ffi::c_void};

#[cfg(unix)]
use crate::runtime::current;
#[cfg(unix)]
use crate::watchdog::{go_on_in, interrupted_in_a_task};

/// Frames that are kept of a task that crashes.
pub const FRAMES: usize = 32;

/// What a task has done that ends a process.
#[derive(Clone, Copy, Debug)]
pub struct Crash {
    /// The signal that the system sends for it.
    pub signal: c_int,
    /// The address that it used, where the system tells.
    pub address: usize,
    /// Addresses of code, innermost first: of the instruction that did it, and behind the calls that led there. 0 where there are no more.
    pub frames: [usize; FRAMES],
}

#[cfg(unix)]
const NONE: Crash = Crash { signal: 0, address: 0, frames: [0; FRAMES] };

#[cfg(unix)]
thread_local! {
    static CRASH: Cell<Crash> = const { Cell::new(NONE) };
}

#[cfg(unix)]
/// Has a task that crashes go on in [`crashed`]. False if it is none of another language, or no task runs.
pub(crate) fn is_met(signal: c_int, address: usize, context: *mut c_void) -> bool {
    let is_foreign = current().is_some_and(|handle| handle.inner().foreign.is_some());
    let Some(pc) = interrupted_in_a_task(context).filter(|_| is_foreign) else { return false };
    // Whoever crashes while it is told of a crash has no more to say.
    if CRASH.get().signal != 0 {
        return false;
    }
    let mut crash = Crash { signal, address, ..NONE };
    crash.frames[0] = pc;
    frames_behind(pc, &mut crash.frames);
    CRASH.set(crash);
    go_on_in(context, crashed);
    true
}

#[cfg(unix)]
/// Where a task goes on that has crashed.
extern "C" fn crashed() -> ! {
    let crash = CRASH.replace(NONE);
    if let Some((handle, foreign)) = current().and_then(|handle| Some((handle, handle.inner().foreign?))) {
        handle.inner().has_crashed |= is_in_the_c_library(crash.frames[0]);
        foreign.crashes(crash);
    }
    std::process::abort()
}

#[cfg(unix)]
/// Whether an instruction is of the library that allocates memory.
fn is_in_the_c_library(pc: usize) -> bool {
    let object = |address: usize| {
        // SAFETY: it only looks the address up, and writes to a struct of ours.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            (libc::dladdr(address as *const c_void, &mut found) != 0).then_some(found.dli_fbase)
        }
    };
    object(pc).is_none_or(|at| object(libc::malloc as *const () as usize) == Some(at))
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> c_int, into: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// The frames of the interrupted code: those before it are the handler's. Nothing is allocated.
#[cfg(target_os = "linux")]
fn frames_behind(pc: usize, into: &mut [usize; FRAMES]) {
    struct Walk<'a> {
        pc: usize,
        into: &'a mut [usize; FRAMES],
        found: usize,
        looked_at: usize,
    }
    extern "C" fn each(context: *mut c_void, walk: *mut c_void) -> c_int {
        // SAFETY: it is the walk below, which nobody else uses meanwhile; the context is the unwinder's own.
        let (walk, at) = unsafe { (&mut *walk.cast::<Walk<'_>>(), _Unwind_GetIP(context)) };
        walk.looked_at += 1;
        if walk.found > 0 || at == walk.pc {
            walk.into[walk.found] = at;
            walk.found += 1;
        }
        c_int::from(walk.found == FRAMES || walk.looked_at > 4 * FRAMES || at == 0)
    }
    let mut walk = Walk { pc, into, found: 0, looked_at: 0 };
    // SAFETY: `each` takes what is handed on, and does not unwind.
    unsafe { _Unwind_Backtrace(each, (&raw mut walk).cast()) };
}

#[cfg(all(unix, not(target_os = "linux")))]
fn frames_behind(_: usize, _: &mut [usize; FRAMES]) {}
