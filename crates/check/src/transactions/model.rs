//! Isolation levels, which of them implies which, and what each rules out.
//!
//! `read-uncommitted`, `read-committed`, `repeatable-read` and `serializable` are Adya's PL-1, PL-2, PL-2.99 and PL-3;
//! `consistent-view` is his PL-2+. Snapshot isolation is the generalised one: it forbids cycles without adjacent
//! anti-dependencies (Cerone and Gotsman, PODC 2016). The *strong* forms add real time, the *strong-session* forms
//! the order of sessions. The *session* levels are those of Biswas and Enea (OOPSLA 2019), which are never without
//! the order of sessions.

use std::fmt;

use super::anomaly::{Anomaly, Class, Suffix};

macro_rules! models {
    ($($(#[$doc:meta])* $variant:ident $name:literal implies [$($weaker:ident)*];)*) => {
        /// An isolation level.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Model {
            $($(#[$doc])* $variant,)*
        }

        impl Model {
            /// All levels; weaker ones stand before those that imply them.
            pub const ALL: &'static [Model] = &[$(Model::$variant),*];

            /// The name in files, options and reports.
            pub fn name(self) -> &'static str {
                match self { $(Model::$variant => $name,)* }
            }

            fn directly_implies(self) -> &'static [Model] {
                match self { $(Model::$variant => &[$(Model::$weaker),*],)* }
            }
        }
    };
}

models! {
    /// Writes do not interleave.
    ReadUncommitted "read-uncommitted" implies [];
    /// What is read was committed.
    ReadCommitted "read-committed" implies [ReadUncommitted];
    /// Transactions agree with themselves, and are seen as a whole.
    ReadAtomic "read-atomic" implies [ReadCommitted];
    /// What is read fits a state in which transactions are whole.
    ConsistentView "consistent-view" implies [ReadCommitted];
    /// Nothing that was read has changed when the transaction commits.
    RepeatableRead "repeatable-read" implies [ConsistentView];
    /// All reads are from one state, and no write of it is lost.
    SnapshotIsolation "snapshot-isolation" implies [ReadAtomic ConsistentView];
    /// As if one after the other.
    Serializable "serializable" implies [RepeatableRead SnapshotIsolation];
    /// Read uncommitted, in the order of sessions.
    StrongSessionReadUncommitted "strong-session-read-uncommitted" implies [ReadUncommitted];
    /// Read committed, in the order of sessions.
    StrongSessionReadCommitted "strong-session-read-committed" implies [ReadCommitted StrongSessionReadUncommitted];
    /// What is read later in a transaction is not older than what it has read before.
    SessionReadCommitted "session-read-committed" implies [StrongSessionReadCommitted];
    /// Transactions are seen as a whole, also those before in the session.
    SessionReadAtomic "session-read-atomic" implies [ReadAtomic SessionReadCommitted];
    /// What is seen was preceded by everything that its writer had seen.
    Causal "causal" implies [SessionReadAtomic];
    /// Snapshot isolation, in the order of sessions.
    StrongSessionSnapshotIsolation "strong-session-snapshot-isolation" implies [SnapshotIsolation Causal];
    /// Serializable, in the order of sessions.
    StrongSessionSerializable "strong-session-serializable" implies [Serializable StrongSessionSnapshotIsolation];
    /// Read uncommitted, in real time.
    StrongReadUncommitted "strong-read-uncommitted" implies [StrongSessionReadUncommitted];
    /// Read committed, in real time.
    StrongReadCommitted "strong-read-committed" implies [StrongSessionReadCommitted StrongReadUncommitted];
    /// Snapshot isolation, in real time.
    StrongSnapshotIsolation "strong-snapshot-isolation" implies [StrongSessionSnapshotIsolation StrongReadCommitted];
    /// As if one after the other, each between its call and its end.
    StrictSerializable "strict-serializable" implies [StrongSessionSerializable StrongSnapshotIsolation];
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Model {
    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Model> {
        Model::ALL.iter().copied().find(|model| model.name() == name)
    }

    /// Whether a history of this level is one of the other.
    pub fn implies(self, other: Model) -> bool {
        self == other || self.directly_implies().iter().any(|weaker| weaker.implies(other))
    }
}

impl Anomaly {
    /// The weakest levels that do not allow it.
    pub fn rules_out(self) -> &'static [Model] {
        use Model::*;
        match self {
            Anomaly::Duplicate | Anomaly::Garbage => &[ReadUncommitted],
            Anomaly::IncompatibleOrder | Anomaly::DirtyUpdate | Anomaly::FutureRead => &[ReadCommitted],
            Anomaly::G1a | Anomaly::G1b => &[ReadCommitted],
            Anomaly::Internal => &[ReadAtomic],
            // Whichever of the two writes came first: the other one closes a cycle with one anti-dependency.
            Anomaly::LostUpdate => &[ConsistentView],
            Anomaly::Cycle(class, suffix) => match (class, suffix) {
                (Class::G0, Suffix::None) => &[ReadUncommitted],
                (Class::G1c, Suffix::None) => &[ReadCommitted],
                (Class::GSingle, Suffix::None) => &[ConsistentView],
                (Class::GNonadjacent, Suffix::None) => &[RepeatableRead, SnapshotIsolation],
                (Class::G2Item, Suffix::None) => &[RepeatableRead],
                (Class::G0, Suffix::Process) => &[StrongSessionReadUncommitted],
                (Class::G1c, Suffix::Process) => &[StrongSessionReadCommitted],
                (Class::GSingle | Class::GNonadjacent, Suffix::Process) => &[StrongSessionSnapshotIsolation],
                (Class::G2Item, Suffix::Process) => &[StrongSessionSerializable],
                (Class::G0, Suffix::Realtime) => &[StrongReadUncommitted],
                (Class::G1c, Suffix::Realtime) => &[StrongReadCommitted],
                (Class::GSingle | Class::GNonadjacent, Suffix::Realtime) => &[StrongSnapshotIsolation],
                (Class::G2Item, Suffix::Realtime) => &[StrictSerializable],
            },
        }
    }
}

/// Levels that a history has been shown not to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuledOut(u32);

impl RuledOut {
    /// Rules out a level, and so all that imply it.
    pub fn add(&mut self, model: Model) {
        for other in Model::ALL.iter().filter(|other| other.implies(model)) {
            self.0 |= 1 << *other as u32;
        }
    }

    /// Rules out what an anomaly rules out.
    pub fn add_anomaly(&mut self, anomaly: Anomaly) {
        anomaly.rules_out().iter().for_each(|model| self.add(*model));
    }

    /// Whether a level is ruled out.
    pub fn contains(self, model: Model) -> bool {
        self.0 & (1 << model as u32) != 0
    }

    /// Whether everything that the anomaly rules out is ruled out already.
    pub(super) fn covers(self, anomaly: Anomaly) -> bool {
        anomaly.rules_out().iter().all(|model| self.contains(*model))
    }

    pub(super) fn union(self, other: RuledOut) -> RuledOut {
        RuledOut(self.0 | other.0)
    }

    /// Whether nothing is ruled out.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The weakest levels that are ruled out.
    pub fn weakest(self) -> Vec<Model> {
        let out = |model: &Model| self.contains(*model);
        let minimal = |model: &Model| !Model::ALL.iter().any(|m| m != model && out(m) && model.implies(*m));
        Model::ALL.iter().copied().filter(|model| out(model) && minimal(model)).collect()
    }

    /// The strongest levels that are still possible.
    pub fn strongest_possible(self) -> Vec<Model> {
        let possible = |model: &Model| !self.contains(*model);
        let maximal = |model: &Model| !Model::ALL.iter().any(|m| m != model && possible(m) && m.implies(*model));
        Model::ALL.iter().copied().filter(|model| possible(model) && maximal(model)).collect()
    }
}
