//! Mutexes and spin locks. Which kind a mutex is, its memory says: the real functions and static initialisers write it there.

use std::ffi::{c_int, c_void};

use drawloom_capi as capi;

use crate::clocks::{Deadline, left_until};
use crate::objects::{At, Kind, forget, of, set};
use crate::real::{EBUSY, EDEADLK, EINVAL, EPERM, ETIMEDOUT, Real};

use capi::drawloom_status::{self, *};

/// Where glibc and musl have the kind: 0 normal, 1 recursive, 2 error-checking.
#[cfg(target_env = "musl")]
const KIND_AT: usize = 0;
#[cfg(not(target_env = "musl"))]
const KIND_AT: usize = 16;

fn kind_of(mutex: *mut c_void) -> u32 {
    // SAFETY: a mutex is larger than that, and somebody has initialised it.
    match unsafe { mutex.cast::<u8>().add(KIND_AT).cast::<c_int>().read() } & 3 {
        1 => capi::DRAWLOOM_MUTEX_RECURSIVE,
        2 => capi::DRAWLOOM_MUTEX_ERRORCHECK,
        _ => capi::DRAWLOOM_MUTEX_NORMAL,
    }
}

pub(crate) fn mutex(mutex: *mut c_void, at: At) -> u64 {
    of(Kind::Mutex, mutex, || capi::drawloom_mutex_new(kind_of(mutex), at))
}

/// A mutex of a kind that is known otherwise.
pub(crate) fn init(mutex: *mut c_void, kind: u32, at: At) {
    set(Kind::Mutex, mutex, capi::drawloom_mutex_new(kind, at));
}

pub(crate) fn destroy(mutex: *mut c_void, at: At) -> c_int {
    if let Some(known) = forget(Kind::Mutex, mutex) {
        capi::drawloom_mutex_destroy(known, at);
    }
    0
}

pub(crate) fn code(status: drawloom_status) -> c_int {
    match status {
        DRAWLOOM_OK | DRAWLOOM_LEADER => 0,
        DRAWLOOM_BUSY => EBUSY,
        DRAWLOOM_HELD => EDEADLK,
        DRAWLOOM_NOT_HELD => EPERM,
        DRAWLOOM_TIMED_OUT => ETIMEDOUT,
        _ => EINVAL,
    }
}

fn spin(lock: *mut c_void, at: At) -> u64 {
    of(Kind::Mutex, lock, || capi::drawloom_mutex_new(capi::DRAWLOOM_MUTEX_NORMAL, at))
}

define! {
    pthread_mutex_init/2(lock: *mut c_void, attributes: *const c_void) -> c_int |at| {
        static REAL: Real = Real::new();
        let real = REAL.find("pthread_mutex_init\0");
        // SAFETY: it is the function of this name; it writes the kind to where `kind_of` finds it.
        let real = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_void, *const c_void) -> c_int>(real) };
        let came_to = real(lock, attributes);
        if came_to == 0 {
            init(lock, kind_of(lock), at);
        }
        came_to
    }
    pthread_mutex_destroy/1(lock: *mut c_void) -> c_int |at| { destroy(lock, at) }
    pthread_mutex_lock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_lock(mutex(lock, at), at)) }
    pthread_mutex_trylock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_try_lock(mutex(lock, at), at)) }
    pthread_mutex_timedlock/2(lock: *mut c_void, deadline: *const Deadline) -> c_int |at| {
        let left = left_until(deadline, at);
        code(capi::drawloom_mutex_lock_for(mutex(lock, at), left, at))
    }
    pthread_mutex_clocklock/3(lock: *mut c_void, clock: c_int, deadline: *const Deadline) -> c_int |at| {
        let _ = clock;
        let left = left_until(deadline, at);
        code(capi::drawloom_mutex_lock_for(mutex(lock, at), left, at))
    }
    pthread_mutex_unlock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_unlock(mutex(lock, at), at)) }
    pthread_spin_init/2(lock: *mut c_void, shared: c_int) -> c_int |at| {
        let _ = shared;
        init(lock, capi::DRAWLOOM_MUTEX_NORMAL, at);
        0
    }
    pthread_spin_destroy/1(lock: *mut c_void) -> c_int |at| { destroy(lock, at) }
    pthread_spin_lock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_lock(spin(lock, at), at)) }
    pthread_spin_trylock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_try_lock(spin(lock, at), at)) }
    pthread_spin_unlock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_mutex_unlock(spin(lock, at), at)) }
}
