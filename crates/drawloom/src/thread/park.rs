//! Parking: each task has one token, which `park` waits for and takes.

use std::time::Duration;

use super::sleep::nanos;
use crate::rt::{self, OpKind, Operation, ResourceId};

/// As [`std::thread::park`]. It may return without a token while the exploration's budget of
/// `spurious_wakeups` lasts.
#[track_caller]
pub fn park() {
    let site = rt::here();
    let Some(rt) = rt::current() else { return std::thread::park() };
    if !rt.wakes_spuriously(site) {
        rt.step(Operation::new(OpKind::Park, ResourceId::NONE, site));
    }
}

/// As [`std::thread::park_timeout`], in virtual time.
#[track_caller]
pub fn park_timeout(dur: Duration) {
    let site = rt::here();
    let Some(rt) = rt::current() else { return std::thread::park_timeout(dur) };
    if !rt.wakes_spuriously(site) {
        rt.step_with_timeout(Operation::new(OpKind::Park, ResourceId::NONE, site), nanos(dur));
    }
}

/// As [`std::thread::park_timeout_ms`], deprecated there too.
#[track_caller]
#[deprecated(note = "replaced by `park_timeout`")]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(u64::from(ms)));
}
