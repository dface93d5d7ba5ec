//! What a call comes to.

/// What a call comes to. Below zero: it was no call that can be carried out, and nothing was done.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum drawloom_status {
    /// Done as asked.
    DRAWLOOM_OK = 0,
    /// The channel is closed; of a receive: and empty.
    DRAWLOOM_CLOSED = 1,
    /// There is no room in the channel.
    DRAWLOOM_FULL = 2,
    /// There is nothing in the channel.
    DRAWLOOM_EMPTY = 3,
    /// The wait was over before.
    DRAWLOOM_TIMED_OUT = 4,
    /// Somebody else has it; of a question: no.
    DRAWLOOM_BUSY = 5,
    /// The task was asked to end.
    DRAWLOOM_CANCELLED = 6,
    /// No arm of the select was ready.
    DRAWLOOM_DEFAULT = 7,
    /// Of all that arrived at the barrier, this task is the one that is told so; of a once: the initialiser is this task's to run.
    DRAWLOOM_LEADER = 8,
    /// The task holds the lock already, and waiting would be for itself.
    DRAWLOOM_HELD = 9,
    /// The task does not hold the lock.
    DRAWLOOM_NOT_HELD = 10,
    /// There is no session on this thread.
    DRAWLOOM_E_NO_SESSION = -1,
    /// The session belongs to another thread.
    DRAWLOOM_E_THREAD = -2,
    /// Hooks must not call.
    DRAWLOOM_E_HOOK = -3,
    /// A pointer is null that must not be.
    DRAWLOOM_E_NULL = -4,
    /// The `size` of a struct is none that this library knows.
    DRAWLOOM_E_SIZE = -5,
    /// A number is out of its range.
    DRAWLOOM_E_RANGE = -6,
    /// The configuration does not know the key, or the key does not know the value.
    DRAWLOOM_E_CONFIG = -7,
    /// A session cannot be begun within a session.
    DRAWLOOM_E_NESTED = -8,
    /// A text is no UTF-8.
    DRAWLOOM_E_TEXT = -9,
}

pub(crate) use drawloom_status::*;

/// What a session comes to.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum drawloom_verdict {
    /// Nothing was found.
    DRAWLOOM_PASSED = 0,
    /// Something was found.
    DRAWLOOM_FAILED = 1,
    /// Nothing was found, and a limit ended the exploration before its strategy was done.
    DRAWLOOM_LIMIT = 2,
    /// Nothing could be explored: the result says why.
    DRAWLOOM_ERROR = 3,
}

/// A handle: the number of a task, a lock, a channel … of the running execution. 0 is none.
pub type drawloom_handle = u64;
