//! Sketches of fixes: what is to be written. How it is written, each language says in a file of its own.
#![cfg_attr(not(feature = "python"), allow(dead_code, reason = "what only the sketches of another language use"))]

/// A piece of code in a fix.
pub(crate) enum Sketch<'a> {
    /// `lines` while `lock` is held.
    Hold {
        lock: &'a str,
        lines: Vec<String>,
        in_coroutines: bool,
    },
    /// `lines` while the lock of a key is held, which is removed at their end; beside it stands `remark`.
    HoldAndRemove {
        lines: Vec<String>,
        remark: &'a str,
    },
    /// A lock from the first use of what is shared to the last.
    HoldOverAll {
        in_coroutines: bool,
    },
    /// A second look before the act.
    CheckAgain {
        name: &'a str,
    },
    /// Look and act in one step of an atomic.
    CheckAndActAtOnce {
        name: &'a str,
    },
    /// Find a flag free and set it in one step.
    TakeFlagAtOnce {
        name: &'a str,
    },
    /// Read and write in one step of an atomic.
    UpdateAtOnce {
        name: &'a str,
    },
    /// What a step of an atomic returned, in the place of another look: the line of the step.
    UseReturned {
        line: &'a str,
    },
    /// Two variables made one.
    OneRecord,
    /// A task that owns the state, which the others send requests to.
    OneOwner,
    /// A count of changes that is compared.
    CompareVersions {
        name: &'a str,
    },
    /// A lock that is removed while nobody waits for it.
    RemoveUnused,
    /// A lock instead of an unprotected cell.
    LockInsteadOfCell {
        name: &'a str,
    },
    /// A hand-over before the second access.
    HandOver,
    /// A lock given back before it is taken again.
    GiveBackBeforeTakingAgain {
        in_coroutines: bool,
    },
    /// A lock given back.
    GiveBack,
    /// All permits of a semaphore in one request.
    AllPermitsAtOnce,
    /// One lock instead of several.
    OneLock {
        in_coroutines: bool,
    },
    /// Locks that are given back if another cannot be had.
    BackOff {
        in_coroutines: bool,
    },
    /// The task `second` waits until `first` is done.
    WaitForOther {
        first: &'a str,
        second: &'a str,
    },
    /// A look before a wait that is made again after it: the lines of both as they are.
    LookAgainInLoop {
        look: &'a str,
        wait: &'a str,
    },
    /// A condition variable, used as it should be.
    WaitInLoop,
    /// A channel or the like instead of a notification.
    Remember,
    /// A flag that is cleared before the look.
    ClearFirst {
        name: &'a str,
    },
    /// A wait that is announced before the look.
    AnnounceFirst {
        name: &'a str,
    },
    /// A change before the notification.
    ChangeFirst {
        name: &'a str,
    },
    NotifyAll,
    /// A condition variable for each thing that is waited for.
    OneForEach,
    /// A future that counts as waiting before the look.
    RegisterFirst {
        name: &'a str,
    },
    /// A wait instead of a busy loop.
    WaitInsteadOfSpinning,
    /// Who gives way, decided by a number.
    OneGoesFirst,
    /// A task that is asked to stop, instead of aborted.
    AskToStop,
    /// Work in a task of its own, which nobody drops.
    OwnTask,
    /// What was begun is taken back when it is dropped.
    UndoWhenDropped {
        name: &'a str,
    },
    /// All waits before the first change.
    ReserveFirst,
    /// Messages that are received while a task waits for room for its own.
    ReceiveMeanwhile,
    /// Messages that are received before a wait for who sends them.
    ReceiveFirst(Awaited<'a>),
    /// A channel that is closed.
    CloseChannel(Awaited<'a>),
    /// A lock that is given back on every way out.
    GiveBackAlways,
    /// A value that is written on every way out.
    WriteAlways,
    /// The end of a wait, brought about on every way out.
    EndWait(Awaited<'a>),
    /// What is taken from a queue if it has something, in one step.
    TakeOrGiveUp,
    /// A wait for a limited time.
    LimitWait(Awaited<'a>),
    /// A process learns of the end of the one that was to answer.
    MonitorAsked,
    /// A receive that ends without a message.
    LimitReceive,
    /// A message in the place of a call.
    TellInsteadOfCall,
    /// A reply that is given when it is known, while the server goes on.
    AnswerLater,
}

/// What a task waits for.
#[derive(Clone, Copy)]
pub(crate) struct Awaited<'a> {
    /// The front end has told of the wait, which began without a step.
    pub(crate) is_told: bool,
    /// The operation with which it waits.
    pub(crate) operation: &'a str,
    /// Of a future, the method that was called for it.
    pub(crate) future: Option<&'a str>,
    /// What the record calls the resource.
    pub(crate) name: &'a str,
}

impl Awaited<'_> {
    /// Whether it waits for room.
    pub(crate) fn sends(&self) -> bool {
        self.future.unwrap_or(self.operation) == "send"
    }
}

/// How nobody can reach something without its lock.
pub(crate) struct Encapsulation {
    pub(crate) title: String,
    pub(crate) sketch: Vec<String>,
    pub(crate) tradeoff: &'static str,
}

/// `if` becomes `while` in a line that looks: None if it has none.
pub(super) fn in_loop(look: &str) -> Option<String> {
    look.strip_prefix("if ").map(|condition| format!("while {condition}"))
}

/// Lines of a sketch.
pub(super) fn lines<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.map(str::to_owned).into()
}

/// Lines of a block.
pub(super) fn indented(lines: &[String]) -> impl Iterator<Item = String> + '_ {
    lines.iter().map(|line| format!("    {line}"))
}
