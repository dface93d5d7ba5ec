//! Operations: what a task announces before it does it.

use crate::id::{ResourceId, Site};
use crate::resource::{self, Facts, Room, Traits};

/// The one list of kinds: each with the room of its primitive, which knows all else ([`crate::resource`]).
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident in $room:ident,)+) => {
        /// The kind of an operation.
        ///
        /// Kinds are what the dependence table ([`crate::dependence`]) is indexed by, so one kind exists for
        /// every distinction that the table makes. Which front end announced it does not show.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum OpKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl OpKind {
            /// Every kind, in the order of its number in tokens and trace files. Append only.
            pub const ALL: [OpKind; ROOMS.len()] = [$(OpKind::$kind),+];
        }

        static ROOMS: [&dyn Room; [$(OpKind::$kind),+].len()] = [$(&resource::$room::Rules),+];
        static FACTS: [Facts; ROOMS.len()] = [$(resource::$room::facts(OpKind::$kind)),+];
        // A constant, so that the compiler knows the answer where it knows the kind.
        const TRAITS: [Traits; ROOMS.len()] = [$(resource::$room::facts(OpKind::$kind).traits),+];
    };
}

kinds! {
    /// The task has not announced anything yet.
    Start in task,
    /// Creates a task.
    Spawn in task,
    /// The last step of a task.
    Exit in task,
    /// Waits for a task to have exited.
    Join in task,
    /// Asks whether a task has exited.
    IsFinished in task,
    /// Tells the scheduler that nothing can be gained by running on.
    Yield in turn,
    /// Waits for the task's own park token and takes it.
    Park in park,
    /// Gives a task its park token.
    Unpark in park,
    /// Waits for virtual time to pass.
    Sleep in clock,
    /// Reads the virtual clock.
    Now in clock,
    /// A timer that fires; a step of the clock.
    TimerFire in clock,
    /// Picks one of `arg` outcomes.
    Choose in choice,
    /// Reads an atomic.
    Load in memory,
    /// Writes an atomic.
    Store in memory,
    /// Reads and writes an atomic.
    Rmw in memory,
    /// Compares and exchanges an atomic: a read-modify-write if it succeeds, else a read.
    Cas in memory,
    /// A memory fence.
    Fence in memory,
    /// Reads plain memory.
    CellRead in memory,
    /// Writes plain memory.
    CellWrite in memory,
    /// Requests a mutex, and waits until it is granted.
    Lock in mutex,
    /// Takes a mutex if it is free.
    TryLock in mutex,
    /// Gives a mutex back.
    Unlock in mutex,
    /// Requests a read lock.
    Read in rwlock,
    /// Requests a write lock.
    Write in rwlock,
    /// Takes a read lock if no writer holds or awaits it.
    TryRead in rwlock,
    /// Takes a write lock if nobody holds it.
    TryWrite in rwlock,
    /// Gives a read lock back.
    ReadUnlock in rwlock,
    /// Gives a write lock back.
    WriteUnlock in rwlock,
    /// Turns a held write lock into a read lock.
    Downgrade in rwlock,
    /// Gives a mutex back and waits for a notification; `arg` is the mutex.
    CondWait in condvar,
    /// Wakes the longest waiter.
    NotifyOne in condvar,
    /// Wakes all waiters.
    NotifyAll in condvar,
    /// Takes `arg` permits, waiting for them.
    Acquire in semaphore,
    /// Takes `arg` permits if they are there.
    TryAcquire in semaphore,
    /// Gives `arg` permits back.
    Release in semaphore,
    /// Arrives at a barrier and waits for the others.
    Arrive in barrier,
    /// Asks to run an initialiser; waits while another task runs it.
    OnceEnter in once,
    /// Ends an initialiser; `arg` is 1 if it succeeded, 0 if it panicked.
    OnceFinish in once,
    /// Asks whether the initialiser has run.
    OnceCheck in once,
    /// Sends a message, waiting for room.
    Send in channel,
    /// Sends a message if there is room.
    TrySend in channel,
    /// Receives a message, waiting for one.
    Recv in channel,
    /// Receives a message if there is one.
    TryRecv in channel,
    /// A sender goes away.
    CloseSend in channel,
    /// A receiver goes away.
    CloseRecv in channel,
    /// A client calls an operation of an object whose history is watched.
    Call in history,
    /// The operation returns.
    Return in history,
    /// Reads an atomic once its value is what is waited for; `arg` is what was seen of it ([`crate::Look`]).
    Await in memory,
    /// Counts a latch down by `arg`.
    CountDown in latch,
    /// Waits until a latch has been counted down to zero.
    LatchWait in latch,
    /// Asks whether a latch has been counted down to zero.
    LatchCheck in latch,
    /// Puts something into a queue of a library.
    Put in queue,
    /// Takes something out of such a queue.
    Take in queue,
    /// One of those who put something in goes away.
    Leave in queue,
    /// Looks at such a queue.
    Peek in queue,
    /// Does anything else to such a queue.
    Rearrange in queue,
    /// Reads several parts of a resource at once; `arg` says which ([`crate::Parts`]).
    ReadParts in parts,
    /// Writes several parts of a resource at once, and may read others.
    WriteParts in parts,
    /// Kills a task: its next step does nothing, and is its last. `arg` is the task.
    Kill in kill,
    /// The last step of a task that was killed, instead of the one that it had announced.
    Killed in kill,
    /// Reads several resources at once; `arg` names those besides its own ([`crate::Several`]).
    ReadSeveral in several,
    /// Writes several resources at once, or reads some and writes others.
    WriteSeveral in several,
    /// Puts a message into the mailbox of a process; `arg` is the sender, as the front end knows it.
    Deliver in mailbox,
    /// Takes something out of the mailbox of the process; `arg` says what ([`crate::Receiving`]).
    Receive in mailbox,
    /// Asks whether a process has ended.
    Alive in process,
    /// Asks to be told of the end of a process.
    Monitor in process,
    /// Takes such a request back.
    Demonitor in process,
    /// Links two processes.
    Link in process,
    /// Removes a link.
    Unlink in process,
    /// Says whether exit signals are to be messages.
    Trap in process,
    /// An exit signal ([`crate::ExitSignal`]).
    Signal in process,
    /// Tells a process that another one has ended.
    Down in process,
    /// A process ends.
    End in process,
    /// Gives a process a name.
    Register in process,
    /// Takes a name away.
    Unregister in process,
    /// Asks who has a name.
    Whereis in process,
    /// Cancels a timer of a process.
    Cancel in process,
    /// Closes a channel: nothing is sent any more, and what was sent can still be received.
    Close in channel,
    /// Asks how many messages a channel holds.
    Length in channel,
    /// Something happens at a node of a cluster; `arg` says what, as the front end knows it.
    Happen in node,
    /// Serves the nodes of a cluster, until nothing is left that could happen.
    Serve in node,
    /// A fault strikes a node: as whatever else happens there.
    Strike in node,
}

// A trace file has a byte for the kind; sets of kinds are no larger.
const _: () = assert!(OpKind::ALL.len() <= 128);

impl OpKind {
    /// What knows how operations of this kind behave.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn room(self) -> &'static dyn Room {
        ROOMS[self as usize]
    }

    /// Whether that is true of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is(self, fact: Traits) -> bool {
        TRAITS[self as usize].has(fact)
    }

    /// All that is true of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn traits(self) -> Traits {
        TRAITS[self as usize]
    }

    /// The word that reports use.
    pub fn word(self) -> &'static str {
        FACTS[self as usize].word
    }

    /// What operations of this kind act on, if on a resource; plain memory and objects count as atomic.
    #[inline]
    pub(crate) fn family(self) -> Option<ResourceKind> {
        FACTS[self as usize].family
    }

    /// Whether it only gives something up: it never waits, and is carried out in teardown, too. Destructors consist of such.
    #[inline]
    pub fn only_releases(self) -> bool {
        self.is(Traits::ONLY_RELEASES)
    }
}

/// What an operation came to, beyond "done".
///
/// The meaning of 0 is always "the ordinary success".
pub mod outcome {
    /// Done as asked.
    pub const OK: u32 = 0;
    /// The wait was ended by its timeout.
    pub const TIMED_OUT: u32 = 1;
    /// The other side of the channel is gone.
    pub const DISCONNECTED: u32 = 2;
    /// The operation does not wait, and would have had to; a comparison that failed.
    pub const REFUSED: u32 = 3;
    /// An initialiser may run now, and is this task's to run.
    pub const RUN: u32 = 4;
    /// As [`RUN`], after an earlier attempt panicked.
    pub const RUN_AFTER_PANIC: u32 = 5;
    /// This task is the one that a barrier names leader.
    pub const LEADER: u32 = 6;
    /// The execution is being torn down: the wait will never be granted.
    pub const TORN_DOWN: u32 = 7;
    /// What is awaited has been written to: it is to be looked at, and announced, anew.
    pub const LOOK_AGAIN: u32 = 8;
    /// A signal was fatal to the process before: nothing was done.
    pub const KILLED: u32 = 9;
    /// An exit signal was fatal to its target, or would have been if that had not ended.
    pub const FATAL: u32 = 10;
    /// Another signal was fatal to the process before: this changes nothing any more.
    pub const LATE: u32 = 11;
}

/// What a task is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Where in the user's source.
    pub site: Site,
    /// A second operand; its meaning belongs to the kind (a task, permits, number of outcomes …).
    pub arg: u64,
    /// The resource it touches.
    pub resource: ResourceId,
    /// What it does.
    pub kind: OpKind,
}

/// The second operand of an access to a cell that is made in a transaction which its task has begun before: what the task
/// began is over when the transaction is.
pub const IN_TRANSACTION: u64 = u64::MAX;

/// The second operand of an access to a cell that stands for many: from here on, the number of the resource that people know
/// it as. Schedules and conflicts are a matter of the one cell; reports tell of the other.
const KNOWN_AS: u64 = 1 << 32;

/// The second operand of an access to a cell which is known to people as `resource`.
pub fn known_as(resource: ResourceId) -> u64 {
    KNOWN_AS + u64::from(resource.0)
}

/// What an access to a cell with this second operand is known to people as, if that is another resource.
pub fn is_known_as(kind: OpKind, arg: u64) -> Option<ResourceId> {
    let is_cell = matches!(kind, OpKind::CellRead | OpKind::CellWrite);
    let number = arg.checked_sub(KNOWN_AS).filter(|_| is_cell && arg != IN_TRANSACTION)?;
    u32::try_from(number).ok().map(ResourceId)
}

impl Operation {
    /// Whether it is an access in a transaction that was begun before.
    pub fn is_in_transaction(&self) -> bool {
        matches!(self.kind, OpKind::CellRead | OpKind::CellWrite) && self.arg == IN_TRANSACTION
    }

    /// An operation of `kind` on `resource` without a second operand.
    #[inline]
    pub fn new(kind: OpKind, resource: ResourceId, site: Site) -> Self {
        Operation { site, arg: 0, resource, kind }
    }

    /// The same with a second operand.
    #[inline]
    pub fn with_arg(mut self, arg: u64) -> Self {
        self.arg = arg;
        self
    }
}

/// The one list of resources: each with the word that reports use.
macro_rules! resources {
    ($($(#[doc = $doc:literal])+ $kind:ident is $word:literal,)+) => {
        /// What a resource is.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ResourceKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl ResourceKind {
            /// The word that reports use.
            pub fn word(self) -> &'static str {
                match self {
                    $(ResourceKind::$kind => $word,)+
                }
            }
        }
    };
}

resources! {
    /// An atomic variable.
    Atomic is "atomic",
    /// Plain memory whose accesses are tracked.
    Cell is "cell",
    /// A mutual exclusion lock.
    Mutex is "mutex",
    /// A reader–writer lock.
    RwLock is "rwlock",
    /// A condition variable.
    Condvar is "condvar",
    /// A counting semaphore.
    Semaphore is "semaphore",
    /// What ends one wait: a semaphore that is given back once.
    Signal is "signal",
    /// A barrier.
    Barrier is "barrier",
    /// A one-time initialiser.
    Once is "once",
    /// A FIFO channel.
    Channel is "channel",
    /// What clients of an object have called, and what has returned: events that are written down.
    History is "history",
    /// State that is used as a whole, of which nothing else is known.
    Object is "object",
    /// What is counted down once, and waited for.
    Latch is "latch",
    /// A process with its mailbox; the name of one.
    Process is "process",
    /// A node of a cluster.
    Node is "node",
}
