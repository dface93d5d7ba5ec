//! Waiting for several channels at once.
//!
//! First the arms are tried one after the other, beginning with any of them: a choice. If none can continue,
//! a wait is left at all of them; whoever ends it says which arm to try again.
//!
//! Two selects that meet at a rendezvous must not wait for each other. The one that comes second sees the
//! first. If it is the elder by spawn path it gives its own wait up and takes the other by its hand; if it
//! is the younger it wakes the elder, which then does.

use std::sync::Arc;

use super::core::Registered;
use crate::rt;
use crate::task::Cancellable;
use crate::time::Instant;
use crate::wait::{Ended, Wait};

/// An arm of a select: an operation on a channel, and its result when it was carried out.
pub trait Arm {
    /// Whether it can continue when its time has come, without anybody's doing.
    fn is_timed(&self) -> bool;
    /// Tries it; nobody is told if that fails.
    fn attempt(&mut self) -> bool;
    /// As the only arm there is: tries it, or leaves `wait` at the channel.
    fn attempt_or_wait(&mut self, wait: &Arc<Wait>) -> bool;
    /// Leaves `wait` at the channel, as arm number `index`.
    fn register(&mut self, wait: &Arc<Wait>, index: usize) -> Registered;
    /// Takes back what was left.
    fn withdraw(&mut self, wait: &Arc<Wait>);
    /// The wait was ended as this arm: tries again, unless it was carried out by who has ended it.
    fn finish(&mut self) -> bool;
}

/// How long a select waits.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// Not at all.
    None,
    /// Until an instant.
    Until(Instant),
    /// For ever.
    Endless,
}

/// Carries out one of `arms` and says which; none if it takes too long.
///
/// Unwinds a task that is cancelled meanwhile.
#[track_caller]
pub fn select(arms: &mut [&mut dyn Arm], patience: Patience) -> Option<usize> {
    if let ([arm], Patience::Until(_) | Patience::Endless) = (&mut *arms, patience) {
        if !arm.is_timed() {
            return select_one(&mut **arm, patience).then_some(0);
        }
    }
    loop {
        let first = if arms.len() > 1 { rt::any_of(arms.len()) } else { 0 };
        for index in (first..arms.len()).chain(0..first) {
            if arms[index].attempt() {
                return Some(index);
            }
        }
        let deadline = match patience {
            Patience::None => return None,
            Patience::Until(deadline) => Some(deadline),
            Patience::Endless => None,
        };
        match wait_for_any(arms, deadline) {
            Ended::By(index) if arms[index].finish() => return Some(index),
            Ended::By(_) | Ended::Withdrawn => {}
            Ended::TimedOut => return None,
            Ended::Cancelled => crate::task::unwind(),
        }
    }
}

/// A select of one arm, in as few steps as that takes.
#[track_caller]
fn select_one(arm: &mut dyn Arm, patience: Patience) -> bool {
    let deadline = match patience {
        Patience::Until(deadline) => Some(deadline),
        _ => None,
    };
    loop {
        let wait = Wait::new();
        let cancellable = Cancellable::begin(&wait);
        if arm.attempt_or_wait(&wait) {
            cancellable.end();
            return true;
        }
        let ended = wait.wait(deadline);
        if !matches!(ended, Ended::By(_)) {
            arm.withdraw(&wait);
        }
        cancellable.end();
        match ended {
            Ended::By(_) if arm.finish() => return true,
            Ended::By(_) | Ended::Withdrawn => {}
            Ended::TimedOut => return false,
            Ended::Cancelled => crate::task::unwind(),
        }
    }
}

#[track_caller]
fn wait_for_any(arms: &mut [&mut dyn Arm], deadline: Option<Instant>) -> Ended {
    let wait = Wait::new();
    let cancellable = Cancellable::begin(&wait);
    let mut needless = false;
    let mut due: Option<Instant> = None;
    for (index, arm) in arms.iter_mut().enumerate() {
        match arm.register(&wait, index) {
            Registered::Waits => {}
            Registered::Until(instant) => due = Some(due.map_or(instant, |due| due.min(instant))),
            Registered::Ready => needless = true,
            Registered::Meets(other, _) if wait.is_elder_than(&other) => needless = true,
            Registered::Meets(other, arm) => {
                other.end_and_release(Ended::By(arm));
            }
        }
    }
    // Of an arm that can go on at the very instant at which patience ends, the arm comes first.
    let first_due = due.filter(|due| deadline.is_none_or(|deadline| *due <= deadline));
    let ended = match needless {
        true => wait.withdraw().unwrap_or(Ended::Withdrawn),
        false => match wait.wait(first_due.or(deadline)) {
            Ended::TimedOut if first_due.is_some() => Ended::Withdrawn,
            ended => ended,
        },
    };
    for (index, arm) in arms.iter_mut().enumerate() {
        if ended != Ended::By(index) {
            arm.withdraw(&wait);
        }
    }
    cancellable.end();
    ended
}
