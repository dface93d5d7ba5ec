//! Loops that wait for an atomic to change: who looks again and sees the same lets others go on.
//!
//! A program of C seldom says that it spins: `while (atomic_load(&ready) == 0);` has no call that could be a hint. Such a loop would run to the limit
//! of steps in every schedule that does not preempt it. A yield changes no set of outcomes, so one too many does no harm.

use drawloom_engine::{OpKind, Operation, ResourceId, Site};

use crate::execution::Here;

/// A loop may look at so many atomics in turn.
const MOST: usize = 4;

/// What a task has seen since it last changed anything: by place and address, a value.
#[derive(Clone, Copy, Default)]
pub(crate) struct Looks {
    seen: [(usize, usize, u64); MOST],
    count: usize,
}

impl Looks {
    /// Whether the same was seen before. A place at which something else is seen is a new one.
    fn again(&mut self, look: (usize, usize, u64)) -> bool {
        if self.seen[..self.count].contains(&look) {
            self.count = 0;
            return true;
        }
        self.count = if self.count == MOST { 0 } else { self.count };
        self.seen[self.count] = look;
        self.count += 1;
        false
    }
}

impl Here {
    /// The running task has seen `value`, and changed nothing.
    #[inline]
    pub(crate) fn has_looked(&self, address: usize, value: u64, site: Site) {
        let me = self.running();
        if self.state().tasks[me.index()].looks.again((site.0, address, value)) {
            self.control().step(Operation::new(OpKind::Yield, ResourceId::NONE, site));
        }
    }

    /// The running task has changed an atomic.
    #[inline]
    pub(crate) fn has_changed(&self) {
        let me = self.running();
        self.state().tasks[me.index()].looks.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_sees_what_the_last_one_saw_is_known() {
        let mut looks = Looks::default();
        let round = [(1, 10, 0), (2, 20, 1)];
        assert_eq!(round.map(|look| looks.again(look)), [false, false]);
        assert_eq!(round.map(|look| looks.again(look)), [true, false]);
        assert_eq!(round.map(|look| looks.again(look)), [false, true]);
        assert!(!looks.again((1, 10, 7)));
    }
}
