//! Choices that nobody controls: which arm of a select a thread tries first.

use std::cell::Cell;

std::thread_local! {
    static STATE: Cell<u32> = const { Cell::new(0x9E37_79B9) };
}

/// One of `outcomes` alternatives, fairly enough that none starves.
pub(crate) fn any_of(outcomes: usize) -> usize {
    STATE.with(|state| {
        // Xorshift; its state is never 0.
        let mut x = state.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        state.set(x);
        x as usize % outcomes
    })
}
