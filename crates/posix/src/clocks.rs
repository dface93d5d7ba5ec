//! Clocks are virtual: a sleep takes no time, and each execution begins at the same instant.

use std::ffi::{c_int, c_uint, c_void};

use drawloom_capi as capi;

use crate::cancel;
use crate::objects::At;

/// `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) seconds: i64,
    pub(crate) nanos: i64,
}

const SECOND: u64 = 1_000_000_000;
/// What clocks of the real time show when an execution begins: the first second of 2024. Others begin at 0.
const BEGIN: u64 = 1_704_067_200 * SECOND;
const REALTIME: c_int = 0;
/// A flag: not for how long, but until when.
const ABSOLUTE: c_int = 1;

fn now(at: At) -> u64 {
    let mut nanos = 0;
    capi::drawloom_now_ns(&raw mut nanos, at);
    nanos
}

impl Deadline {
    fn nanos(self) -> u64 {
        let seconds = u64::try_from(self.seconds).unwrap_or_default();
        seconds.saturating_mul(SECOND).saturating_add(u64::try_from(self.nanos).unwrap_or_default())
    }
}

/// Nanoseconds until an instant, of whichever clock: those of the real time are later than any other can be.
pub(crate) fn left_until(deadline: *const Deadline, at: At) -> u64 {
    // SAFETY: the caller of the C function vouches for the pointer if it is not null.
    let Some(deadline) = (unsafe { deadline.as_ref() }) else { return 0 };
    let instant = deadline.nanos();
    let since_begin = if instant >= BEGIN { instant - BEGIN } else { instant };
    since_begin.saturating_sub(now(at))
}

fn write(place: *mut Deadline, nanos: u64) {
    if !place.is_null() {
        // SAFETY: it is not null, and the caller vouches for it.
        unsafe { *place = Deadline { seconds: (nanos / SECOND) as i64, nanos: (nanos % SECOND) as i64 } };
    }
}

fn sleep_nanos(nanos: u64, at: At) {
    cancel::point(at);
    capi::drawloom_sleep_ns(nanos, at);
    cancel::point(at);
}

pub(crate) fn sleep_for(length: *const Deadline, at: At) {
    // SAFETY: the caller of the C function vouches for the pointer if it is not null.
    if let Some(length) = unsafe { length.as_ref() } {
        sleep_nanos(length.nanos(), at);
    }
}

define! {
    nanosleep/2(length: *const Deadline, left: *mut Deadline) -> c_int |at| {
        sleep_for(length, at);
        write(left, 0);
        0
    }
    usleep/1(micros: c_uint) -> c_int |at| {
        sleep_nanos(u64::from(micros) * 1000, at);
        0
    }
    sleep/1(seconds: c_uint) -> c_uint |at| {
        sleep_nanos(u64::from(seconds) * SECOND, at);
        0
    }
    clock_nanosleep/4(clock: c_int, flags: c_int, length: *const Deadline, left: *mut Deadline) -> c_int |at| {
        let _ = clock;
        if flags & ABSOLUTE == 0 {
            sleep_for(length, at);
            write(left, 0);
        } else {
            sleep_nanos(left_until(length, at), at);
        }
        0
    }
    clock_gettime/2(clock: c_int, time: *mut Deadline) -> c_int |at| {
        let begin = if clock == REALTIME { BEGIN } else { 0 };
        write(time, begin + now(at));
        0
    }
    time/1(place: *mut i64) -> i64 |at| {
        let seconds = ((BEGIN + now(at)) / SECOND) as i64;
        if !place.is_null() {
            // SAFETY: it is not null, and the caller vouches for it.
            unsafe { *place = seconds };
        }
        seconds
    }
    gettimeofday/2(place: *mut Deadline, zone: *mut c_void) -> c_int |at| {
        let _ = zone;
        let nanos = BEGIN + now(at);
        if !place.is_null() {
            // SAFETY: it is not null, and the caller vouches for it: a `struct timeval`, which has microseconds there.
            unsafe { *place = Deadline { seconds: (nanos / SECOND) as i64, nanos: (nanos % SECOND / 1000) as i64 } };
        }
        0
    }
}
