//! Protocols of distributed systems with one known bug each, and without it.
//!
//! Every protocol is a few state machines. The first parameter of its function says whether it is the fixed twin.

mod abd;
mod crdt;
mod lease;
mod once;
mod paxos;
mod raft_election;
mod raft_log;
mod replication;
mod two_phase;
mod wal;

pub use abd::register_of;
pub use raft_election::one_election;

/// How hard a bug is said to be to find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Difficulty {
    /// A random walk finds it within 100 executions.
    Easy,
    /// PCT or POS find it within 10,000.
    Medium,
}

/// A protocol with a known bug.
#[derive(Clone, Copy)]
pub struct Protocol {
    /// Its name.
    pub name: &'static str,
    /// What is wrong with it.
    pub bug: &'static str,
    /// What must hold, and does not.
    pub property: &'static str,
    /// How hard the bug is said to be to find.
    pub difficulty: Difficulty,
    /// The fewest faults that show it.
    pub faults: u64,
    /// One execution with the bug.
    pub buggy: fn(),
    /// One execution without.
    pub fixed: fn(),
}

macro_rules! protocols {
    ($($name:literal $module:ident::$function:ident, $difficulty:ident, $faults:literal, $bug:literal, $property:literal;)*) => {
        /// All protocols.
        pub static PROTOCOLS: &[Protocol] = &[$(Protocol {
            name: $name,
            bug: $bug,
            property: $property,
            difficulty: Difficulty::$difficulty,
            faults: $faults,
            buggy: || $module::$function(false),
            fixed: || $module::$function(true),
        }),*];
    };
}

protocols! {
    "follower read" replication::follower_read, Easy, 0,
        "a write is acknowledged before the follower has it", "linearizable";
    "fail-over" replication::fail_over, Easy, 0,
        "a write is acknowledged before the follower has it", "linearizable";
    "2PC: log" two_phase::decision_is_logged_late, Easy, 1,
        "the decision is sent before it is on disk", "atomic";
    "2PC: time-out" two_phase::participant_gives_up, Easy, 0,
        "a participant that has voted yes aborts by itself", "atomic";
    "lease" lease::lease, Easy, 0,
        "the store looks at no fencing token", "one holder at a time";
    "ABD" abd::register, Medium, 0,
        "a read writes nothing back", "linearizable";
    "Raft: vote" raft_election::vote_is_forgotten, Easy, 1,
        "a vote is not on disk before it is given", "one leader a term";
    "Raft: term" raft_election::late_vote_counts, Medium, 0,
        "a vote of an older term counts", "one leader a term";
    "Raft: gap" raft_log::gap, Medium, 0,
        "entries are appended without a look at those before", "logs match";
    "Raft: stale append" raft_log::stale_append, Medium, 0,
        "a late append cuts off newer entries", "a leader has what was committed";
    "Raft: read" raft_log::stale_read, Medium, 0,
        "a deposed leader answers reads", "linearizable";
    "counter" crdt::counter, Easy, 1,
        "counts are added where they are merged", "replicas converge";
    "OR-set" crdt::set, Medium, 0,
        "tombstones are collected before all additions have arrived", "what was removed stays so";
    "WAL: acknowledged" wal::acknowledged_early, Easy, 1,
        "a write is acknowledged before it is on disk", "linearizable";
    "WAL: rename" wal::renamed, Easy, 1,
        "the directory is not synced after a rename", "linearizable";
    "WAL: torn" wal::torn, Medium, 1,
        "a record has no checksum, and half of it is read", "linearizable";
    "at most once" once::forgets_requests, Easy, 1,
        "the record of completed requests is only in memory", "an operation takes effect once";
    "Paxos: promise" paxos::promise_is_broken, Medium, 0,
        "an acceptor accepts a value that it has promised to refuse", "one value is chosen";
    "Paxos: value" paxos::value_is_ignored, Medium, 0,
        "a proposer ignores the values that others have accepted", "one value is chosen";
}
