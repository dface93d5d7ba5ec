//! Semaphores.

use std::ffi::{c_int, c_uint, c_void};

use drawloom_capi as capi;

use crate::cancel;
use crate::clocks::{Deadline, left_until};
use crate::objects::{At, Kind, forget, of, set};
use crate::real::{EAGAIN, ETIMEDOUT, Real, fails};

use capi::drawloom_status;

/// One that was initialised before the execution has as many permits as the real one.
fn semaphore(semaphore: *mut c_void, at: At) -> u64 {
    of(Kind::Semaphore, semaphore, || {
        static REAL: Real = Real::new();
        let real = REAL.find("sem_getvalue\0");
        let mut value: c_int = 0;
        // SAFETY: it is the function of this name, and somebody has initialised the semaphore.
        unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_void, *mut c_int) -> c_int>(real)(
                semaphore,
                &raw mut value,
            );
        }
        capi::drawloom_semaphore_new(u64::try_from(value).unwrap_or_default(), at)
    })
}

fn wait(sem: *mut c_void, nanos: u64, at: At) -> c_int {
    let sem = semaphore(sem, at);
    let came_to = cancel::wait(nanos, at, |nanos| match nanos {
        u64::MAX => capi::drawloom_semaphore_acquire(sem, 1, at),
        nanos => capi::drawloom_semaphore_acquire_for(sem, 1, nanos, at),
    });
    match came_to {
        drawloom_status::DRAWLOOM_OK => 0,
        _ => fails(ETIMEDOUT),
    }
}

define! {
    sem_init/3(sem: *mut c_void, shared: c_int, value: c_uint) -> c_int |at| {
        let _ = shared;
        set(Kind::Semaphore, sem, capi::drawloom_semaphore_new(u64::from(value), at));
        0
    }
    sem_destroy/1(sem: *mut c_void) -> c_int |at| {
        if let Some(known) = forget(Kind::Semaphore, sem) {
            capi::drawloom_semaphore_destroy(known, at);
        }
        0
    }
    sem_wait/1(sem: *mut c_void) -> c_int |at| {
        wait(sem, u64::MAX, at)
    }
    sem_trywait/1(sem: *mut c_void) -> c_int |at| {
        match capi::drawloom_semaphore_try_acquire(semaphore(sem, at), 1, at) {
            drawloom_status::DRAWLOOM_OK => 0,
            _ => fails(EAGAIN),
        }
    }
    sem_timedwait/2(sem: *mut c_void, deadline: *const Deadline) -> c_int |at| {
        wait(sem, left_until(deadline, at), at)
    }
    sem_clockwait/3(sem: *mut c_void, clock: c_int, deadline: *const Deadline) -> c_int |at| {
        let _ = clock;
        wait(sem, left_until(deadline, at), at)
    }
    sem_post/1(sem: *mut c_void) -> c_int |at| {
        capi::drawloom_semaphore_release(semaphore(sem, at), 1, at);
        0
    }
    sem_getvalue/2(sem: *mut c_void, value: *mut c_int) -> c_int |at| {
        let mut permits = 0;
        capi::drawloom_semaphore_value(semaphore(sem, at), &raw mut permits, at);
        if !value.is_null() {
            // SAFETY: it is not null, and the caller vouches for it.
            unsafe { *value = c_int::try_from(permits).unwrap_or(c_int::MAX) };
        }
        0
    }
}
