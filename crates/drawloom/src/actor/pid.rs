//! Processes, as others know them.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Weak};

use super::mailbox::{Inbox, Mailbox};
use super::process::Core;
use super::signal::Message;

/// The identity of a process. It is the same in every execution that spawns the process at the same place in the tree of processes.
///
/// ```
/// use drawloom::actor::{self, Ctx};
///
/// actor::run(async |ctx: Ctx<()>| {
///     let other = ctx.spawn(async |_: Ctx<()>| ());
///     assert_ne!(other.id(), ctx.me().id());
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub(crate) u64);

impl ProcessId {
    /// Nobody: who acts from outside of all processes.
    pub(crate) const OUTSIDE: ProcessId = ProcessId(0);

    /// By whom the signals of this process are posted: they arrive when they are delivered, and not in turn with its messages.
    pub(crate) fn of_signals(self) -> ProcessId {
        self.child(1 << 62)
    }

    /// The child with this number, from 1.
    pub(crate) fn child(self, number: u64) -> ProcessId {
        let product = u128::from(self.0 ^ 0x9E37_79B9_7F4A_7C15) * u128::from(number ^ 0xD6E8_FEB8_6659_FD93);
        ProcessId(((product as u64) ^ (product >> 64) as u64) | 1)
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06x}", self.0 >> 40)
    }
}

/// A process that takes messages of type `M`.
///
/// ```
/// use drawloom::actor::{self, Ctx, Pid};
///
/// let received = actor::run(async |mut ctx: Ctx<u32>| {
///     let me: Pid<u32> = ctx.me().clone();
///     me.send(7);
///     ctx.recv_message().await
/// });
/// assert_eq!(received, 7);
/// ```
pub struct Pid<M> {
    process: AnyPid,
    takes: PhantomData<fn(M)>,
}

impl<M: Message> Pid<M> {
    pub(crate) fn new(mailbox: Arc<Mailbox<M>>) -> Pid<M> {
        Pid { process: AnyPid(mailbox), takes: PhantomData }
    }

    pub(crate) fn mailbox(&self) -> &Mailbox<M> {
        let any: &dyn Any = &*self.process.0;
        any.downcast_ref().expect("a pid is of the type of its mailbox")
    }

    /// Sends `message`, from wherever this is called. It is lost if the process has ended, and nobody learns of it.
    #[track_caller]
    pub fn send(&self, message: M) {
        let from = self.process.core().backend.here();
        self.send_as(Location::caller(), from, message);
    }

    pub(crate) fn send_as(&self, at: &'static Location<'static>, from: ProcessId, message: M) {
        self.mailbox().post(from, message);
        self.process.core().backend.send(at, from, &self.process);
    }
}

impl<M> Pid<M> {
    /// The process, whatever it takes.
    pub fn any(&self) -> &AnyPid {
        &self.process
    }

    /// The identity of the process.
    pub fn id(&self) -> ProcessId {
        self.process.id()
    }
}

/// A process, whatever it takes: enough to link, to monitor, to end it.
///
/// ```
/// use drawloom::actor::{self, Ctx, AnyPid};
///
/// actor::run(async |ctx: Ctx<u32>| {
///     let me: AnyPid = ctx.me().any().clone();
///     assert!(me.typed::<u32>().is_some());
///     assert!(me.typed::<String>().is_none());
/// });
/// ```
#[derive(Clone)]
pub struct AnyPid(pub(crate) Arc<dyn Inbox>);

impl AnyPid {
    /// The identity of the process.
    pub fn id(&self) -> ProcessId {
        self.core().id
    }

    /// The process as one that takes messages of type `M`, if it does.
    pub fn typed<M: Message>(&self) -> Option<Pid<M>> {
        let any: &dyn Any = &*self.0;
        any.is::<Mailbox<M>>().then(|| Pid { process: self.clone(), takes: PhantomData })
    }

    pub(crate) fn core(&self) -> &Core {
        self.0.core()
    }

    /// Whether both are of one system: ids are of a system each.
    pub(crate) fn is_of_system_of(&self, other: &AnyPid) -> bool {
        let (mine, theirs) = (&self.core().backend, &other.core().backend);
        if Arc::ptr_eq(mine, theirs) {
            return true;
        }
        // Nodes of one system have backends of their own.
        #[cfg(feature = "controlled")]
        if let (Some(mine), Some(theirs)) = (mine.world(), theirs.world()) {
            return Arc::ptr_eq(&mine, &theirs);
        }
        false
    }

    pub(crate) fn downgrade(&self) -> WeakPid {
        WeakPid(Arc::downgrade(&self.0))
    }
}

/// A process that is not kept by this.
#[derive(Clone)]
pub(crate) struct WeakPid(Weak<dyn Inbox>);

impl WeakPid {
    /// The process, while somebody knows it: while it runs, at least it does itself.
    pub(crate) fn upgrade(&self) -> Option<AnyPid> {
        self.0.upgrade().map(AnyPid)
    }
}

impl<M> Clone for Pid<M> {
    fn clone(&self) -> Self {
        Pid { process: self.process.clone(), takes: PhantomData }
    }
}

impl<M> From<Pid<M>> for AnyPid {
    fn from(pid: Pid<M>) -> AnyPid {
        pid.process
    }
}

impl<M> From<&Pid<M>> for AnyPid {
    fn from(pid: &Pid<M>) -> AnyPid {
        pid.process.clone()
    }
}

impl<M> AsRef<AnyPid> for Pid<M> {
    fn as_ref(&self) -> &AnyPid {
        &self.process
    }
}

impl AsRef<AnyPid> for AnyPid {
    fn as_ref(&self) -> &AnyPid {
        self
    }
}

impl PartialEq for AnyPid {
    fn eq(&self, other: &AnyPid) -> bool {
        self.id() == other.id() && self.is_of_system_of(other)
    }
}

impl Eq for AnyPid {}

impl Hash for AnyPid {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for AnyPid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "controlled")]
        if let Some(path) = self.core().backend.path(self.core()) {
            return write!(f, "<{path}>");
        }
        write!(f, "<{:?}>", self.id())
    }
}

impl<M> PartialEq for Pid<M> {
    fn eq(&self, other: &Pid<M>) -> bool {
        self.process == other.process
    }
}

impl<M> Eq for Pid<M> {}

impl<M> Hash for Pid<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.process.hash(state);
    }
}

impl<M> fmt::Debug for Pid<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.process.fmt(f)
    }
}
