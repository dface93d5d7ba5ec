//! What happens in an exploration, while it happens: a stream of plain values.
//!
//! Whoever explores prints nothing. It tells a [`Listener`], and what is shown of it is the listener's affair: the bar of
//! the harness (`progress`) is one. Nothing that a listener does can reach a choice.

/// Something that happened. Where several workers explore, the order of their events is chance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An exploration begins. One that goes through levels, or follows a schedule twice, begins several times.
    Started {
        /// Of this test.
        test: String,
        /// Executions to make; `None` if nobody knows how many there are.
        planned: Option<u64>,
    },
    /// So many more executions are over. In long explorations not each is told of, and the last ones may not be at all;
    /// [`Ended`](Self::Ended) has their number.
    Ran {
        /// How many.
        executions: u64,
    },
    /// An execution failed.
    Found {
        /// The kind of the finding in one word.
        kind: &'static str,
        /// The number of the execution, from 1.
        iteration: u64,
    },
    /// How many executions there are to be made, by an estimate; only if a listener [asks](Listener::wants_progress).
    Progress {
        /// How many.
        estimate: u64,
    },
    /// No further executions are made. What was found is minimised and explained after that.
    Ended {
        /// Executions made.
        executions: u64,
        /// Those that failed.
        failing: u64,
    },
}

/// Hears what happens. Several workers may tell it something at once.
pub trait Listener: Sync {
    /// This has happened.
    fn hear(&self, event: &Event);

    /// Whether it is time to say how far the exploration has come: to find that out takes time. Asked after executions.
    fn wants_progress(&self) -> bool {
        false
    }
}

/// Nobody listens.
impl Listener for () {
    fn hear(&self, _: &Event) {}
}

/// Tells `listener` that executions are over and, if it wants to know, how many there will be.
pub(super) fn ran(listener: &dyn Listener, executions: u64, estimate: impl FnOnce() -> u64) {
    listener.hear(&Event::Ran { executions });
    if listener.wants_progress() {
        listener.hear(&Event::Progress { estimate: estimate() });
    }
}
