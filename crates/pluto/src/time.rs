//! Clocks are virtual: they begin at the same instant in every execution, and a sleep takes no time.

use drawloom_capi as capi;

use crate::cancel;
use crate::foreign::Word;
use crate::state::{Mode, mode};

/// What the wall clock shows when an execution begins: the first second of 2024.
const BEGIN: Word = 1_704_067_200_000_000_000;

pub(crate) extern "C" fn now(returns_to: usize) -> Word {
    if mode() == Mode::Outside {
        return 0;
    }
    let mut nanos = 0;
    capi::drawloom_now_ns(&raw mut nanos, capi::place::loc_of_address(returns_to));
    nanos as Word
}

pub(crate) extern "C" fn wall(returns_to: usize) -> Word {
    BEGIN + now(returns_to)
}

pub(crate) extern "C" fn sleep(nanos: Word, returns_to: usize) {
    if mode() == Mode::Outside {
        return;
    }
    let at = capi::place::loc_of_address(returns_to);
    if !cancel::is_over(at) {
        capi::drawloom_sleep_ns(u64::try_from(nanos).unwrap_or_default(), at);
    }
}
