//! The control flow of one task root, with everything that it calls within the file put in its place: a graph of events.

use drawloom_syntax::{FunctionId, Span};

/// A node of the graph.
pub(crate) type NodeId = usize;
/// A piece of shared state: its name, interned.
pub(crate) type Loc = usize;

/// How control comes from one node to the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Edge {
    /// As written.
    Normal,
    /// By an exception.
    Error,
    /// By a cancellation, which only few handlers catch.
    Cancel,
}

/// The literal of `x += 1`.
pub(crate) const INCREMENT: &str = "+=";
/// The literal of `x -= 1`.
pub(crate) const DECREMENT: &str = "-=";
/// The literal of a merge: what is put in was made elsewhere, and what is there stays.
pub(crate) const MERGE: &str = "merged";
/// The literal of a removal of what need not be there.
pub(crate) const IF_THERE: &str = "if there";
/// The literal of a part of something that the task gives to its caller: each caller has one of its own.
pub(crate) const PART: &str = "part=";
/// The literal of a future that is put somewhere.
pub(crate) const FUTURE: &str = "a future";
/// The literal of a lock that is put somewhere.
pub(crate) const LOCK: &str = "a lock";

/// Whether something happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Certainty {
    /// Never.
    Never,
    /// It depends.
    May,
    /// Always.
    Always,
}

/// How something is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// Its value.
    Value,
    /// Whether something is in it, or how much.
    Contains,
    /// Whether nothing is in it.
    Empty,
    /// One element after the other.
    Iterates,
    /// The next element, further down in a loop.
    Next,
    /// All of it at once, into a copy.
    Snapshot,
}

/// How something is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writing {
    /// A new value.
    Assign,
    /// One element more.
    Add,
    /// One element less.
    Remove,
    /// All elements less.
    Clear,
    /// In some other way.
    Mutate,
    /// Read and written in one step.
    Atomic,
}

/// What happens at a node.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Event {
    /// Nothing: a join of paths, the beginning or an end.
    Nothing,
    /// Shared state is read.
    Read { loc: Loc, key: Option<String>, how: Reading },
    /// Shared state is written. `from`: reads that the value depends on. `literal`: the value, if it is written out. `own`: an
    /// element that is the task's own, so that adding and removing it commutes with what others do.
    Write { loc: Loc, key: Option<String>, how: Writing, from: Vec<NodeId>, literal: Option<String>, own: bool },
    /// A lock is taken; whether it is for readers.
    Acquire { lock: Loc, key: Option<String>, shared: bool },
    /// A lock is given back.
    Release { lock: Loc, key: Option<String> },
    /// Another task can run; whether a cancellation can strike.
    Checkpoint { certainty: Certainty, cancels: bool, why: Why, note: &'static str },
    /// The caller of a generator runs.
    Suspend,
    /// Tasks begin: an index of the roots that this graph spawns. `joined`: it is over when this event is.
    Spawn { root: usize, many: bool },
    /// Tasks have ended: those of these spawns, or all.
    Join(Option<Vec<NodeId>>),
    /// Somebody else may go on.
    Wake { loc: Loc, stores: bool },
    /// Waits for a wake-up.
    Wait { loc: Loc },
    /// A decision, by what was read there.
    Branch { reads: Vec<NodeId> },
    /// Says that something read there holds.
    Asserts { reads: Vec<NodeId> },
    /// An element that was taken out by the read `bound` is used; whether it is changed.
    Use { bound: NodeId, changes: bool },
    /// What a macro hides.
    Opaque,
}

impl Event {
    /// The state that is read or written, with its key.
    pub(crate) fn touches(&self) -> Option<(Loc, Option<&String>)> {
        match self {
            Event::Read { loc, key, .. } | Event::Write { loc, key, .. } => Some((*loc, key.as_ref())),
            _ => None,
        }
    }
}

/// What a task waits for at a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Something of the file or a library.
    Await,
    /// A lock.
    Lock,
    /// An event or future, which another task brings about.
    Wakeup,
    /// The end of an `async with`.
    Exit,
    /// The beginning of one.
    Enter,
    /// Only a cancellation comes here.
    CancelOnly,
    /// The next element.
    Next,
}

/// One event, with where it is and what comes next.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) event: Event,
    pub(crate) span: Span,
    pub(crate) function: FunctionId,
    /// Which call of the function: one that comes later has a larger number.
    pub(crate) call: usize,
    pub(crate) next: Vec<(NodeId, Edge)>,
    /// The decisions that it depends on.
    pub(crate) controls: Vec<NodeId>,
    /// Whether it is in a handler or `finally`, which undoes things.
    pub(crate) cleanup: bool,
}

/// A whole graph. Node 0 is the beginning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// The ends: as written, by an exception, by a cancellation.
    pub(crate) ends: [NodeId; 3],
    /// The locks held at each node, by the nodes that took them.
    pub(crate) held: Vec<Vec<NodeId>>,
    /// The spawns that may still run at each node.
    pub(crate) alive: Vec<Vec<NodeId>>,
    /// Spawns whose handle is put into a field, and the field.
    pub(crate) stored: Vec<(NodeId, Loc)>,
    /// Whether some decision rests on it.
    pub(crate) tested: Vec<bool>,
    /// Of a decision by several reads, those that were made just before it.
    pub(crate) just_read: Vec<Vec<NodeId>>,
    /// Where each node is reached from.
    pub(crate) before: Vec<Vec<NodeId>>,
}
