//! What arrives in a mailbox, and the references by which it is known.

use std::fmt;

use super::pid::{AnyPid, ProcessId};
use super::reason::ExitReason;

/// A message. Every type that is `Debug`, `Send` and `'static` is one.
///
/// ```
/// use drawloom::actor::Message;
///
/// #[derive(Debug)]
/// struct Job(u32);
///
/// fn accepts<M: Message>(_: M) {}
/// accepts(Job(1));
/// ```
pub trait Message: fmt::Debug + Send + 'static {}

impl<M: fmt::Debug + Send + 'static> Message for M {}

/// An entry of a mailbox: messages, ends of other processes and exit signals share one queue.
///
/// ```
/// use drawloom::actor::Received;
///
/// assert_eq!(Received::Message(7).message(), Some(7));
/// ```
#[derive(Debug)]
pub enum Received<M> {
    /// A message from another process.
    Message(M),
    /// A process that is [monitored](crate::actor::Ctx::monitor) has ended.
    Down(Down),
    /// A [linked](crate::actor::Ctx::link) process has ended, or somebody wants this one to. Only for those who
    /// [trap exits](crate::actor::Ctx::trap_exit).
    Exit(Exit),
}

impl<M> Received<M> {
    /// The message, if it is one.
    pub fn message(self) -> Option<M> {
        match self {
            Received::Message(message) => Some(message),
            Received::Down(_) | Received::Exit(_) => None,
        }
    }
}

/// A monitored process has ended.
///
/// ```
/// use drawloom::actor::{self, Ctx, Down};
///
/// actor::run(async |mut ctx: Ctx<()>| {
///     let (worker, monitor) = ctx.spawn_monitor(async |_: Ctx<()>| ());
///     let Down { process, reason, .. } = ctx.recv_down(monitor).await;
///     assert_eq!(process.as_ref(), Some(worker.any()));
///     assert!(reason.is_normal());
/// });
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Down {
    /// The monitor, as returned by [`monitor`](crate::actor::Ctx::monitor).
    pub monitor: MonitorRef,
    /// The process; `None` if the monitored name was free.
    pub process: Option<AnyPid>,
    /// Why.
    pub reason: ExitReason,
}

/// An exit signal that was trapped.
///
/// ```
/// use drawloom::actor::{Exit, ExitReason, Received};
///
/// fn why<M>(received: Received<M>) -> Option<ExitReason> {
///     match received {
///         Received::Exit(Exit { reason, .. }) => Some(reason),
///         _ => None,
///     }
/// }
/// # let _ = why::<()>;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The process that ended or sent the signal; `None` for a signal from outside.
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
///
/// ```
/// use drawloom::actor::{self, Ctx};
///
/// actor::run(async |ctx: Ctx<()>| assert_ne!(ctx.make_ref(), ctx.make_ref()));
/// ```
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
///
/// ```
/// use drawloom::actor::{self, Ctx, MonitorRef};
///
/// actor::run(async |mut ctx: Ctx<()>| {
///     let worker = ctx.spawn(async |_: Ctx<()>| ());
///     let monitor: MonitorRef = ctx.monitor(&worker);
///     ctx.recv_down(monitor).await;
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MonitorRef(pub(crate) Ref);

/// A timer.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::{self, Ctx, TimerRef};
///
/// actor::run(async |mut ctx: Ctx<&'static str>| {
///     let me = ctx.me().clone();
///     let timer: TimerRef = ctx.send_after(Duration::from_millis(1), &me, "tick");
///     assert_eq!(ctx.recv_message().await, "tick");
///     # let _ = timer;
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TimerRef(pub(crate) Ref);

impl TimerRef {
    /// Who its message is posted by.
    pub(crate) fn sender(self) -> ProcessId {
        self.0.by.child(self.0.number | 1 << 63)
    }
}
