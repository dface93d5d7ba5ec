//! Waits of which the other runtime knows more than the engine: a lock of an event loop is none of the engine's.
//!
//! To the engine such a task is parked, and nobody is known to hold what it waits for. So when nobody can go on, and before
//! anything is unwound, the runtime is asked once: what it says replaces what the engine could tell.

use drawloom_engine::finding::{Blocked, Deadlock, Finding, FindingKind};
use drawloom_engine::{Ending, OpKind, Site, TaskId};

use crate::runtime::{Baton, Inner};

/// A wait, as the runtime tells it.
pub struct Wait {
    /// Waits. Its blockers hold it for certain, or are what is waited for.
    pub blocked: Blocked,
    /// Others that would end the wait if they could go on, as far as that can be guessed.
    pub likely: Vec<(TaskId, Site)>,
}

impl Baton {
    /// Asks what is known of those who wait, if they wait for ever.
    pub fn hear_of_waits(self) {
        let inner = self.inner();
        if found(inner).is_none() || inner.told.is_some() || inner.engine.is_tearing_down() {
            return;
        }
        // Code of the runtime may run: nothing is borrowed.
        let waits = (inner.foreign.waits)(self);
        if waits.is_empty() {
            return;
        }
        let inner = self.inner();
        let Some((finding, found)) = found(inner) else { return };
        let with = |likely: bool| {
            let all = waits.iter().map(|wait| {
                let mut blocked = wait.blocked.clone();
                blocked.blockers.extend(wait.likely.iter().filter(|_| likely));
                blocked
            });
            inner.engine.with_declared(found, all.collect())
        };
        // A guess counts only if it closes a circle: that somebody waits for one who is stuck for another reason is not known.
        let guessed = with(true);
        let mut deadlock = if guessed.cycle.is_empty() { with(false) } else { guessed };
        // Who waits behind somebody that nobody wakes is no deadlock: that all waits chain up, from main's on, is not told then.
        if found.is_starvation() && deadlock.cycle.is_empty() && !deadlock.is_starvation() {
            let main = deadlock.blocked.iter_mut().filter(|b| b.task == TaskId::MAIN && b.kind == OpKind::Join);
            main.for_each(|b| b.blockers.clear());
        }
        // Of several that are waited for, the one in the circle is named.
        let cycle = deadlock.cycle.iter().zip(deadlock.cycle.iter().cycle().skip(1));
        for (task, next) in cycle {
            let joins = deadlock.blocked.iter_mut().find(|b| b.task == *task && b.kind == OpKind::Join);
            joins.into_iter().for_each(|b| b.arg = u64::from(next.0));
        }
        let kind = FindingKind::Deadlock(Box::new(deadlock));
        inner.told = Some(Ending::Failed(Finding { kind, ..*finding }));
    }
}

/// The finding of those who wait for ever.
fn found(inner: &Inner) -> Option<(&Finding, &Deadlock)> {
    let finding = inner.engine.finding()?;
    match &finding.kind {
        FindingKind::Deadlock(found) => Some((finding, found)),
        _ => None,
    }
}
