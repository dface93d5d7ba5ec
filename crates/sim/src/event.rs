//! What can happen, as one word.

use crate::id::NodeId;

/// Something that can happen at a node. A host need not look inside: it hands each event back when it lets it happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The message in this slot arrives.
    Message(u32),
    /// The clock of the node moves on to its next timer.
    Tick(NodeId),
    /// A step of a fault.
    Fault(u32),
    /// The sender of a message learns that it was rejected.
    Rejected(u32),
    /// The first chunk that this end of a stream has sent arrives.
    Chunk(u32),
    /// What the rule of the test holds at a node is let go.
    Release(NodeId),
}

const KIND_AT: u32 = 56;

impl Event {
    /// The event in one word.
    #[inline]
    pub fn word(self) -> u64 {
        let (kind, number) = match self {
            Event::Message(slot) => (0, slot),
            Event::Tick(node) => (1, node.0),
            Event::Fault(number) => (2, number),
            Event::Rejected(slot) => (3, slot),
            Event::Chunk(end) => (4, end),
            Event::Release(node) => (5, node.0),
        };
        kind << KIND_AT | u64::from(number)
    }

    /// The event of a word.
    ///
    /// # Panics
    ///
    /// If [`word`](Self::word) did not make it.
    #[inline]
    pub fn of(word: u64) -> Event {
        let number = word as u32;
        match word >> KIND_AT {
            0 => Event::Message(number),
            1 => Event::Tick(NodeId(number)),
            2 => Event::Fault(number),
            3 => Event::Rejected(number),
            4 => Event::Chunk(number),
            5 => Event::Release(NodeId(number)),
            other => panic!("{other} is not a kind of event"),
        }
    }
}
