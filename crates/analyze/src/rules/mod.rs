//! The rules: what two accesses of one task and one of another must be for a mistake.
//!
//! All are one schema. A task has two accesses `p` and `i` to the same state with a place between at which another task can run, an
//! access `r` of that task comes in there, no lock that is held from `p` to `i` is held at `r`, and the order `p r i` has an effect
//! that no order of whole tasks has.

mod cancelled;
mod guards;
mod handed;
mod late;
mod lifetime;
mod paired;
mod pairs;
mod stale;
mod unordered;
mod wakeups;

use drawloom_report::explain::Class;

use crate::flow::{self, may_be_same};
use crate::graph::{Event, Loc, NodeId, Writing};
use crate::program::{Access, Program};

/// A rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// A condition is read, something comes in, and the write that rests on it is made all the same.
    CheckThenAct,
    /// A value is read, something comes in, and a value made of it is written back.
    ReadModifyWrite,
    /// The same within one expression: `x += await f()`.
    AwaitInUpdate,
    /// Two pieces of state that belong together are changed one after the other.
    PairedState,
    /// A lock is removed while others may still have it, or what it protects lives longer.
    LockLifetime,
    /// An element is kept, and used after it may have been removed.
    StaleElement,
    /// Something is gone over while others add and remove.
    Iteration,
    /// One side holds a lock, and the other does not.
    MissingGuard,
    /// A cancellation comes between a change and what restores it.
    CancellationLeak,
    /// A condition is read, and the wait for its change begins too late.
    LostWakeup,
    /// The lock itself is made twice.
    RacedGuard,
    /// An atomic, concurrent map or lock is looked at, and changed in a second step.
    AtomicPair,
    /// A waker leaves the state for the woken one to change, and somebody else comes first.
    WakeOrder,
    /// Of two functions that are explored, one uses what the other writes, and nothing orders them.
    Unordered,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 14] = [
        Rule::CheckThenAct,
        Rule::ReadModifyWrite,
        Rule::AwaitInUpdate,
        Rule::PairedState,
        Rule::LockLifetime,
        Rule::StaleElement,
        Rule::Iteration,
        Rule::MissingGuard,
        Rule::CancellationLeak,
        Rule::LostWakeup,
        Rule::RacedGuard,
        Rule::AtomicPair,
        Rule::WakeOrder,
        Rule::Unordered,
    ];

    /// `DL001` …
    pub fn id(self) -> &'static str {
        match self {
            Rule::CheckThenAct => "DL001",
            Rule::ReadModifyWrite => "DL002",
            Rule::AwaitInUpdate => "DL003",
            Rule::PairedState => "DL004",
            Rule::LockLifetime => "DL005",
            Rule::StaleElement => "DL006",
            Rule::Iteration => "DL007",
            Rule::MissingGuard => "DL008",
            Rule::CancellationLeak => "DL009",
            Rule::LostWakeup => "DL010",
            Rule::RacedGuard => "DL011",
            Rule::AtomicPair => "DL012",
            Rule::WakeOrder => "DL013",
            Rule::Unordered => "DL014",
        }
    }

    /// The rule of that id.
    pub fn named(id: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.id() == id)
    }

    /// In a few words.
    pub fn title(self) -> &'static str {
        match self {
            Rule::CheckThenAct => "check, then act",
            Rule::ReadModifyWrite => "read, modify, write",
            Rule::AwaitInUpdate => "await inside an update",
            Rule::PairedState => "paired state changed in two steps",
            Rule::LockLifetime => "lock removed while others may hold or await it",
            Rule::StaleElement => "element used after it may have been removed",
            Rule::Iteration => "iteration while others add or remove",
            Rule::MissingGuard => "access without the lock that others hold",
            Rule::CancellationLeak => "cancellation between a change and its restoration",
            Rule::LostWakeup => "wait begins after the wake-up",
            Rule::RacedGuard => "lock created twice",
            Rule::AtomicPair => "two atomic steps that should be one",
            Rule::WakeOrder => "woken task changes the state too late",
            Rule::Unordered => "explored functions in no particular order",
        }
    }

    /// The kind of mistake.
    pub fn class(self) -> Class {
        match self {
            Rule::CheckThenAct | Rule::LostWakeup | Rule::RacedGuard | Rule::AtomicPair | Rule::WakeOrder => {
                Class::Toctou
            }
            Rule::ReadModifyWrite | Rule::AwaitInUpdate | Rule::PairedState | Rule::CancellationLeak => {
                Class::AtomicityGap
            }
            Rule::LockLifetime => Class::LifetimeMismatch,
            Rule::StaleElement | Rule::Iteration => Class::StaleReference,
            Rule::MissingGuard | Rule::Unordered => Class::MissingGuard,
        }
    }

    /// The class more closely.
    pub fn subkind(self) -> &'static str {
        match self {
            Rule::CheckThenAct | Rule::AtomicPair => "check-then-act",
            Rule::ReadModifyWrite | Rule::AwaitInUpdate => "lost-update",
            Rule::PairedState => "half-done",
            Rule::LockLifetime => "lock-lifetime",
            Rule::StaleElement => "use-after-close",
            Rule::Iteration => "iteration",
            Rule::MissingGuard => "unguarded-access",
            Rule::CancellationLeak => "cancellation-leak",
            Rule::LostWakeup => "lost-wakeup",
            Rule::RacedGuard => "duplicate-init",
            Rule::WakeOrder | Rule::Unordered => "order-violation",
        }
    }
}

/// What a rule has found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) rule: Rule,
    /// What it is about, and the other half of a pair.
    pub(crate) loc: Loc,
    pub(crate) second: Option<Loc>,
    /// Whose window it is.
    pub(crate) task: usize,
    /// What opens the window.
    pub(crate) opens: NodeId,
    /// Where another task can come in; none if that is anywhere.
    pub(crate) gap: Option<NodeId>,
    /// What closes the window.
    pub(crate) closes: NodeId,
    /// What comes in.
    pub(crate) remote: Option<Access>,
    /// The lock that one side holds.
    pub(crate) lock: Option<Loc>,
    /// The path through the window.
    pub(crate) path: Vec<NodeId>,
}

/// Everything that the rules find, in the order of the file.
pub(crate) fn all(program: &Program<'_, '_>) -> Vec<Found> {
    let mut found = Vec::new();
    pairs::find(program, &mut found);
    paired::find(program, &mut found);
    lifetime::find(program, &mut found);
    stale::find(program, &mut found);
    cancelled::find(program, &mut found);
    wakeups::find(program, &mut found);
    late::find(program, &mut found);
    handed::find(program, &mut found);
    unordered::find(program, &mut found);
    found
}

/// The first node of a path, between its ends, at which another task can run.
pub(crate) fn gap_of(program: &Program<'_, '_>, task: usize, path: &[NodeId]) -> Option<NodeId> {
    let graph = &program.tasks[task].graph;
    let inner = &path[1..path.len().saturating_sub(1).max(1)];
    let mut points = inner.iter().copied().filter(|at| flow::switches(&graph.nodes[*at].event));
    // A certain one, if there is one.
    let certain = |at: &NodeId| {
        matches!(
            graph.nodes[*at].event,
            Event::Suspend | Event::Checkpoint { certainty: crate::graph::Certainty::Always, .. }
        )
    };
    points.clone().find(certain).or_else(|| points.next())
}

/// Whether two accesses hold a lock in common, `holding` being what the first one holds without a break. A lock that both hold
/// for reading alone keeps nobody out.
pub(crate) fn excluded(program: &Program<'_, '_>, task: usize, holding: &[NodeId], remote: Access) -> bool {
    let own = &program.tasks[task].graph;
    let other = &program.tasks[remote.task].graph;
    holding.iter().any(|taken| {
        let Some((lock, key, shared)) = flow::lock_of(&own.nodes[*taken].event) else { return false };
        let theirs = other.held[remote.node].iter();
        let mut same = theirs.filter_map(|taken| flow::lock_of(&other.nodes[*taken].event));
        same.any(|(of, with, also)| {
            let semaphore = |shared: bool, lock: Loc| shared && program.is_semaphore(lock);
            of == lock
                && may_be_same(with, key)
                && !(shared && also)
                && !semaphore(shared, lock)
                && !semaphore(also, of)
        })
    })
}

/// An access of another task to `loc` that can come into a window, of a kind that harms it; one of another function if there is one.
pub(crate) fn intruder(
    program: &Program<'_, '_>,
    loc: Loc,
    key: Option<&String>,
    at: Access,
    holding: &[NodeId],
    harms: &dyn Fn(&Event, Access) -> bool,
) -> Option<Access> {
    let candidates = program.accesses.get(&loc)?.iter().copied().filter(|remote| {
        let node = program.node(*remote);
        let with = match &node.event {
            Event::Read { key, .. } | Event::Write { key, .. } => key.as_ref(),
            _ => None,
        };
        let exported = program.tasks[remote.task].root.kind == crate::lower::RootKind::Exported;
        let under_lock = exported && program.usually_locked(loc, *remote);
        harms(&node.event, *remote)
            && !under_lock
            && !program.has_ended(at, remote.task)
            && !program.same_single_task(loc, at.task, remote.task)
            && !program.has_its_own(loc, at.task, remote.task)
            && may_be_same(with, key)
            && program.runs_beside(at, *remote)
            && !excluded(program, at.task, holding, *remote)
    });
    let function = program.node(at).function;
    let rank = |remote: &Access| {
        let node = program.node(*remote);
        let multi_self = remote.task == at.task;
        // Whoever works says more than whoever closes.
        let closes = crate::customs::ends(&program.facts.function(node.function).name);
        (closes, multi_self, node.function == function, node.cleanup, *remote)
    };
    candidates.min_by_key(rank)
}

/// Whether an event changes what is stored, for whoever has looked at it before.
pub(crate) fn changes(event: &Event) -> bool {
    match event {
        Event::Write { how, own, .. } => !own || *how == Writing::Clear,
        _ => false,
    }
}
