//! Random walk, plain and sticky.
//!
//! Every ready task is equally likely at every choice. An execution with b₁ … b_k ready tasks at its
//! choices has probability ∏ 1/bᵢ: fair with probability 1, but *not* uniform over interleavings;
//! tasks spawned late and short tasks are under-sampled. The sticky walk stays with the current task
//! with probability 1 − 2^−stickiness, so that longer undisturbed stretches occur.

use super::{Strategy, Tape, View};
use crate::finding::Divergence;
use crate::id::TaskId;

/// A random walk.
#[derive(Clone, Debug)]
pub struct Random {
    tape: Tape,
    stickiness: u32,
}

impl Random {
    /// The plain walk.
    pub fn new() -> Self {
        Random { tape: Tape::new(0), stickiness: 0 }
    }

    /// The walk that leaves the current task with probability 2^−`stickiness`.
    pub fn sticky(stickiness: u32) -> Self {
        Random { tape: Tape::new(0), stickiness }
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Random {
    fn begin(&mut self, seed: u64) {
        self.tape = Tape::new(seed);
    }

    fn uniform_tape(&mut self) -> Option<Tape> {
        (self.stickiness == 0).then(|| self.tape.clone())
    }

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        let ready = view.ready();
        if self.stickiness > 0
            && self.tape.bits() >> (64 - self.stickiness.min(63)) != 0
            && view.is_ready(view.current())
        {
            return Ok(view.current());
        }
        Ok(ready[self.tape.below(ready.len() as u64) as usize])
    }

    fn passes_over(&mut self, _task: TaskId, _view: &View<'_>) -> bool {
        self.tape.below(2) == 0
    }

    fn choose(&mut self, outcomes: u64, _view: &View<'_>) -> Result<u64, Box<Divergence>> {
        Ok(self.tape.below(outcomes))
    }
}
