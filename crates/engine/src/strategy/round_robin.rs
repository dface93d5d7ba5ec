//! Round-robin: every choice goes to the next ready task in cyclic order of spawn paths.

use super::{Strategy, View, sequential};
use crate::finding::Divergence;
use crate::id::TaskId;

/// Lets ready tasks take turns.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin;

impl Strategy for RoundRobin {
    fn begin(&mut self, _seed: u64) {}

    fn pick(&mut self, view: &View<'_>) -> Result<TaskId, Box<Divergence>> {
        Ok(sequential::after(view, view.current()))
    }
}
