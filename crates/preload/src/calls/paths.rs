//! Functions that take paths.

use std::ffi::{c_char, c_int, c_void};

use libc::{AT_FDCWD, mode_t};

use crate::act::touching;
use crate::fds;
use crate::hooked::Asked;
use crate::real::interpose;
use crate::what;

type Path = (c_int, *const c_char);

/// What a call touches that follows links.
///
/// # Safety
/// The path is null, or ends with a zero.
unsafe fn there((at, path): Path) -> Vec<String> {
    // SAFETY: as the caller says.
    unsafe { what::of_path(at, path, true) }.into_iter().collect()
}

/// What a call touches that looks at links themselves.
///
/// # Safety
/// As above.
unsafe fn itself((at, path): Path) -> Vec<String> {
    // SAFETY: as the caller says.
    unsafe { what::of_path(at, path, false) }.into_iter().collect()
}

/// What a call touches that gives names to files or takes them away. Where these are directories or links, any file may be
/// meant.
///
/// # Safety
/// As above.
unsafe fn named<const N: usize>(paths: [Path; N]) -> Vec<String> {
    // SAFETY: as the caller says.
    if !paths.iter().all(|(at, path)| unsafe { what::is_plain(*at, *path) }) {
        return all_files();
    }
    // SAFETY: as the caller says.
    let mut names: Vec<String> = paths.iter().flat_map(|path| unsafe { itself(*path) }).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What is touched when directories come or go, or files get further names.
fn all_files() -> Vec<String> {
    vec![what::FILES.to_owned()]
}

/// Opens a file: who does so has it for itself, unless it hands it on.
///
/// # Safety
/// As above.
unsafe fn open_at(hooks: &Asked, at: c_int, path: *const c_char, flags: c_int, call: impl FnMut() -> c_int) -> c_int {
    let changes = flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
    // SAFETY: as the caller says.
    let fd = touching(hooks, &unsafe { there((at, path)) }, changes, call);
    fds::opened(fd, hooks.task());
    fd
}

const CREATES: c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

interpose! {
    fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        = |hooks, real| open_at(&hooks, AT_FDCWD, path, flags, real);
    fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        = |hooks, real| open_at(&hooks, AT_FDCWD, path, flags, real);
    fn __open_2(path: *const c_char, flags: c_int) -> c_int
        = |hooks, real| open_at(&hooks, AT_FDCWD, path, flags, real);
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int
        = |hooks, real| open_at(&hooks, AT_FDCWD, path, flags, real);
    fn openat(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        = |hooks, real| open_at(&hooks, at, path, flags, real);
    fn openat64(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        = |hooks, real| open_at(&hooks, at, path, flags, real);
    fn __openat_2(at: c_int, path: *const c_char, flags: c_int) -> c_int
        = |hooks, real| open_at(&hooks, at, path, flags, real);
    fn __openat64_2(at: c_int, path: *const c_char, flags: c_int) -> c_int
        = |hooks, real| open_at(&hooks, at, path, flags, real);
    fn creat(path: *const c_char, mode: mode_t) -> c_int
        = |hooks, real| open_at(&hooks, AT_FDCWD, path, CREATES, real);
    fn creat64(path: *const c_char, mode: mode_t) -> c_int
        = |hooks, real| open_at(&hooks, AT_FDCWD, path, CREATES, real);

    fn rename(from: *const c_char, to: *const c_char) -> c_int
        = |hooks, real| touching(&hooks, &named([(AT_FDCWD, from), (AT_FDCWD, to)]), true, real);
    fn renameat(from_at: c_int, from: *const c_char, to_at: c_int, to: *const c_char) -> c_int
        = |hooks, real| touching(&hooks, &named([(from_at, from), (to_at, to)]), true, real);
    fn renameat2(from_at: c_int, from: *const c_char, to_at: c_int, to: *const c_char, flags: u32) -> c_int
        = |hooks, real| touching(&hooks, &named([(from_at, from), (to_at, to)]), true, real);
    fn link(from: *const c_char, to: *const c_char) -> c_int
        = |hooks, real| touching(&hooks, &all_files(), true, real);
    fn symlink(target: *const c_char, at: *const c_char) -> c_int
        = |hooks, real| touching(&hooks, &all_files(), true, real);
    fn unlink(path: *const c_char) -> c_int
        = |hooks, real| touching(&hooks, &named([(AT_FDCWD, path)]), true, real);
    fn unlinkat(at: c_int, path: *const c_char, flags: c_int) -> c_int
        = |hooks, real| touching(&hooks, &named([(at, path)]), true, real);
    fn remove(path: *const c_char) -> c_int
        = |hooks, real| touching(&hooks, &named([(AT_FDCWD, path)]), true, real);
    fn mkdir(path: *const c_char, mode: mode_t) -> c_int
        = |hooks, real| touching(&hooks, &all_files(), true, real);
    fn mkdirat(at: c_int, path: *const c_char, mode: mode_t) -> c_int
        = |hooks, real| touching(&hooks, &all_files(), true, real);
    fn rmdir(path: *const c_char) -> c_int
        = |hooks, real| touching(&hooks, &all_files(), true, real);
    fn truncate(path: *const c_char, length: libc::off_t) -> c_int
        = |hooks, real| touching(&hooks, &there((AT_FDCWD, path)), true, real);
    fn truncate64(path: *const c_char, length: libc::off64_t) -> c_int
        = |hooks, real| touching(&hooks, &there((AT_FDCWD, path)), true, real);

    fn stat(path: *const c_char, status: *mut c_void) -> c_int
        = |hooks, real| touching(&hooks, &there((AT_FDCWD, path)), false, real);
    fn stat64(path: *const c_char, status: *mut c_void) -> c_int
        = |hooks, real| touching(&hooks, &there((AT_FDCWD, path)), false, real);
    fn lstat(path: *const c_char, status: *mut c_void) -> c_int
        = |hooks, real| touching(&hooks, &itself((AT_FDCWD, path)), false, real);
    fn lstat64(path: *const c_char, status: *mut c_void) -> c_int
        = |hooks, real| touching(&hooks, &itself((AT_FDCWD, path)), false, real);
    fn fstatat(at: c_int, path: *const c_char, status: *mut c_void, flags: c_int) -> c_int
        = |hooks, real| touching(&hooks, &there((at, path)), false, real);
    fn fstatat64(at: c_int, path: *const c_char, status: *mut c_void, flags: c_int) -> c_int
        = |hooks, real| touching(&hooks, &there((at, path)), false, real);
    fn statx(at: c_int, path: *const c_char, flags: c_int, mask: u32, status: *mut c_void) -> c_int
        = |hooks, real| touching(&hooks, &there((at, path)), false, real);
    fn access(path: *const c_char, mode: c_int) -> c_int
        = |hooks, real| touching(&hooks, &there((AT_FDCWD, path)), false, real);
    fn faccessat(at: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int
        = |hooks, real| touching(&hooks, &there((at, path)), false, real);
}
