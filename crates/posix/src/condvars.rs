//! Condition variables.

use std::ffi::{c_int, c_void};

use drawloom_capi as capi;

use crate::cancel;
use crate::clocks::{Deadline, left_until};
use crate::mutexes::{code, mutex};
use crate::objects::{At, Kind, forget, of, set};

pub(crate) fn condvar(condvar: *mut c_void, at: At) -> u64 {
    of(Kind::Condvar, condvar, || capi::drawloom_condvar_new(at))
}

pub(crate) fn init(condvar: *mut c_void, at: At) {
    set(Kind::Condvar, condvar, capi::drawloom_condvar_new(at));
}

pub(crate) fn destroy(condvar: *mut c_void, at: At) -> c_int {
    if let Some(known) = forget(Kind::Condvar, condvar) {
        capi::drawloom_condvar_destroy(known, at);
    }
    0
}

fn wait(cond: *mut c_void, lock: *mut c_void, nanos: u64, at: At) -> c_int {
    let (cond, lock) = (condvar(cond, at), mutex(lock, at));
    code(cancel::wait(nanos, at, |nanos| match nanos {
        u64::MAX => capi::drawloom_condvar_wait(cond, lock, at),
        nanos => capi::drawloom_condvar_wait_for(cond, lock, nanos, at),
    }))
}

define! {
    pthread_cond_init/2(cond: *mut c_void, attributes: *const c_void) -> c_int |at| {
        // Which clock its deadlines are of, these themselves say.
        let _ = attributes;
        init(cond, at);
        0
    }
    pthread_cond_destroy/1(cond: *mut c_void) -> c_int |at| { destroy(cond, at) }
    pthread_cond_wait/2(cond: *mut c_void, lock: *mut c_void) -> c_int |at| {
        wait(cond, lock, u64::MAX, at)
    }
    pthread_cond_timedwait/3(cond: *mut c_void, lock: *mut c_void, deadline: *const Deadline) -> c_int |at| {
        wait(cond, lock, left_until(deadline, at), at)
    }
    pthread_cond_clockwait/4(cond: *mut c_void, lock: *mut c_void, clock: c_int, deadline: *const Deadline) -> c_int |at| {
        let _ = clock;
        wait(cond, lock, left_until(deadline, at), at)
    }
    pthread_cond_signal/1(cond: *mut c_void) -> c_int |at| {
        code(capi::drawloom_condvar_notify_one(condvar(cond, at), at))
    }
    pthread_cond_broadcast/1(cond: *mut c_void) -> c_int |at| {
        code(capi::drawloom_condvar_notify_all(condvar(cond, at), at))
    }
}
