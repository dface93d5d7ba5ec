//! Waiting for one of several to be ready.

use std::ffi::c_int;

use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

use crate::abi::FOR_EVER;
use crate::act::{Awaited, poll as ask, waiting};
use crate::hooked::Asked;
use crate::real::interpose;
use crate::what;

/// Waits until one of `fds` is ready. `look` asks without waiting.
fn await_any(
    hooks: &Asked,
    fds: &mut [pollfd],
    timeout: u64,
    mut look: impl FnMut() -> c_int,
    plain: impl FnMut() -> c_int,
) -> c_int {
    let what: Vec<_> = fds.iter().map(|fd| what::of_fd(hooks, fd.fd)).collect();
    let mut awaited = Awaited { fds, what: &what, timeout, write: false };
    let attempt = |_: &mut [pollfd]| Some(look()).filter(|ready| *ready != 0);
    waiting(hooks, &mut awaited, attempt, || 0, plain)
}

fn of_millis(timeout: c_int) -> u64 {
    u64::try_from(timeout).map_or(FOR_EVER, |millis| millis * 1_000_000)
}

/// # Safety
/// `time` is null, or points to one.
unsafe fn of_timespec(time: *const timespec) -> u64 {
    // SAFETY: as the caller says.
    unsafe { time.as_ref() }.map_or(FOR_EVER, |time| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// # Safety
/// `time` is null, or points to one.
unsafe fn of_timeval(time: *const timeval) -> u64 {
    // SAFETY: as the caller says.
    unsafe { time.as_ref() }.map_or(FOR_EVER, |time| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000)
}

/// # Safety
/// `fds` points to `count` of them.
unsafe fn poll_all(
    hooks: &Asked,
    (fds, count): (*mut pollfd, nfds_t),
    timeout: u64,
    real: impl FnMut() -> c_int,
) -> c_int {
    // SAFETY: as the caller says; there may be none.
    let fds = if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(fds, count as usize) } };
    if fds.is_empty() {
        return super::time::pause(hooks, timeout, real);
    }
    let mut asked = fds.to_vec();
    let look = || ask(fds, 0);
    await_any(hooks, &mut asked, timeout, look, real)
}

/// Those of `select`'s sets, as `poll` has them.
///
/// # Safety
/// Sets are null, or point to one.
unsafe fn of_sets(count: c_int, sets: [*mut fd_set; 3]) -> Vec<pollfd> {
    let events = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
    let mut fds = Vec::new();
    for fd in 0..count {
        // SAFETY: as the caller says.
        let asked = |set: &*mut fd_set| !set.is_null() && unsafe { libc::FD_ISSET(fd, *set) };
        let wanted = sets.iter().zip(events).filter(|(set, _)| asked(set)).fold(0, |all, (_, event)| all | event);
        if wanted != 0 {
            fds.push(pollfd { fd, events: wanted, revents: 0 });
        }
    }
    fds
}

/// # Safety
/// As above.
unsafe fn select_any(
    hooks: &Asked,
    count: c_int,
    sets: [*mut fd_set; 3],
    timeout: u64,
    plain: impl FnMut() -> c_int,
) -> c_int {
    // SAFETY: as the caller says.
    let mut fds = unsafe { of_sets(count, sets) };
    if fds.is_empty() {
        return super::time::pause(hooks, timeout, plain);
    }
    // Sets are overwritten by every look at them.
    // SAFETY: as the caller says; what is copied is plain memory.
    let before = sets.map(|set| (!set.is_null()).then(|| unsafe { set.read() }));
    let look = || {
        for (set, before) in sets.iter().zip(&before) {
            if let Some(before) = before {
                // SAFETY: it was read from there.
                unsafe { set.write(*before) };
            }
        }
        let mut none = timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: as `select` asks for.
        unsafe { libc::select(count, sets[0], sets[1], sets[2], &raw mut none) }
    };
    await_any(hooks, &mut fds, timeout, look, plain)
}

/// What an epoll instance waits for, as the kernel tells.
fn of_epoll(fd: c_int) -> Vec<pollfd> {
    let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
    let watched = told.lines().filter_map(|line| {
        let mut words = line.strip_prefix("tfd:")?.split_whitespace();
        let fd = words.next()?.parse().ok()?;
        let events = u32::from_str_radix(words.nth(1)?, 16).ok()?;
        Some(pollfd { fd, events: events as i16, revents: 0 })
    });
    watched.collect()
}

fn epoll_any(
    hooks: &Asked,
    (fd, events, most): (c_int, *mut epoll_event, c_int),
    timeout: u64,
    plain: impl FnMut() -> c_int,
) -> c_int {
    let mut fds = of_epoll(fd);
    if fds.is_empty() {
        return super::time::pause(hooks, timeout, plain);
    }
    // SAFETY: as `epoll_wait` asks for.
    let look = || unsafe { libc::epoll_wait(fd, events, most, 0) };
    await_any(hooks, &mut fds, timeout, look, plain)
}

interpose! {
    fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int
        = |hooks, real| poll_all(&hooks, (fds, count), of_millis(timeout), real);
    fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: libc::size_t) -> c_int
        = |hooks, real| poll_all(&hooks, (fds, count), of_millis(timeout), real);
    fn ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int
        = |hooks, real| poll_all(&hooks, (fds, count), of_timespec(timeout), real);
    fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *mut timeval) -> c_int
        = |hooks, real| select_any(&hooks, count, [read, write, except], of_timeval(timeout), real);
    fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *const timespec,
        mask: *const sigset_t,
    ) -> c_int
        = |hooks, real| select_any(&hooks, count, [read, write, except], of_timespec(timeout), real);
    fn epoll_wait(fd: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int
        = |hooks, real| epoll_any(&hooks, (fd, events, most), of_millis(timeout), real);
    fn epoll_pwait(fd: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const sigset_t) -> c_int
        = |hooks, real| epoll_any(&hooks, (fd, events, most), of_millis(timeout), real);
}
