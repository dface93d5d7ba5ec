//! What arrives in a mailbox, and the references by which it is known.

use std::fmt;

use super::pid::{AnyPid, ProcessId};
use super::reason::ExitReason;

/// What processes can be sent. Everything that can be shown and be given to another thread is a message.
pub trait Message: fmt::Debug + Send + 'static {}

impl<M: fmt::Debug + Send + 'static> Message for M {}

/// What a process receives: all of it comes in one queue.
#[derive(Debug)]
pub enum Received<M> {
    /// Somebody sent this.
    Message(M),
    /// A process that is [monitored](crate::actor::Ctx::monitor) has ended.
    Down(Down),
    /// A [linked](crate::actor::Ctx::link) process has ended, or somebody wants this one to. Only for those who
    /// [trap exits](crate::actor::Ctx::trap_exit).
    Exit(Exit),
}

impl<M> Received<M> {
    /// What was sent, if it was sent.
    pub fn message(self) -> Option<M> {
        match self {
            Received::Message(message) => Some(message),
            Received::Down(_) | Received::Exit(_) => None,
        }
    }
}

/// A monitored process has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Down {
    /// What [`monitor`](crate::actor::Ctx::monitor) returned.
    pub monitor: MonitorRef,
    /// Who it was; nobody, if the name that was to be monitored was free.
    pub process: Option<AnyPid>,
    /// Why.
    pub reason: ExitReason,
}

/// An exit signal that was trapped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exit {
    /// Who has ended, or sent the signal; nobody, if it came from outside of all processes.
    pub from: Option<AnyPid>,
    /// Why.
    pub reason: ExitReason,
}

/// What the world sends.
#[derive(Clone, Debug)]
pub(crate) enum Signal {
    Down(Down),
    Exit(Exit),
}

impl<M> From<Signal> for Received<M> {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Down(down) => Received::Down(down),
            Signal::Exit(exit) => Received::Exit(exit),
        }
    }
}

/// A reference that is like no other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref {
    pub(crate) by: ProcessId,
    pub(crate) number: u64,
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)
    }
}

/// A monitor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MonitorRef(pub(crate) Ref);

/// A timer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TimerRef(pub(crate) Ref);

impl TimerRef {
    /// Who its message is posted by.
    pub(crate) fn sender(self) -> ProcessId {
        self.0.by.child(self.0.number | 1 << 63)
    }
}
