//! `std::hint`, under control: a spinning task lets others go on.

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

use crate::rt::{self, OpKind};

/// As [`std::hint::spin_loop`]: inside an exploration another task goes on, if there is one that can.
#[inline]
#[track_caller]
pub fn spin_loop() {
    match rt::current() {
        None => std::hint::spin_loop(),
        Some(rt) => {
            rt::bare(rt, OpKind::Yield, 0);
        }
    }
}

/// As std's `select_unpredictable`: one of the two values.
#[inline]
pub fn select_unpredictable<T>(condition: bool, true_val: T, false_val: T) -> T {
    if condition { true_val } else { false_val }
}

/// As std's `cold_path`: says that this path is rarely taken.
#[cold]
#[inline(never)]
pub const fn cold_path() {}
