//! Cancellation, and the handlers that run when a thread is ended in the midst of its code.
//!
//! A thread that was asked to end does so at its next point of cancellation: a wait for a condition, a semaphore, a thread or a time, or
//! `pthread_testcancel`. One that waits already goes on waiting as long as others can do anything; then it ends. To look costs a step, which programs
//! need not pay that never cancel: where one does, the exploration is made again.
//!
//! `pthread_cleanup_push` of C keeps a place to jump to. Handlers of C++, which unwinding would run, do not run.

use std::ffi::{c_int, c_void};

use drawloom_capi as capi;

use crate::objects::At;
use crate::real::{EINVAL, ESRCH};
use crate::state::{self, execution};
use crate::threads::{self, thread};

use capi::drawloom_status::{self, *};

/// Longer than any program sleeps, in nanoseconds: 36 years.
const LONG: u64 = 1 << 60;

const CANCELED: *mut c_void = usize::MAX as *mut c_void;
const DISABLE: c_int = 1;
const DEFERRED: c_int = 0;

/// Places to jump to, of all threads, the newest last.
pub(crate) type Cleanups = Vec<(u64, *mut c_void)>;

unsafe extern "C" {
    fn siglongjmp(to: *mut c_void, value: c_int) -> !;
}

/// Ends the running thread: its handlers first, then the destructors of its keys.
pub(crate) fn unwind() -> ! {
    let me = capi::drawloom_task_self();
    if let Some(handler) = take_cleanup(me) {
        // SAFETY: the function that has registered it has not left its block, or it would have taken it back; and between that block and this
        // frame nothing of ours has anything to drop.
        unsafe { siglongjmp(handler, 1) };
    }
    threads::end(me)
}

fn take_cleanup(thread: u64) -> Option<*mut c_void> {
    state::with(|state| {
        let at = state.cleanups.iter().rposition(|(of, _)| *of == thread)?;
        Some(state.cleanups.remove(at).1)
    })
}

fn looks() -> bool {
    capi::is_made_again() && thread(capi::drawloom_task_self(), |thread| !thread.holds_out)
}

fn was_asked() -> bool {
    thread(capi::drawloom_task_self(), |thread| thread.cancelled)
}

fn end_cancelled() -> ! {
    thread(capi::drawloom_task_self(), |thread| (thread.result, thread.holds_out) = (CANCELED, true));
    unwind()
}

/// A point of cancellation.
pub(crate) fn point(at: At) {
    if looks() && capi::drawloom_task_is_cancelled(capi::drawloom_task_self(), at) == DRAWLOOM_CANCELLED {
        end_cancelled()
    }
}

/// A point of cancellation that waits, for so many nanoseconds at most.
pub(crate) fn wait(nanos: u64, at: At, wait: impl Fn(u64) -> drawloom_status) -> drawloom_status {
    point(at);
    if nanos < LONG || !looks() {
        let came_to = wait(nanos);
        if was_asked() {
            point(at);
        }
        return came_to;
    }
    loop {
        match wait(LONG) {
            DRAWLOOM_TIMED_OUT if was_asked() => end_cancelled(),
            // Whoever ends now may cancel this one.
            DRAWLOOM_TIMED_OUT
                if state::with(|state| state.threads.iter().any(|other| other.cancelled && !other.over)) => {}
            DRAWLOOM_TIMED_OUT => return wait(u64::MAX),
            came_to => return came_to,
        }
    }
}

define! {
    pthread_cancel/1(other: u64) -> c_int |at| {
        if other >> 32 != execution() {
            return ESRCH;
        }
        if !capi::is_made_again() {
            capi::ask_again();
        }
        thread(other, |thread| thread.cancelled = true);
        capi::drawloom_task_cancel(other, at);
        0
    }
    pthread_testcancel/0() -> () |at| { point(at) }
    pthread_setcancelstate/2(state: c_int, before: *mut c_int) -> c_int |_at| {
        if !(0..=DISABLE).contains(&state) {
            return EINVAL;
        }
        let held_out = thread(capi::drawloom_task_self(), |thread| std::mem::replace(&mut thread.holds_out, state == DISABLE));
        if !before.is_null() {
            // SAFETY: it is not null, and the caller vouches for it.
            unsafe { *before = c_int::from(held_out) };
        }
        0
    }
    // Every thread ends at points of cancellation only.
    pthread_setcanceltype/2(kind: c_int, before: *mut c_int) -> c_int |_at| {
        let _ = kind;
        if !before.is_null() {
            // SAFETY: it is not null, and the caller vouches for it.
            unsafe { *before = DEFERRED };
        }
        0
    }
    __pthread_register_cancel/1(handler: *mut c_void) -> () |_at| {
        state::with(|state| state.cleanups.push((capi::drawloom_task_self(), handler)));
    }
    __pthread_unregister_cancel/1(handler: *mut c_void) -> () |_at| {
        let _ = handler;
        take_cleanup(capi::drawloom_task_self());
    }
    __pthread_unwind_next/1(handler: *mut c_void) -> () |_at| {
        let _ = handler;
        unwind()
    }
}
