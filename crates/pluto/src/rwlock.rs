//! The locks of singletons. They outlive executions, so each is known anew in every one.

use drawloom_capi as capi;

use crate::foreign::{Word, words};
use crate::state::{Mode, mode};

/// The handle in the running execution, and which execution that is.
fn handle(lock: Word, at: *const capi::drawloom_loc) -> u64 {
    let lock = lock as *mut u64;
    let execution = capi::drawloom_task_self() >> 32;
    // SAFETY: generated code hands over what `new` has made, a word.
    unsafe {
        if *lock >> 32 != execution {
            *lock = capi::drawloom_rwlock_new(capi::DRAWLOOM_RWLOCK_FAIR, at);
        }
        *lock
    }
}

pub(crate) extern "C" fn new(_returns_to: usize) -> Word {
    words(1) as Word
}

pub(crate) extern "C" fn read(lock: Word, returns_to: usize) {
    if mode() != Mode::Outside {
        let at = capi::place::loc_of_address(returns_to);
        capi::drawloom_rwlock_read(handle(lock, at), at);
    }
}

pub(crate) extern "C" fn write(lock: Word, returns_to: usize) {
    if mode() != Mode::Outside {
        let at = capi::place::loc_of_address(returns_to);
        capi::drawloom_rwlock_write(handle(lock, at), at);
    }
}

pub(crate) extern "C" fn unlock(lock: Word, returns_to: usize) {
    if mode() != Mode::Outside {
        let at = capi::place::loc_of_address(returns_to);
        capi::drawloom_rwlock_unlock(handle(lock, at), at);
    }
}
