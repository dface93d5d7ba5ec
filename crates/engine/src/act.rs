//! What a use of an object means to who reads of it: a lock of some library is an object to the engine.

/// What a step on an object does. It is the step's value; nothing but reports looks at it.
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
    /// Begins to wait, or goes on waiting.
    Waits,
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
}

impl Act {
    const ALL: [Act; 12] = [
        Act::Uses,
        Act::Locks,
        Act::LocksShared,
        Act::Unlocks,
        Act::Acquires,
        Act::Releases,
        Act::Waits,
        Act::Wakes,
        Act::WakesNobody,
        Act::Sends,
        Act::Receives,
        Act::Abandons,
    ];

    /// The value of such a step.
    pub fn code(self) -> u64 {
        self as u64
    }

    /// What a value stands for.
    pub fn of(code: u64) -> Act {
        usize::try_from(code).ok().and_then(|code| Act::ALL.get(code)).copied().unwrap_or(Act::Uses)
    }
}

#[cfg(test)]
mod tests {
    use super::Act;

    #[test]
    fn a_code_stands_for_its_act() {
        assert!(Act::ALL.into_iter().all(|act| Act::of(act.code()) == act));
        assert_eq!(Act::of(99), Act::Uses);
    }
}
