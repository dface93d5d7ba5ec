//! Choices and chance: a schedule repeats them.

use crate::execution::here;
use crate::place::{drawloom_loc, site};

/// One of `outcomes` alternatives, from 0: all of them are explored. 0 outside of a session.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_choose(outcomes: u64, at: *const drawloom_loc) -> u64 {
    let Ok(here) = here() else { return 0 };
    if outcomes == 0 {
        here.misuse("misuse: there is nothing to choose from".into(), site(at));
    }
    here.control().choose(outcomes, site(at))
}

/// As many outcomes as a draw of bits has.
const VARIANTS: u64 = 1 << 16;

/// 64 random bits: one choice of 65,536 outcomes, spread over all bits together with the task and the number of its draw. Not for
/// exhaustive exploration: `drawloom_choose` is. 0 outside of a session.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_random_u64(at: *const drawloom_loc) -> u64 {
    let Ok(here) = here() else { return 0 };
    let chosen = here.control().choose(VARIANTS, site(at));
    let draw = here.control().count_draw();
    let mut bits = chosen ^ (u64::from(here.running().0) << 16) ^ (draw << 40);
    // The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
    bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
