//! What can be wrong with a transactional history, by the names of the literature.
//!
//! Phenomena of Adya (*Weak Consistency*, 1999), named as Elle does (Kingsbury and Alvaro, VLDB 2020). Cycles are
//! made of write dependencies (ww), read dependencies (wr) and anti-dependencies (rw).

use std::fmt;

/// A kind of anomaly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Anomaly {
    /// An element stands twice in one list.
    Duplicate,
    /// A value was read that nobody wrote.
    Garbage,
    /// Two reads of a list, neither of which is a beginning of the other.
    IncompatibleOrder,
    /// A committed write follows one of an aborted transaction in the same list.
    DirtyUpdate,
    /// A transaction read what it wrote only later.
    FutureRead,
    /// A transaction did not read what it had itself written or read before.
    Internal,
    /// A committed transaction read a value of an aborted one.
    G1a,
    /// A transaction read a value that its writer itself replaced.
    G1b,
    /// Two transactions read the same version of a key, and both replaced it.
    LostUpdate,
    /// A cycle of dependencies.
    Cycle(Class, Suffix),
}

/// The class of a cycle: which edges it is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Write dependencies only: a dirty write.
    G0,
    /// Write and read dependencies, at least one of them a read dependency: circular information flow.
    G1c,
    /// Exactly one anti-dependency: read skew.
    GSingle,
    /// Several anti-dependencies, no two of them next to each other.
    GNonadjacent,
    /// Several anti-dependencies, two of them next to each other: write skew.
    G2Item,
}

/// Which other edges a cycle needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Suffix {
    /// None: it is made of dependencies.
    None,
    /// The order of a session.
    Process,
    /// Real time.
    Realtime,
}

impl Class {
    /// All classes, the worst first.
    pub const ALL: [Class; 5] = [Class::G0, Class::G1c, Class::GSingle, Class::GNonadjacent, Class::G2Item];
}

impl Suffix {
    /// All of them, the one that needs least first.
    pub const ALL: [Suffix; 3] = [Suffix::None, Suffix::Process, Suffix::Realtime];
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Anomaly::Duplicate => "duplicate-elements",
            Anomaly::Garbage => "garbage-read",
            Anomaly::IncompatibleOrder => "incompatible-order",
            Anomaly::DirtyUpdate => "dirty-update",
            Anomaly::FutureRead => "future-read",
            Anomaly::Internal => "internal",
            Anomaly::G1a => "G1a",
            Anomaly::G1b => "G1b",
            Anomaly::LostUpdate => "lost-update",
            Anomaly::Cycle(class, suffix) => {
                let class = match class {
                    Class::G0 => "G0",
                    Class::G1c => "G1c",
                    Class::GSingle => "G-single",
                    Class::GNonadjacent => "G-nonadjacent",
                    Class::G2Item => "G2-item",
                };
                let suffix = match suffix {
                    Suffix::None => "",
                    Suffix::Process => "-process",
                    Suffix::Realtime => "-realtime",
                };
                return write!(f, "{class}{suffix}");
            }
        };
        f.write_str(name)
    }
}

impl Anomaly {
    /// What it is, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Anomaly::Duplicate => "an element stands twice in one list",
            Anomaly::Garbage => "a value was read that no transaction wrote",
            Anomaly::IncompatibleOrder => "two reads of a list, neither of which is a beginning of the other",
            Anomaly::DirtyUpdate => "a committed write follows one of an aborted transaction",
            Anomaly::FutureRead => "a transaction read a value that it wrote only later",
            Anomaly::Internal => "a transaction did not see its own earlier write or read",
            Anomaly::G1a => "aborted read: a committed transaction read a value of an aborted one",
            Anomaly::G1b => "intermediate read: a transaction read a value that its writer itself replaced",
            Anomaly::LostUpdate => "two transactions read the same version of a key, and both replaced it",
            Anomaly::Cycle(class, _) => match class {
                Class::G0 => "dirty write: a cycle of writes that replace each other",
                Class::G1c => "circular information flow: a cycle of writes and reads of them",
                Class::GSingle => "read skew: a cycle with exactly one read of a version that was replaced",
                Class::GNonadjacent => "a cycle whose reads of replaced versions are never next to each other",
                Class::G2Item => "write skew: a cycle with reads of replaced versions next to each other",
            },
        }
    }
}
