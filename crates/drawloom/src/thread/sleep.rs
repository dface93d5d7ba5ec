//! Waiting for time to pass, and for nothing at all.

use std::time::Duration;

use crate::rt::{self, OpKind};

/// As [`std::thread::sleep`], in virtual time: it costs nothing, and tasks wake in the order of their
/// deadlines. A sleep of no time at all is a [`yield_now`].
#[track_caller]
pub fn sleep(dur: Duration) {
    let Some(rt) = rt::current() else { return std::thread::sleep(dur) };
    if dur.is_zero() {
        return yield_now();
    }
    let deadline = rt.now_before_wait(rt::here()).saturating_add(nanos(dur));
    rt::bare(rt, OpKind::Sleep, deadline);
}

/// As [`std::thread::sleep_ms`], deprecated there too.
#[track_caller]
#[deprecated(note = "replaced by `sleep`")]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(u64::from(ms)));
}

/// As [`std::thread::yield_now`]: another task continues, if there is one that can.
#[track_caller]
pub fn yield_now() {
    match rt::current() {
        None => std::thread::yield_now(),
        Some(rt) => {
            rt::bare(rt, OpKind::Yield, 0);
        }
    }
}

/// Virtual time is counted in nanoseconds; what does not fit is "never", 584 years away.
pub(super) fn nanos(dur: Duration) -> u64 {
    u64::try_from(dur.as_nanos()).unwrap_or(u64::MAX)
}
