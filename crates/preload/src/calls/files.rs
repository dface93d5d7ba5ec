//! Functions that take open files, and never wait.

use std::ffi::{c_int, c_void};

use libc::{off_t, off64_t, size_t, ssize_t};

use crate::act::{Returned, touching};
use crate::fds;
use crate::hooked::Asked;
use crate::real::interpose;
use crate::what::{self, Kind, What};

/// A call on `fd` that never waits.
pub(super) fn at_once<R: Returned>(hooks: &Asked, fd: c_int, write: bool, mut call: impl FnMut() -> R) -> R {
    match what::of_fd(hooks, fd) {
        Some(What { name, .. }) => touching(hooks, &[name], write, call),
        None => call(),
    }
}

/// Looks at what is known of a file. Of a stream that does not change.
fn look(hooks: &Asked, fd: c_int, mut call: impl FnMut() -> c_int) -> c_int {
    match what::of_fd(hooks, fd) {
        Some(What { name, kind: Kind::File }) => touching(hooks, &[name], false, call),
        _ => call(),
    }
}

/// Moves the position of a file. The end is where the last writer has left it.
fn seek<R: Returned>(hooks: &Asked, fd: c_int, from: c_int, mut call: impl FnMut() -> R) -> R {
    match fds::is_of(fd, hooks.task()) {
        true if from == libc::SEEK_SET || from == libc::SEEK_CUR => call(),
        own => at_once(hooks, fd, !own, call),
    }
}

/// What closing `fd` does to others: they find the end of a stream, or a lock free.
fn end(hooks: &Asked, fd: c_int, mut call: impl FnMut() -> c_int) -> c_int {
    match what::of_fd(hooks, fd) {
        Some(What { kind: Kind::File, .. }) if !what::was_locked(fd) => call(),
        Some(What { name, .. }) => touching(hooks, &[name], true, call),
        None => call(),
    }
}

fn copy(fd: c_int, copy: c_int) -> c_int {
    fds::copied(fd, copy);
    copy
}

interpose! {
    fn pread(fd: c_int, buffer: *mut c_void, count: size_t, at: off_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, false, real);
    fn pread64(fd: c_int, buffer: *mut c_void, count: size_t, at: off64_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, false, real);
    fn __pread_chk(fd: c_int, buffer: *mut c_void, count: size_t, at: off_t, room: size_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, false, real);
    fn __pread64_chk(fd: c_int, buffer: *mut c_void, count: size_t, at: off64_t, room: size_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, false, real);
    fn preadv(fd: c_int, parts: *const libc::iovec, count: c_int, at: off_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, false, real);
    fn preadv64(fd: c_int, parts: *const libc::iovec, count: c_int, at: off64_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, false, real);
    fn pwrite(fd: c_int, buffer: *const c_void, count: size_t, at: off_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, true, real);
    fn pwrite64(fd: c_int, buffer: *const c_void, count: size_t, at: off64_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, true, real);
    fn pwritev(fd: c_int, parts: *const libc::iovec, count: c_int, at: off_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, true, real);
    fn pwritev64(fd: c_int, parts: *const libc::iovec, count: c_int, at: off64_t) -> ssize_t
        = |hooks, real| at_once(&hooks, fd, true, real);
    fn ftruncate(fd: c_int, length: off_t) -> c_int = |hooks, real| at_once(&hooks, fd, true, real);
    fn ftruncate64(fd: c_int, length: off64_t) -> c_int = |hooks, real| at_once(&hooks, fd, true, real);
    fn fallocate(fd: c_int, mode: c_int, from: off_t, length: off_t) -> c_int
        = |hooks, real| at_once(&hooks, fd, true, real);
    fn fsync(fd: c_int) -> c_int = |hooks, real| at_once(&hooks, fd, false, real);
    fn fdatasync(fd: c_int) -> c_int = |hooks, real| at_once(&hooks, fd, false, real);
    fn fstat(fd: c_int, status: *mut c_void) -> c_int = |hooks, real| look(&hooks, fd, real);
    fn fstat64(fd: c_int, status: *mut c_void) -> c_int = |hooks, real| look(&hooks, fd, real);
    fn lseek(fd: c_int, to: off_t, from: c_int) -> off_t = |hooks, real| seek(&hooks, fd, from, real);
    fn lseek64(fd: c_int, to: off64_t, from: c_int) -> off64_t = |hooks, real| seek(&hooks, fd, from, real);

    fn close(fd: c_int) -> c_int = |hooks, real| {
        let result = end(&hooks, fd, real);
        fds::opened(fd, 0);
        result
    };
    fn dup(fd: c_int) -> c_int = |_hooks, real| copy(fd, real());
    fn dup2(fd: c_int, at: c_int) -> c_int = |hooks, real| {
        if fd == at { real() } else { copy(fd, end(&hooks, at, real)) }
    };
    fn dup3(fd: c_int, at: c_int, flags: c_int) -> c_int = |hooks, real| copy(fd, end(&hooks, at, real));
}
