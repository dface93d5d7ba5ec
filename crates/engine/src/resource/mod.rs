//! Resources: the semantics of every primitive, once.
//!
//! Each file is the room of one primitive, and holds all that the engine knows of it ([`Room`]): what its operations do to its
//! state, who is granted what and who blocks whom, which of them commute, what one would come to elsewhere, what happens
//! before what, and the words for it. The rest of the engine asks the room of an operation's kind. Front ends only announce operations; a Rust `Mutex`, a Python
//! `threading.Lock` and a C mutex are the same resource here.
//!
//! Blocking is a *ticket*: the operation commits without blocking by taking its place in the
//! resource's queue, and the wait that may follow is no step. Grants are first come, first served;
//! nothing is lost by that, since a task that "barges" is one whose request came earlier.

pub(crate) mod barrier;
pub(crate) mod channel;
pub(crate) mod choice;
pub(crate) mod clock;
pub(crate) mod condvar;
pub(crate) mod history;
pub(crate) mod kill;
pub(crate) mod latch;
pub(crate) mod mailbox;
pub(crate) mod memory;
pub(crate) mod mutex;
pub(crate) mod node;
pub(crate) mod once;
pub(crate) mod park;
pub(crate) mod parts;
pub(crate) mod process;
pub(crate) mod queue;
mod room;
pub(crate) mod rwlock;
pub(crate) mod semaphore;
pub(crate) mod several;
pub(crate) mod task;
pub(crate) mod turn;

use crate::behaviour::Trail;
use crate::engine::{Committed, Engine};
use crate::id::{Site, TaskId};
use crate::operation::{OpKind, Operation, ResourceKind, outcome};
use crate::strategy::Strategy;
use crate::task::WaitList;

pub use channel::{ChannelState, UNBOUNDED};
pub(crate) use choice::{Choices, Within};
pub(crate) use mailbox::Inbox;
pub use mailbox::Receiving;
pub(crate) use memory::{reads_only, writes};
pub(crate) use mutex::Request;
pub use once::OnceState;
pub use parts::Parts;
pub use process::ExitSignal;
pub use queue::Tally;
pub(crate) use room::{Blocker, Facts, Room, Traits};
pub use rwlock::Preference;
pub(crate) use rwlock::ahead;
pub use several::Several;
pub(crate) use several::changes;

impl Engine {
    /// Carries out an operation that `task` has announced. What is done most comes first, and takes no detour.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn commit_in_room(
        &mut self,
        task: TaskId,
        operation: &Operation,
        strategy: &mut dyn Strategy,
    ) -> Committed {
        match operation.kind {
            OpKind::Lock => self.commit_lock(task, operation.resource),
            OpKind::Unlock => {
                self.tasks[task.index()].note_unlock();
                self.commit_unlock(operation.resource)
            }
            kind if kind.is_access() => {
                self.leave_trail_of_access();
                Committed::Done(outcome::OK)
            }
            OpKind::Park => self.commit_park(task),
            OpKind::Unpark => self.commit_unpark(task, TaskId(operation.arg as u32)),
            OpKind::Await => self.commit_await(task),
            kind @ (OpKind::Spawn | OpKind::Exit | OpKind::Join) => self.commit_of_task(task, kind),
            kind => kind.room().carry_out(self, task, strategy),
        }
    }
}

/// Whether steps of these kinds on one resource never order each other, whatever they come to. Does not
/// know of all such pairs: only of those that are met most.
#[inline]
pub(crate) fn never_ordered(a: OpKind, b: OpKind) -> bool {
    use OpKind::{Call, Load, Lock, Read, Return, Unlock};
    matches!(
        (a, b),
        (Load, Load)
            | (Lock, Unlock)
            | (Unlock, Lock)
            | (Unlock, Unlock)
            | (Read, Read)
            | (Call, Call)
            | (Return, Return)
    )
}

/// A task that holds a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Who.
    pub task: TaskId,
    /// Held for writing (of a reader–writer lock) or at all (of others).
    pub exclusive: bool,
}

/// The holders of a resource: one that holds it exclusively, or any number that share it.
///
/// Where each took it is not kept: the trace has it ([`crate::Engine::taken_at`]).
#[derive(Clone, Debug)]
pub struct Holders {
    exclusive: TaskId,
    sharing: Vec<TaskId>,
}

impl Holders {
    pub(crate) fn nobody() -> Self {
        Holders { exclusive: TaskId::NONE, sharing: Vec::new() }
    }

    /// Whether nobody holds it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.exclusive == TaskId::NONE && self.sharing.is_empty()
    }

    /// The task that holds it exclusively.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn exclusive(&self) -> Option<TaskId> {
        (self.exclusive != TaskId::NONE).then_some(self.exclusive)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Holder> {
        let exclusive = self.exclusive().into_iter().map(|task| Holder { task, exclusive: true });
        exclusive.chain(self.sharing.iter().map(|task| Holder { task: *task, exclusive: false }))
    }

    /// The one exclusive holder is now `task`, or nobody.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn set_exclusive(&mut self, task: Option<TaskId>) {
        self.exclusive = task.unwrap_or(TaskId::NONE);
    }

    pub(crate) fn share(&mut self, task: TaskId) {
        self.sharing.push(task);
    }

    pub(crate) fn stop_sharing(&mut self, task: TaskId) {
        if let Some(at) = self.sharing.iter().position(|t| *t == task) {
            self.sharing.swap_remove(at);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.exclusive = TaskId::NONE;
        self.sharing.clear();
    }
}

/// What tasks can conflict on.
#[derive(Clone, Debug)]
pub struct Resource {
    /// What it is.
    pub kind: ResourceKind,
    /// Where it was created.
    pub created_at: Site,
    /// The task that first announced an operation on it.
    pub creator: TaskId,
    /// Its number among the resources that this task announced first, from 1.
    pub ordinal: u32,
    /// The name the user gave it.
    pub name: Option<Box<str>>,
    /// Whether its owner has dropped it.
    pub dropped: bool,
    /// Whether it was there before this execution touched it: a static, or captured from outside.
    pub from_outside: bool,
    /// Who holds it now.
    pub holders: Holders,
    /// The primitive's own numbers.
    pub state: State,
    /// These numbers when the resource was created.
    pub initial: State,
    pub(crate) waiters: WaitList,
    /// Senders, for channels: kept apart since both sides may queue in a rendezvous.
    pub(crate) senders: WaitList,
    pub(crate) trail: Trail,
    /// Of a process; boxed, since few resources are one.
    pub(crate) inbox: Option<Box<Inbox>>,
    /// That of an earlier execution, for its memory.
    pub(crate) spare_inbox: Option<Box<Inbox>>,
}

/// The part of a resource's state that is particular to its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Everything is said by holders and waiters.
    Plain,
    /// The same; a lock that is the turn of a thread, which whoever awaits something lets others have.
    Turn,
    /// What is counted: free permits of a semaphore, what a latch still waits for.
    Count(u64),
    /// How many a barrier waits for, and how many have come.
    Barrier {
        /// Tasks that release it.
        size: u64,
        /// Tasks that have arrived since the last release.
        arrived: u64,
    },
    /// A one-time initialiser.
    Once(OnceState),
    /// A channel.
    Channel(ChannelState),
    /// A node of a cluster, and the task that runs its code.
    Served(TaskId),
}

impl Resource {
    pub(crate) fn new(kind: ResourceKind, state: State, creator: TaskId, ordinal: u32, at: Site) -> Self {
        Resource {
            kind,
            created_at: at,
            creator,
            ordinal,
            name: None,
            dropped: false,
            from_outside: false,
            holders: Holders::nobody(),
            state,
            initial: state,
            waiters: WaitList::EMPTY,
            senders: WaitList::EMPTY,
            trail: Trail::NEW,
            inbox: None,
            spare_inbox: None,
        }
    }

    /// Makes a resource of an earlier execution into a new one, keeping its memory.
    pub(crate) fn renew(&mut self, kind: ResourceKind, state: State, creator: TaskId, ordinal: u32, at: Site) {
        self.kind = kind;
        self.created_at = at;
        self.creator = creator;
        self.ordinal = ordinal;
        self.name = None;
        self.dropped = false;
        self.from_outside = false;
        self.holders.clear();
        self.state = state;
        self.initial = state;
        self.waiters = WaitList::EMPTY;
        self.senders = WaitList::EMPTY;
        self.trail = Trail::NEW;
        if let Some(inbox) = self.inbox.take() {
            self.spare_inbox = Some(inbox);
        }
    }
}
