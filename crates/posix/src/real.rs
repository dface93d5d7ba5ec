//! The real functions. They are looked for by name when they are first needed: under `--wrap` the name itself would lead back here.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The next library that has it: not the program, nor this.
const NEXT: *mut c_void = -1isize as *mut c_void;

pub(crate) struct Real(AtomicPtr<c_void>);

impl Real {
    pub(crate) const fn new() -> Real {
        Real(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The function of this name, which ends with a zero.
    pub(crate) fn find(&self, name: &'static str) -> *mut c_void {
        let known = self.0.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero.
        let found = unsafe { dlsym(NEXT, name.as_ptr().cast()) };
        if found.is_null() {
            eprintln!("drawloom: the C library has no {}", name.trim_end_matches('\0'));
            std::process::abort();
        }
        self.0.store(found, Ordering::Relaxed);
        found
    }
}

// Values of Linux.
pub(crate) const EPERM: i32 = 1;
pub(crate) const ESRCH: i32 = 3;
pub(crate) const EAGAIN: i32 = 11;
pub(crate) const EBUSY: i32 = 16;
pub(crate) const EINVAL: i32 = 22;
pub(crate) const EDEADLK: i32 = 35;
pub(crate) const ENOTSUP: i32 = 95;
pub(crate) const ETIMEDOUT: i32 = 110;

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// As functions end that say by `errno` what was wrong.
pub(crate) fn fails(errno: i32) -> i32 {
    // SAFETY: it is the address of this thread's variable.
    unsafe { *__errno_location() = errno };
    -1
}
