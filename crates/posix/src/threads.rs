//! Threads are tasks; their number is their handle.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use drawloom_capi as capi;

use crate::keys;
use crate::objects::{At, execution};
use crate::real::{EDEADLK, EINVAL, ESRCH};

type Entry = extern "C" fn(*mut c_void) -> *mut c_void;

/// What is known of a thread besides what the execution knows.
#[derive(Clone, Copy)]
struct Thread {
    entry: Option<Entry>,
    arg: *mut c_void,
    result: *mut c_void,
    /// Somebody has joined it, or nobody will.
    given_up: bool,
}

const NONE: Thread = Thread { entry: None, arg: std::ptr::null_mut(), result: std::ptr::null_mut(), given_up: false };

#[derive(Default)]
struct Threads {
    execution: u64,
    /// By the number of the task.
    all: Vec<Thread>,
}

thread_local! {
    static THREADS: RefCell<Threads> = RefCell::new(Threads::default());
}

fn with<R>(thread: u64, act: impl FnOnce(&mut Thread) -> R) -> R {
    let number = capi::drawloom_task_number(thread) as usize;
    THREADS.with_borrow_mut(|threads| {
        if threads.execution != execution() {
            threads.execution = execution();
            threads.all.clear();
        }
        if threads.all.len() <= number {
            threads.all.resize(number + 1, NONE);
        }
        act(&mut threads.all[number])
    })
}

extern "C" fn run(_: *mut c_void) {
    let me = capi::drawloom_task_self();
    crate::memory::begin_thread();
    let thread = with(me, |thread| *thread);
    if let Some(entry) = thread.entry {
        let result = entry(thread.arg);
        with(me, |thread| thread.result = result);
    }
    keys::end_thread();
}

/// Spawns a thread.
pub(crate) fn spawn(entry: Entry, arg: *mut c_void, at: At) -> u64 {
    let thread = capi::drawloom_task_spawn(Some(run), std::ptr::null_mut(), at);
    with(thread, |thread| *thread = Thread { entry: Some(entry), arg, ..NONE });
    thread
}

/// Whether it is a thread of this execution that can still be joined.
fn is_joinable(thread: u64) -> Result<(), c_int> {
    match thread {
        _ if thread >> 32 != execution() => Err(ESRCH),
        _ if with(thread, |thread| thread.given_up) => Err(EINVAL),
        _ => Ok(()),
    }
}

/// Waits for a thread; its result.
pub(crate) fn join(thread: u64, at: At) -> Result<*mut c_void, c_int> {
    is_joinable(thread)?;
    if thread == capi::drawloom_task_self() {
        return Err(EDEADLK);
    }
    with(thread, |thread| thread.given_up = true);
    capi::drawloom_task_join(thread, at);
    Ok(with(thread, |thread| thread.result))
}

pub(crate) fn detach(thread: u64) -> Result<(), c_int> {
    is_joinable(thread)?;
    with(thread, |thread| thread.given_up = true);
    Ok(())
}

/// Ends the running thread.
pub(crate) fn exit(result: *mut c_void) -> ! {
    with(capi::drawloom_task_self(), |thread| thread.result = result);
    keys::end_thread();
    capi::drawloom_task_exit()
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
            with(spawned, |thread| thread.given_up = true);
        }
        0
    }
    pthread_join/2(thread: u64, result: *mut *mut c_void) -> c_int |at| {
        match join(thread, at) {
            Err(why) => why,
            Ok(returned) => {
                if !result.is_null() {
                    // SAFETY: it is not null, and the caller vouches for it.
                    unsafe { *result = returned };
                }
                0
            }
        }
    }
    pthread_detach/1(thread: u64) -> c_int |_at| { code(detach(thread)) }
    pthread_self/0() -> u64 |_at| { capi::drawloom_task_self() }
    pthread_exit/1(result: *mut c_void) -> () |_at| { exit(result) }
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
