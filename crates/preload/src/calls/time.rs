//! Sleeping, in virtual time.

use std::ffi::{c_int, c_uint};

use libc::{clockid_t, timespec};

use crate::abi::{Answer, FOR_EVER};
use crate::act::{Returned, failed};
use crate::hooked::Asked;
use crate::real::interpose;

/// Lets so many nanoseconds pass, as waits for nothing do; none of them take any time.
pub(super) fn pause<R: Returned + Default>(hooks: &Asked, nanos: u64, mut plain: impl FnMut() -> R) -> R {
    if nanos == FOR_EVER {
        return plain();
    }
    match hooks.sleep(nanos) {
        Answer::PLAIN => plain(),
        Answer::TORN_DOWN => failed(libc::EINTR),
        _ => R::default(),
    }
}

/// # Safety
/// `time` is null, or points to one.
unsafe fn nanos(time: *const timespec) -> u64 {
    // SAFETY: as the caller says.
    unsafe { time.as_ref() }.map_or(0, |time| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

interpose! {
    fn usleep(micros: c_uint) -> c_int = |hooks, real| pause(&hooks, u64::from(micros) * 1000, real);
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int
        = |hooks, real| pause(&hooks, nanos(time), real);
    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int
        = |hooks, real| match flags & libc::TIMER_ABSTIME {
            0 => match hooks.sleep(nanos(time)) {
                Answer::PLAIN => real(),
                Answer::TORN_DOWN => libc::EINTR,
                _ => 0,
            },
            // Until when somebody sleeps by a clock on the wall is that clock's business.
            _ => real(),
        };
    fn sleep(seconds: c_uint) -> c_uint = |hooks, real| {
        pause(&hooks, u64::from(seconds) * 1_000_000_000, || real() as c_int).max(0) as c_uint
    };
}
