//! Waits that several parties may end: of a channel, of a select, of a task that can be cancelled.
//!
//! Who waits leaves a [`Wait`] with everybody who could end it. Whoever does so first wins: ending a wait
//! is one step on an object of its own, so every order of the candidates is explored, and none of them
//! has to know of the others.

#[cfg(feature = "controlled")]
mod controlled;
mod native;

use std::sync::Arc;

use crate::object::Object;
use crate::time::Instant;

#[cfg(feature = "controlled")]
pub(crate) use controlled::Owner;
#[cfg(feature = "controlled")]
use controlled::Signal;
#[cfg(not(feature = "controlled"))]
pub(crate) use native::Owner;
#[cfg(not(feature = "controlled"))]
use native::Signal;

/// Why a wait is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The party with this number has ended it.
    By(usize),
    /// The task was cancelled.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// Its owner has given it up.
    Withdrawn,
}

/// A wait that ends once.
pub struct Wait {
    ended: Object<Option<Ended>>,
    signal: Signal,
    owner: Owner,
}

impl Wait {
    #[track_caller]
    pub(crate) fn new() -> Arc<Wait> {
        Arc::new(Wait { ended: Object::new(None), signal: Signal::new(), owner: Owner::here() })
    }

    /// Of any two waits one is the elder, whatever the schedule.
    pub(crate) fn is_elder_than(&self, other: &Wait) -> bool {
        self.owner.is_elder_than(&other.owner)
    }

    /// Ends it, if it has not ended; the one who waits continues at [`release`](Self::release).
    #[track_caller]
    pub(crate) fn end(&self, why: Ended) -> bool {
        self.ended.update(|ended| {
            let first = ended.is_none();
            ended.get_or_insert(why);
            first
        })
    }

    /// Lets the one who waits continue. Only for who has ended the wait.
    #[track_caller]
    pub(crate) fn release(&self) {
        self.signal.set();
    }

    /// Ends it and lets the one who waits continue.
    #[track_caller]
    pub(crate) fn end_and_release(&self, why: Ended) -> bool {
        let first = self.end(why);
        if first {
            self.release();
        }
        first
    }

    /// Gives the wait up; if somebody else was quicker, says who.
    #[track_caller]
    pub(crate) fn withdraw(&self) -> Option<Ended> {
        self.give_up(Ended::Withdrawn)
    }

    /// Waits, until `deadline` at the latest.
    #[track_caller]
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> Ended {
        if !self.signal.wait(deadline) {
            return self.give_up(Ended::TimedOut).unwrap_or(Ended::TimedOut);
        }
        self.ended.look(|ended| ended.expect("who releases has ended the wait"))
    }

    #[track_caller]
    fn give_up(&self, why: Ended) -> Option<Ended> {
        if self.end(why) {
            return None;
        }
        // It is on its way.
        self.signal.wait(None);
        self.ended.look(|ended| *ended)
    }
}
