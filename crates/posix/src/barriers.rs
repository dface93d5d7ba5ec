//! Barriers, and what is done once.

use std::ffi::{c_int, c_uint, c_void};

use drawloom_capi as capi;

use crate::objects::{At, Kind, forget, of, set};
use crate::real::EINVAL;

use capi::drawloom_status;

/// What one of those who arrive is told.
const SERIAL: c_int = -1;

fn handle(control: *mut c_void, at: At) -> u64 {
    of(Kind::Once, control, || capi::drawloom_once_new(at))
}

/// Whether the caller is the one to do it.
pub(crate) fn enter(control: *mut c_void, at: At) -> bool {
    capi::drawloom_once_enter(handle(control, at), at) == drawloom_status::DRAWLOOM_LEADER
}

pub(crate) fn finish(control: *mut c_void, done: bool, at: At) {
    capi::drawloom_once_finish(handle(control, at), i32::from(done), at);
}

pub(crate) fn once(control: *mut c_void, run: extern "C" fn(), at: At) {
    if enter(control, at) {
        run();
        finish(control, true, at);
    }
}

define! {
    pthread_barrier_init/3(barrier: *mut c_void, attributes: *const c_void, count: c_uint) -> c_int |at| {
        let _ = attributes;
        if count == 0 {
            return EINVAL;
        }
        set(Kind::Barrier, barrier, capi::drawloom_barrier_new(u64::from(count), at));
        0
    }
    pthread_barrier_destroy/1(barrier: *mut c_void) -> c_int |at| {
        if let Some(known) = forget(Kind::Barrier, barrier) {
            capi::drawloom_barrier_destroy(known, at);
        }
        0
    }
    pthread_barrier_wait/1(barrier: *mut c_void) -> c_int |at| {
        // One that was not initialised in this execution is none: the handle 0 says so.
        let known = of(Kind::Barrier, barrier, || 0);
        match capi::drawloom_barrier_wait(known, at) {
            drawloom_status::DRAWLOOM_LEADER => SERIAL,
            _ => 0,
        }
    }
    pthread_once/2(control: *mut c_void, run: Option<extern "C" fn()>) -> c_int |at| {
        let Some(run) = run else { return EINVAL };
        once(control, run, at);
        0
    }
}
