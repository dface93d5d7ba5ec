//! `std::sync::mpsc`, under control.
//!
//! A channel made inside an exploration is a resource of the engine: each send, each receive and each
//! end that goes away is a step. One made outside is std's own, wherever it is used later, so it can
//! carry results out of an exploration; a task that blocks on one blocks the whole exploration.
//!
//! A controlled channel that outlives its execution is a plain queue outside of any: nothing waits
//! there, since nobody is left to end the wait. In a later execution it is under control again.

mod channel;
mod iter;
mod receiver;
mod sender;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::{Sender, SyncSender};

use drawloom_engine::UNBOUNDED;

use channel::{Channel, Flavor};

use crate::rt;

/// A channel that never fills: as [`std::sync::mpsc::channel`].
///
/// ```
/// use drawloom::sync::mpsc;
///
/// let (sender, receiver) = mpsc::channel();
/// sender.send(1).unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if rt::current().is_none() {
        let (sender, receiver) = std::sync::mpsc::channel();
        return (Sender::new(Flavor::Native(sender)), Receiver::new(Flavor::Native(receiver)));
    }
    let (ours, theirs) = Channel::ends(UNBOUNDED);
    (Sender::new(Flavor::Controlled(ours)), Receiver::new(Flavor::Controlled(theirs)))
}

/// A channel that holds `bound` messages: as [`std::sync::mpsc::sync_channel`]. With 0, a send waits
/// until its message is taken.
///
/// ```
/// use drawloom::sync::mpsc::{self, TrySendError};
///
/// let (sender, receiver) = mpsc::sync_channel(1);
/// sender.send(1).unwrap();
/// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if rt::current().is_none() {
        let (sender, receiver) = std::sync::mpsc::sync_channel(bound);
        return (SyncSender::new(Flavor::Native(sender)), Receiver::new(Flavor::Native(receiver)));
    }
    let (ours, theirs) = Channel::ends((bound as u64).min(UNBOUNDED - 1));
    (SyncSender::new(Flavor::Controlled(ours)), Receiver::new(Flavor::Controlled(theirs)))
}
