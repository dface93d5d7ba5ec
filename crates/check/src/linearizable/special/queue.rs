//! Queues: the four violations of Henzinger, Sezgin and Vafeiadis, Aspect-oriented linearizability proofs (2013).
//!
//! A value is removed that was not inserted, or twice; a value inserted certainly before another is removed certainly
//! after it, or never; "empty" is said while something is certainly there.

use super::{Gathered, Life, NEVER, Seen, gather};

pub(super) fn decide(seen: &[Seen<'_>]) -> Option<bool> {
    let lives = match gather(seen) {
        Gathered::Unclear => return None,
        Gathered::Impossible => return Some(false),
        Gathered::Lives(lives) => lives,
    };
    Some(lives.empties_fit(&lives.occupied()) && in_order(&lives.lives))
}

/// Whether no value overtakes one that was certainly inserted before it.
fn in_order(lives: &[Life]) -> bool {
    let mut by_call: Vec<&Life> = lives.iter().filter(|life| life.remove.1 != NEVER).collect();
    by_call.sort_unstable_by_key(|life| life.insert.0);
    let mut by_return: Vec<&Life> = lives.iter().collect();
    by_return.sort_unstable_by_key(|life| life.insert.1);
    let mut inserted = by_return.into_iter().peekable();
    // The latest call of a remove among the values whose insert has returned.
    let mut latest = 0;
    by_call.into_iter().all(|life| {
        while let Some(before) = inserted.next_if(|before| before.insert.1 < life.insert.0) {
            latest = latest.max(before.remove.0);
        }
        latest <= life.remove.1
    })
}
