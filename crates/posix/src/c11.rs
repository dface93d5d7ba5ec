//! The threads of C11, in the words of `<threads.h>`: the same objects, and other statuses.

use std::ffi::{c_int, c_uint, c_void};

use drawloom_capi as capi;

use crate::clocks::{Deadline, left_until, sleep_for};
use crate::objects::At;
use crate::{barriers, condvars, keys, mutexes, threads};

use capi::drawloom_status::{self, *};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

/// A bit of the type of a mutex.
const RECURSIVE: c_int = 1;

fn code(status: drawloom_status) -> c_int {
    match status {
        DRAWLOOM_OK => SUCCESS,
        DRAWLOOM_BUSY => BUSY,
        DRAWLOOM_TIMED_OUT => TIMED_OUT,
        _ => ERROR,
    }
}

fn mutex(mutex: *mut c_void, at: At) -> u64 {
    mutexes::mutex(mutex, at)
}

/// A function of C11's returns a number, where one of POSIX's returns a pointer: the same register has it.
type Entry = extern "C" fn(*mut c_void) -> *mut c_void;

define! {
    thrd_create/3(thread: *mut u64, entry: Option<Entry>, arg: *mut c_void) -> c_int |at| {
        let (Some(entry), false) = (entry, thread.is_null()) else { return ERROR };
        // SAFETY: it is not null, and the caller vouches for it.
        unsafe { *thread = threads::spawn(entry, arg, at) };
        SUCCESS
    }
    thrd_join/2(thread: u64, result: *mut c_int) -> c_int |at| {
        let Ok(returned) = threads::join(thread, at) else { return ERROR };
        if !result.is_null() {
            // SAFETY: it is not null, and the caller vouches for it.
            unsafe { *result = returned as usize as c_int };
        }
        SUCCESS
    }
    thrd_detach/1(thread: u64) -> c_int |_at| { if threads::detach(thread).is_ok() { SUCCESS } else { ERROR } }
    thrd_current/0() -> u64 |_at| { capi::drawloom_task_self() }
    thrd_exit/1(result: c_int) -> () |_at| { threads::exit(result as isize as *mut c_void) }
    thrd_yield/0() -> () |at| {
        capi::drawloom_task_yield(at);
    }
    thrd_sleep/2(length: *const Deadline, left: *mut Deadline) -> c_int |at| {
        let _ = left;
        sleep_for(length, at);
        0
    }
    mtx_init/2(lock: *mut c_void, kind: c_int) -> c_int |at| {
        let recursive = kind & RECURSIVE != 0;
        let kind = if recursive { capi::DRAWLOOM_MUTEX_RECURSIVE } else { capi::DRAWLOOM_MUTEX_NORMAL };
        mutexes::init(lock, kind, at);
        SUCCESS
    }
    mtx_destroy/1(lock: *mut c_void) -> () |at| {
        mutexes::destroy(lock, at);
    }
    mtx_lock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_lock(mutex(lock, at), at)) }
    mtx_trylock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_try_lock(mutex(lock, at), at)) }
    mtx_timedlock/2(lock: *mut c_void, deadline: *const Deadline) -> c_int |at| {
        let left = left_until(deadline, at);
        code(capi::drawloom_mutex_lock_for(mutex(lock, at), left, at))
    }
    mtx_unlock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_unlock(mutex(lock, at), at)) }
    cnd_init/1(cond: *mut c_void) -> c_int |at| {
        condvars::init(cond, at);
        SUCCESS
    }
    cnd_destroy/1(cond: *mut c_void) -> () |at| {
        condvars::destroy(cond, at);
    }
    cnd_wait/2(cond: *mut c_void, lock: *mut c_void) -> c_int |at| {
        code(capi::drawloom_condvar_wait(condvars::condvar(cond, at), mutex(lock, at), at))
    }
    cnd_timedwait/3(cond: *mut c_void, lock: *mut c_void, deadline: *const Deadline) -> c_int |at| {
        let left = left_until(deadline, at);
        code(capi::drawloom_condvar_wait_for(condvars::condvar(cond, at), mutex(lock, at), left, at))
    }
    cnd_signal/1(cond: *mut c_void) -> c_int |at| {
        code(capi::drawloom_condvar_notify_one(condvars::condvar(cond, at), at))
    }
    cnd_broadcast/1(cond: *mut c_void) -> c_int |at| {
        code(capi::drawloom_condvar_notify_all(condvars::condvar(cond, at), at))
    }
    call_once/2(control: *mut c_void, run: Option<extern "C" fn()>) -> () |at| {
        if let Some(run) = run {
            barriers::once(control, run, at);
        }
    }
    tss_create/2(key: *mut c_uint, destructor: Option<keys::Destructor>) -> c_int |_at| {
        if key.is_null() {
            return ERROR;
        }
        // SAFETY: it is not null, and the caller vouches for it.
        unsafe { *key = keys::create(destructor) };
        SUCCESS
    }
    tss_delete/1(key: c_uint) -> () |_at| {
        keys::delete(key);
    }
    tss_get/1(key: c_uint) -> *mut c_void |_at| { keys::get(key) }
    tss_set/2(key: c_uint, value: *mut c_void) -> c_int |_at| {
        keys::set(key, value);
        SUCCESS
    }
}
