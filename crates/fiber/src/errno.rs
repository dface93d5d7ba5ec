//! The variable in which the C library says what went wrong: each task of another language has its own, as a thread has.

use std::ffi::c_int;

use drawloom_engine::TaskId;

/// What `errno` was when each task stopped.
#[derive(Default)]
pub(crate) struct Errnos(Vec<c_int>);

impl Errnos {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// `task` goes on, or begins.
    #[inline]
    pub(crate) fn resume(&mut self, task: TaskId) {
        // SAFETY: the calling thread's own variable.
        unsafe { *place() = self.0.get(task.index()).copied().unwrap_or(0) };
    }

    /// `task` has stopped. No entry means 0.
    #[inline]
    pub(crate) fn suspend(&mut self, task: TaskId) {
        // SAFETY: as above.
        let errno = unsafe { *place() };
        match self.0.get_mut(task.index()) {
            Some(known) => *known = errno,
            None if errno != 0 => {
                self.0.resize(task.index(), 0);
                self.0.push(errno);
            }
            None => {}
        }
    }
}

/// Where the calling thread has it.
pub(crate) fn place() -> *mut c_int {
    // SAFETY: it has no preconditions.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::__errno_location()
    }
    // SAFETY: as above.
    #[cfg(all(unix, not(target_os = "linux")))]
    unsafe {
        libc::__error()
    }
    #[cfg(not(unix))]
    {
        thread_local!(static NONE: std::cell::Cell<c_int> = const { std::cell::Cell::new(0) });
        NONE.with(std::cell::Cell::as_ptr)
    }
}
