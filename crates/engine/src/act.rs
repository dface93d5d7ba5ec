//! What a use of an object means: a lock of some library is an object to the engine, which is told what is done to it.

use crate::id::TaskId;

/// What a step on an object does. It is the step's value. No choice depends on it; who waits for whom does, and reports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    /// Anything.
    Uses,
    /// Takes a lock.
    Locks,
    /// Takes a lock that others may have, too.
    LocksShared,
    /// Gives a lock back.
    Unlocks,
    /// Takes permits.
    Acquires,
    /// Gives permits back, or adds some.
    Releases,
    /// Ends the wait of somebody.
    Wakes,
    /// Would have ended one, and nobody waits.
    WakesNobody,
    /// Passes something on.
    Sends,
    /// Gets what was passed on.
    Receives,
    /// Is dropped while it waits.
    Abandons,
    /// Begins to wait, or goes on waiting.
    Awaits(Awaited),
}

/// What is waited for at an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Awaited {
    /// Something that has no name.
    Change,
    /// A lock that one task has at a time.
    Lock,
    /// A reader–writer lock, to read.
    ReadLock,
    /// The same, to write.
    WriteLock,
    /// Permits of a semaphore.
    Permits,
    /// Room in a channel.
    Room,
    /// A message of a channel.
    Message,
    /// A notification.
    Notification,
    /// The end of a task.
    Task(TaskId),
    /// That as many have come as are expected.
    Others,
    /// A value that somebody sets.
    Value,
    /// A value that somebody else is making.
    Init,
}

impl Awaited {
    /// The word of such a wait, in records: the method that is called for it.
    pub fn word(self) -> &'static str {
        match self {
            Awaited::Change | Awaited::Value => "await",
            Awaited::Lock => "lock",
            Awaited::ReadLock => "read",
            Awaited::WriteLock => "write",
            Awaited::Permits => "acquire",
            Awaited::Room => "send",
            Awaited::Message => "recv",
            Awaited::Notification => "notified",
            Awaited::Task(_) => "join",
            Awaited::Others => "barrier wait",
            Awaited::Init => "get_or_init",
        }
    }
}

/// The operand of a code is in the bits from here on.
const OPERAND: u32 = 8;

/// The acts by their codes, which are in traces: append only, and not beyond 255.
const ACTS: [Act; 23] = [
    Act::Uses,
    Act::Locks,
    Act::LocksShared,
    Act::Unlocks,
    Act::Acquires,
    Act::Releases,
    Act::Awaits(Awaited::Change),
    Act::Wakes,
    Act::WakesNobody,
    Act::Sends,
    Act::Receives,
    Act::Abandons,
    Act::Awaits(Awaited::Lock),
    Act::Awaits(Awaited::ReadLock),
    Act::Awaits(Awaited::WriteLock),
    Act::Awaits(Awaited::Permits),
    Act::Awaits(Awaited::Room),
    Act::Awaits(Awaited::Message),
    Act::Awaits(Awaited::Notification),
    Act::Awaits(Awaited::Task(TaskId::NONE)),
    Act::Awaits(Awaited::Others),
    Act::Awaits(Awaited::Value),
    Act::Awaits(Awaited::Init),
];

impl Act {
    /// The value of such a step.
    pub fn code(self) -> u64 {
        match self {
            Act::Uses => 0,
            Act::Locks => 1,
            Act::LocksShared => 2,
            Act::Unlocks => 3,
            Act::Acquires => 4,
            Act::Releases => 5,
            Act::Awaits(Awaited::Change) => 6,
            Act::Wakes => 7,
            Act::WakesNobody => 8,
            Act::Sends => 9,
            Act::Receives => 10,
            Act::Abandons => 11,
            Act::Awaits(Awaited::Lock) => 12,
            Act::Awaits(Awaited::ReadLock) => 13,
            Act::Awaits(Awaited::WriteLock) => 14,
            Act::Awaits(Awaited::Permits) => 15,
            Act::Awaits(Awaited::Room) => 16,
            Act::Awaits(Awaited::Message) => 17,
            Act::Awaits(Awaited::Notification) => 18,
            Act::Awaits(Awaited::Task(task)) => 19 | u64::from(task.0) << OPERAND,
            Act::Awaits(Awaited::Others) => 20,
            Act::Awaits(Awaited::Value) => 21,
            Act::Awaits(Awaited::Init) => 22,
        }
    }

    /// What a value stands for.
    pub fn of(code: u64) -> Act {
        let kind = code & ((1 << OPERAND) - 1);
        match ACTS.get(kind as usize).copied() {
            Some(Act::Awaits(Awaited::Task(_))) => Act::Awaits(Awaited::Task(TaskId((code >> OPERAND) as u32))),
            known => known.unwrap_or(Act::Uses),
        }
    }

    /// Whether it waits.
    pub fn waits(self) -> bool {
        matches!(self, Act::Awaits(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTS, Act, Awaited};
    use crate::id::TaskId;

    #[test]
    fn a_code_stands_for_its_act() {
        for (code, act) in (0..).zip(ACTS) {
            assert_eq!((Act::of(act.code()), act.code() & 255), (act, code));
        }
        let joins = Act::Awaits(Awaited::Task(TaskId(70_000)));
        assert_eq!(Act::of(joins.code()), joins);
        assert_eq!(Act::of(255), Act::Uses);
    }
}
