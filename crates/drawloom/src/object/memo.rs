//! A number that a library keeps for each task: what a thread-local would be, for libraries that look at it at every step.

use std::cell::Cell;

use crate::rt;

std::thread_local! {
    static NATIVE: Cell<u8> = const { Cell::new(0) };
}

/// The running task's number, 0 at first. There is one for the whole program, so it belongs to the one library that stands for
/// the runtime that tasks run in.
#[inline]
pub fn memo() -> u8 {
    match rt::current() {
        Some(rt) => rt.memo(),
        None => NATIVE.try_with(Cell::get).unwrap_or_default(),
    }
}

/// Sets it.
#[inline]
pub fn set_memo(memo: u8) {
    match rt::current() {
        Some(rt) => rt.set_memo(memo),
        None => drop(NATIVE.try_with(|native| native.set(memo))),
    }
}
