//! Operations: what a task announces before it does it.

use crate::id::{ResourceId, Site};

/// The kind of an operation.
///
/// Kinds are what the dependence table ([`crate::dependence`]) is indexed by, so one kind exists for
/// every distinction that the table makes. Which front end announced it does not show.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// The task has not announced anything yet.
    Start,
    /// Creates a task.
    Spawn,
    /// The last step of a task.
    Exit,
    /// Waits for a task to have exited.
    Join,
    /// Asks whether a task has exited.
    IsFinished,
    /// Tells the scheduler that nothing can be gained by running on.
    Yield,
    /// Waits for the task's own park token and takes it.
    Park,
    /// Gives a task its park token.
    Unpark,
    /// Waits for virtual time to pass.
    Sleep,
    /// Reads the virtual clock.
    Now,
    /// A timer that fires; a step of [`crate::TaskId::CLOCK`].
    TimerFire,
    /// Picks one of `arg` outcomes.
    Choose,
    /// Reads an atomic.
    Load,
    /// Writes an atomic.
    Store,
    /// Reads and writes an atomic.
    Rmw,
    /// Compares and exchanges an atomic: a read-modify-write if it succeeds, else a read.
    Cas,
    /// A memory fence.
    Fence,
    /// Reads plain memory.
    CellRead,
    /// Writes plain memory.
    CellWrite,
    /// Requests a mutex, and waits until it is granted.
    Lock,
    /// Takes a mutex if it is free.
    TryLock,
    /// Gives a mutex back.
    Unlock,
    /// Requests a read lock.
    Read,
    /// Requests a write lock.
    Write,
    /// Takes a read lock if no writer holds or awaits it.
    TryRead,
    /// Takes a write lock if nobody holds it.
    TryWrite,
    /// Gives a read lock back.
    ReadUnlock,
    /// Gives a write lock back.
    WriteUnlock,
    /// Turns a held write lock into a read lock.
    Downgrade,
    /// Gives a mutex back and waits for a notification; `arg` is the mutex.
    CondWait,
    /// Wakes the longest waiter.
    NotifyOne,
    /// Wakes all waiters.
    NotifyAll,
    /// Takes `arg` permits, waiting for them.
    Acquire,
    /// Takes `arg` permits if they are there.
    TryAcquire,
    /// Gives `arg` permits back.
    Release,
    /// Arrives at a barrier and waits for the others.
    Arrive,
    /// Asks to run an initialiser; waits while another task runs it.
    OnceEnter,
    /// Ends an initialiser; `arg` is 1 if it succeeded, 0 if it panicked.
    OnceFinish,
    /// Asks whether the initialiser has run.
    OnceCheck,
    /// Sends a message, waiting for room.
    Send,
    /// Sends a message if there is room.
    TrySend,
    /// Receives a message, waiting for one.
    Recv,
    /// Receives a message if there is one.
    TryRecv,
    /// A sender goes away.
    CloseSend,
    /// A receiver goes away.
    CloseRecv,
    /// A client calls an operation of an object whose history is watched.
    Call,
    /// The operation returns.
    Return,
    /// Reads an atomic once its value is what is waited for; `arg` is what was seen of it ([`crate::Look`]).
    Await,
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

impl Operation {
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

/// What a resource is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResourceKind {
    /// An atomic variable.
    Atomic,
    /// Plain memory whose accesses are tracked.
    Cell,
    /// A mutual exclusion lock.
    Mutex,
    /// A reader–writer lock.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A counting semaphore.
    Semaphore,
    /// What ends one wait: a semaphore that is given back once.
    Signal,
    /// A barrier.
    Barrier,
    /// A one-time initialiser.
    Once,
    /// A FIFO channel.
    Channel,
    /// What clients of an object have called, and what has returned: events that are written down.
    History,
    /// State that is used as a whole, of which nothing else is known.
    Object,
}

impl ResourceKind {
    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            ResourceKind::Atomic => "atomic",
            ResourceKind::Cell => "cell",
            ResourceKind::Mutex => "mutex",
            ResourceKind::RwLock => "rwlock",
            ResourceKind::Condvar => "condvar",
            ResourceKind::Semaphore => "semaphore",
            ResourceKind::Signal => "signal",
            ResourceKind::Barrier => "barrier",
            ResourceKind::Once => "once",
            ResourceKind::Channel => "channel",
            ResourceKind::History => "history",
            ResourceKind::Object => "object",
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinds(u64);

impl Kinds {
    /// Without any.
    pub(crate) const NONE: Kinds = Kinds(0);

    /// Of these.
    pub(crate) const fn of(kinds: &[OpKind]) -> Kinds {
        let (mut set, mut at) = (0, 0);
        while at < kinds.len() {
            set |= 1 << kinds[at] as u32;
            at += 1;
        }
        Kinds(set)
    }

    /// Adds one.
    #[inline(always)]
    pub(crate) fn add(&mut self, kind: OpKind) {
        self.0 |= 1 << kind as u32;
    }

    /// Whether `kind` is one of them.
    #[inline(always)]
    pub(crate) const fn has(self, kind: OpKind) -> bool {
        self.0 >> kind as u32 & 1 != 0
    }
}

impl OpKind {
    /// Whether it is an access to memory: the engine does nothing for it, and it never waits.
    #[inline(always)]
    pub const fn is_access(self) -> bool {
        use OpKind::*;
        matches!(self, Load | Store | Rmw | Cas | CellRead | CellWrite)
    }

    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            OpKind::Start => "start",
            OpKind::Spawn => "spawn",
            OpKind::Exit => "exit",
            OpKind::Join => "join",
            OpKind::IsFinished => "is_finished",
            OpKind::Yield => "yield",
            OpKind::Park => "park",
            OpKind::Unpark => "unpark",
            OpKind::Sleep => "sleep",
            OpKind::Now => "now",
            OpKind::TimerFire => "timer",
            OpKind::Choose => "choose",
            OpKind::Load => "load",
            OpKind::Store => "store",
            OpKind::Rmw => "read-modify-write",
            OpKind::Cas => "compare-exchange",
            OpKind::Fence => "fence",
            OpKind::CellRead => "read cell",
            OpKind::CellWrite => "write cell",
            OpKind::Lock => "lock",
            OpKind::TryLock => "try_lock",
            OpKind::Unlock => "unlock",
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::TryRead => "try_read",
            OpKind::TryWrite => "try_write",
            OpKind::ReadUnlock => "unlock read",
            OpKind::WriteUnlock => "unlock write",
            OpKind::Downgrade => "downgrade",
            OpKind::CondWait => "wait",
            OpKind::NotifyOne => "notify_one",
            OpKind::NotifyAll => "notify_all",
            OpKind::Acquire => "acquire",
            OpKind::TryAcquire => "try_acquire",
            OpKind::Release => "release",
            OpKind::Arrive => "barrier wait",
            OpKind::OnceEnter => "call_once",
            OpKind::OnceFinish => "initialised",
            OpKind::OnceCheck => "get",
            OpKind::Send => "send",
            OpKind::TrySend => "try_send",
            OpKind::Recv => "recv",
            OpKind::TryRecv => "try_recv",
            OpKind::CloseSend => "drop sender",
            OpKind::CloseRecv => "drop receiver",
            OpKind::Call => "call",
            OpKind::Return => "return",
            OpKind::Await => "spin_until",
        }
    }

    /// Every kind, in the order of its number in tokens and trace files. Append only.
    pub const ALL: [OpKind; 48] = [
        OpKind::Start,
        OpKind::Spawn,
        OpKind::Exit,
        OpKind::Join,
        OpKind::IsFinished,
        OpKind::Yield,
        OpKind::Park,
        OpKind::Unpark,
        OpKind::Sleep,
        OpKind::Now,
        OpKind::TimerFire,
        OpKind::Choose,
        OpKind::Load,
        OpKind::Store,
        OpKind::Rmw,
        OpKind::Cas,
        OpKind::Fence,
        OpKind::CellRead,
        OpKind::CellWrite,
        OpKind::Lock,
        OpKind::TryLock,
        OpKind::Unlock,
        OpKind::Read,
        OpKind::Write,
        OpKind::TryRead,
        OpKind::TryWrite,
        OpKind::ReadUnlock,
        OpKind::WriteUnlock,
        OpKind::Downgrade,
        OpKind::CondWait,
        OpKind::NotifyOne,
        OpKind::NotifyAll,
        OpKind::Acquire,
        OpKind::TryAcquire,
        OpKind::Release,
        OpKind::Arrive,
        OpKind::OnceEnter,
        OpKind::OnceFinish,
        OpKind::OnceCheck,
        OpKind::Send,
        OpKind::TrySend,
        OpKind::Recv,
        OpKind::TryRecv,
        OpKind::CloseSend,
        OpKind::CloseRecv,
        OpKind::Call,
        OpKind::Return,
        OpKind::Await,
    ];
}
