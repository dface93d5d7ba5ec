//! Messages in flight.

use crate::id::NodeId;

/// A message in flight.
#[derive(Clone, Debug)]
pub(crate) struct Envelope<M> {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) message: M,
    /// The rule of the test has held it, and let it go.
    pub(crate) was_held: bool,
}

/// What is in flight, by slot.
pub(crate) struct InFlight<M> {
    slots: Vec<Option<Envelope<M>>>,
    free: Vec<u32>,
}

impl<M> InFlight<M> {
    pub(crate) fn new() -> Self {
        InFlight { slots: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn put(&mut self, envelope: Envelope<M>) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(envelope);
                slot
            }
            None => {
                self.slots.push(Some(envelope));
                self.slots.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, slot: u32) -> Envelope<M> {
        self.free.push(slot);
        self.slots[slot as usize].take().expect("a message arrives once")
    }
}
