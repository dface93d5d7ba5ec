//! The crate `crossbeam` under control: channels, scoped threads, cells, queues, and what waits.
//!
//! In production these names are that crate's own. Under control [`channel`] is [`drawloom::channel`](crate::channel),
//! [`thread`] stands on [`drawloom::thread`](crate::thread), and cells and queues are [objects](crate::object): each use
//! of one is a step. What is not there: `deque` and `epoch`, `channel::Select`, raw pointers into parkers and cells; and
//! errors of channels are std's where std has them, without the methods that crossbeam adds.

pub mod atomic;
pub mod queue;
pub mod sync;
pub mod thread;
pub mod utils;

pub use self::thread::scope;
pub use crate::select;

/// As the crate `crossbeam-channel`.
pub mod channel {
    pub use crate::channel::{
        IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryIter,
        TryRecvError, TrySendError, after, at, bounded, never, tick, unbounded,
    };
    pub use crate::select;
}
