//! Reader–writer locks. Readers do not wait for writers that wait, as glibc has it by default.

use std::ffi::{c_int, c_void};

use drawloom_capi as capi;

use crate::clocks::{Deadline, left_until};
use crate::mutexes::code;
use crate::objects::{At, Kind, forget, of, set};

fn make(at: At) -> u64 {
    capi::drawloom_rwlock_new(capi::DRAWLOOM_RWLOCK_PREFER_READERS, at)
}

fn rwlock(lock: *mut c_void, at: At) -> u64 {
    of(Kind::RwLock, lock, || make(at))
}

define! {
    pthread_rwlock_init/2(lock: *mut c_void, attributes: *const c_void) -> c_int |at| {
        let _ = attributes;
        set(Kind::RwLock, lock, make(at));
        0
    }
    pthread_rwlock_destroy/1(lock: *mut c_void) -> c_int |at| {
        if let Some(known) = forget(Kind::RwLock, lock) {
            capi::drawloom_rwlock_destroy(known, at);
        }
        0
    }
    pthread_rwlock_rdlock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_rwlock_read(rwlock(lock, at), at)) }
    pthread_rwlock_wrlock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_rwlock_write(rwlock(lock, at), at)) }
    pthread_rwlock_tryrdlock/1(lock: *mut c_void) -> c_int |at| {
        code(capi::drawloom_rwlock_try_read(rwlock(lock, at), at))
    }
    pthread_rwlock_trywrlock/1(lock: *mut c_void) -> c_int |at| {
        code(capi::drawloom_rwlock_try_write(rwlock(lock, at), at))
    }
    pthread_rwlock_timedrdlock/2(lock: *mut c_void, deadline: *const Deadline) -> c_int |at| {
        let left = left_until(deadline, at);
        code(capi::drawloom_rwlock_read_for(rwlock(lock, at), left, at))
    }
    pthread_rwlock_timedwrlock/2(lock: *mut c_void, deadline: *const Deadline) -> c_int |at| {
        let left = left_until(deadline, at);
        code(capi::drawloom_rwlock_write_for(rwlock(lock, at), left, at))
    }
    pthread_rwlock_clockrdlock/3(lock: *mut c_void, clock: c_int, deadline: *const Deadline) -> c_int |at| {
        let _ = clock;
        let left = left_until(deadline, at);
        code(capi::drawloom_rwlock_read_for(rwlock(lock, at), left, at))
    }
    pthread_rwlock_clockwrlock/3(lock: *mut c_void, clock: c_int, deadline: *const Deadline) -> c_int |at| {
        let _ = clock;
        let left = left_until(deadline, at);
        code(capi::drawloom_rwlock_write_for(rwlock(lock, at), left, at))
    }
    pthread_rwlock_unlock/1(lock: *mut c_void) -> c_int |at| { code(capi::drawloom_rwlock_unlock(rwlock(lock, at), at)) }
}
