//! Threads are tasks; their number is their handle.

use std::ffi::{c_char, c_int, c_void};

use drawloom_capi as capi;

use crate::clocks::{Deadline, left_until};
use crate::objects::At;
use crate::real::{EBUSY, EDEADLK, EINVAL, ENOTSUP, ESRCH, ETIMEDOUT};
use crate::state::{self, execution};
use crate::{cancel, keys};

use capi::drawloom_status;

type Entry = extern "C" fn(*mut c_void) -> *mut c_void;

/// What is known of a thread besides what the execution knows.
#[derive(Clone, Copy)]
pub(crate) struct Thread {
    entry: Option<Entry>,
    arg: *mut c_void,
    pub(crate) result: *mut c_void,
    /// Somebody has joined it, or nobody will.
    given_up: bool,
    /// Somebody has cancelled it.
    pub(crate) cancelled: bool,
    /// It does not let itself be cancelled.
    pub(crate) holds_out: bool,
    /// Its code is over.
    pub(crate) over: bool,
}

const NONE: Thread = Thread {
    entry: None,
    arg: std::ptr::null_mut(),
    result: std::ptr::null_mut(),
    given_up: false,
    cancelled: false,
    holds_out: false,
    over: false,
};

/// By the number of the task.
pub(crate) type Threads = Vec<Thread>;

pub(crate) fn thread<R>(thread: u64, act: impl FnOnce(&mut Thread) -> R) -> R {
    let number = capi::drawloom_task_number(thread) as usize;
    state::with(|state| {
        if state.threads.len() <= number {
            state.threads.resize(number + 1, NONE);
        }
        act(&mut state.threads[number])
    })
}

extern "C" fn run(_: *mut c_void) {
    let me = capi::drawloom_task_self();
    crate::memory::begin_thread();
    let Thread { entry, arg, .. } = thread(me, |thread| *thread);
    if let Some(entry) = entry {
        let result = entry(arg);
        thread(me, |thread| thread.result = result);
    }
    finish(me);
}

/// The code of the running thread is over.
fn finish(me: u64) {
    keys::end_thread();
    thread(me, |thread| thread.over = true);
}

/// Ends the running thread in the midst of its code.
pub(crate) fn end(me: u64) -> ! {
    finish(me);
    capi::drawloom_task_exit()
}

/// Spawns a thread.
pub(crate) fn spawn(entry: Entry, arg: *mut c_void, at: At) -> u64 {
    let thread = capi::drawloom_task_spawn(Some(run), std::ptr::null_mut(), at);
    self::thread(thread, |thread| *thread = Thread { entry: Some(entry), arg, ..NONE });
    thread
}

/// Whether it is a thread of this execution that can still be joined.
fn is_joinable(thread: u64) -> Result<(), c_int> {
    match thread {
        _ if thread >> 32 != execution() => Err(ESRCH),
        _ if self::thread(thread, |thread| thread.given_up) => Err(EINVAL),
        _ => Ok(()),
    }
}

/// Waits for a thread; its result.
pub(crate) fn join(thread: u64, at: At) -> Result<*mut c_void, c_int> {
    is_joinable(thread)?;
    if thread == capi::drawloom_task_self() {
        return Err(EDEADLK);
    }
    self::thread(thread, |thread| thread.given_up = true);
    cancel::wait(u64::MAX, at, |nanos| match nanos {
        u64::MAX => capi::drawloom_task_join(thread, at),
        nanos => capi::drawloom_task_join_for(thread, nanos, at),
    });
    Ok(self::thread(thread, |thread| thread.result))
}

/// The same, for so many nanoseconds at most; none at all says at once whether it is over.
fn join_within(thread: u64, nanos: u64, at: At) -> Result<*mut c_void, c_int> {
    is_joinable(thread)?;
    if thread == capi::drawloom_task_self() {
        return Err(EDEADLK);
    }
    let came_to = match nanos {
        0 => capi::drawloom_task_is_done(thread, at),
        nanos => cancel::wait(nanos, at, |nanos| capi::drawloom_task_join_for(thread, nanos, at)),
    };
    match came_to {
        drawloom_status::DRAWLOOM_OK if nanos == 0 => join(thread, at),
        drawloom_status::DRAWLOOM_OK => Ok(self::thread(thread, |thread| {
            thread.given_up = true;
            thread.result
        })),
        drawloom_status::DRAWLOOM_BUSY => Err(EBUSY),
        _ => Err(ETIMEDOUT),
    }
}

/// Hands a thread's result over, or says why there is none.
fn hand(came_to: Result<*mut c_void, c_int>, result: *mut *mut c_void) -> c_int {
    if let (Ok(returned), false) = (came_to, result.is_null()) {
        // SAFETY: it is not null, and the caller vouches for it.
        unsafe { *result = returned };
    }
    came_to.err().unwrap_or(0)
}

pub(crate) fn detach(thread: u64) -> Result<(), c_int> {
    is_joinable(thread)?;
    self::thread(thread, |thread| thread.given_up = true);
    Ok(())
}

/// Ends the running thread.
pub(crate) fn exit(result: *mut c_void) -> ! {
    thread(capi::drawloom_task_self(), |thread| (thread.result, thread.holds_out) = (result, true));
    cancel::unwind()
}

pub(crate) fn code(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(0)
}

define! {
    pthread_create/4(thread: *mut u64, attributes: *const c_void, entry: Option<Entry>, arg: *mut c_void) -> c_int |at| {
        let (Some(entry), false) = (entry, thread.is_null()) else { return EINVAL };
        let spawned = spawn(entry, arg, at);
        // SAFETY: it is not null, and the caller vouches for it.
        unsafe { *thread = spawned };
        if is_detached(attributes) {
            self::thread(spawned, |thread| thread.given_up = true);
        }
        0
    }
    pthread_join/2(thread: u64, result: *mut *mut c_void) -> c_int |at| {
        hand(join(thread, at), result)
    }
    pthread_tryjoin_np/2(thread: u64, result: *mut *mut c_void) -> c_int |at| { hand(join_within(thread, 0, at), result) }
    pthread_timedjoin_np/3(thread: u64, result: *mut *mut c_void, deadline: *const Deadline) -> c_int |at| {
        hand(join_within(thread, left_until(deadline, at), at), result)
    }
    pthread_clockjoin_np/4(thread: u64, result: *mut *mut c_void, clock: c_int, deadline: *const Deadline) -> c_int |at| {
        let _ = clock;
        hand(join_within(thread, left_until(deadline, at), at), result)
    }
    pthread_detach/1(thread: u64) -> c_int |_at| { code(detach(thread)) }
    pthread_self/0() -> u64 |_at| { capi::drawloom_task_self() }
    pthread_exit/1(result: *mut c_void) -> () |_at| { exit(result) }
    pthread_setname_np/2(thread: u64, name: *const c_char) -> c_int |_at| {
        if thread >> 32 != execution() {
            return ESRCH;
        }
        capi::drawloom_task_name(thread, name);
        0
    }
    // Signals are not modelled: whether the thread is there is all that can be asked.
    pthread_kill/2(thread: u64, signal: c_int) -> c_int |at| {
        match signal {
            _ if thread >> 32 != execution() => ESRCH,
            0 if capi::drawloom_task_is_done(thread, at) == drawloom_status::DRAWLOOM_OK => ESRCH,
            0 => 0,
            _ => ENOTSUP,
        }
    }
    // Where and how soon a thread runs is the schedule's.
    pthread_setschedparam/3(thread: u64, policy: c_int, parameters: *const c_void) -> c_int |_at| {
        let _ = (thread, policy, parameters);
        0
    }
    pthread_setaffinity_np/3(thread: u64, size: usize, set: *const c_void) -> c_int |_at| {
        let _ = (thread, size, set);
        0
    }
    pthread_getaffinity_np/3(thread: u64, size: usize, set: *mut c_void) -> c_int |_at| {
        let _ = (thread, size, set);
        ENOTSUP
    }
    pthread_getattr_np/2(thread: u64, attributes: *mut c_void) -> c_int |_at| {
        let _ = (thread, attributes);
        ENOTSUP
    }
    sched_yield/0() -> c_int |at| {
        capi::drawloom_task_yield(at);
        0
    }
    pthread_yield/0() -> c_int |at| {
        capi::drawloom_task_yield(at);
        0
    }
}

/// Whether the attributes, which are the real library's, say that nobody will join.
fn is_detached(attributes: *const c_void) -> bool {
    static REAL: crate::real::Real = crate::real::Real::new();
    if attributes.is_null() {
        return false;
    }
    let real = REAL.find("pthread_attr_getdetachstate\0");
    // SAFETY: it is the function of this name, which reads the attributes and writes a number.
    unsafe {
        let real = std::mem::transmute::<*mut c_void, extern "C" fn(*const c_void, *mut c_int) -> c_int>(real);
        let mut detached = 0;
        real(attributes, &raw mut detached) == 0 && detached == 1
    }
}
