//! The seam: what runs processes, without their types.
//!
//! Above it are types: a [`Pid<M>`](super::Pid), a mailbox of `M`, predicates over `M`, futures. Below it are a scheduler, a
//! clock and the rules of links, monitors, names and exits. There is one backend for explorations, which makes each call
//! a step of the engine, and others for production.
//!
//! **Messages never cross the seam.** Who sends puts the message into the mailbox as *posted* and tells the backend that it is on
//! its way ([`Backend::send`]); the backend says when it [arrives](super::mailbox::Inbox::arrive): at once, or, where an
//! exploration delivers in two steps, later. So a send allocates nothing but the place in a queue.
//!
//! **Waiting.** The futures of [`Ctx`](super::Ctx) ask [`Backend::receive`] in their poll. A backend may wait right there
//! and return `Ready`: a process does one thing at a time, and each has a fiber or a thread of its own. So no waker is
//! involved, and a receive is *one* step. A backend that shares threads among processes returns `Pending` and wakes. A receive takes
//! `&mut Ctx`, so nobody polls two of them in turn.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::pid::{AnyPid, ProcessId};
use super::reason::{ExitReason, NoProc, Unnamed};
use super::signal::{MonitorRef, TimerRef};

/// Where the user's code asks for something.
pub(crate) type Place = &'static Location<'static>;

/// What a process runs: called where it is to run, and polled there until it has ended. Exits and panics are caught
/// within.
pub(crate) type Body = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ExitReason> + Send>> + Send>;

/// How a new process is tied to who spawns it, in one step with its creation.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tie {
    pub(crate) link: bool,
    pub(crate) monitor: Option<MonitorRef>,
}

/// Whom to send to or to monitor.
#[derive(Clone, Copy)]
pub(crate) enum Whom<'a> {
    Process(&'a AnyPid),
    Name(&'a str),
}

impl Whom<'_> {
    /// Nobody, if it is a process of another system than `me`: that has ended as far as this one goes.
    pub(crate) fn of_system_of(self, me: &AnyPid) -> Option<Self> {
        match self {
            Whom::Process(process) if !process.is_of_system_of(me) => None,
            whom => Some(whom),
        }
    }
}

/// What becomes of the removal of a monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Demonitored {
    /// It was there, and nothing comes any more.
    Removed,
    /// It was not there: its `Down` was sent, and is in the mailbox unless it was received.
    Gone,
}

/// What runs processes. Everything here may be a scheduling point, except where it says otherwise.
pub(crate) trait Backend: Send + Sync {
    /// The process whose code calls, or [`ProcessId::OUTSIDE`]. No step.
    fn here(&self) -> ProcessId;

    /// What the running process panics with next is a mistake of the program, whoever is told of its end. No step.
    fn blame(&self) {}

    /// Runs `root`, the first process of its system, to its end, while the caller waits.
    fn run(&self, at: Place, root: &AnyPid, body: Body) -> ExitReason;

    /// Creates a process, ties it to `parent`, and lets it run `body`. Before that it is known to nobody.
    fn spawn(&self, at: Place, parent: Option<&AnyPid>, child: &AnyPid, tie: Tie, body: Body);

    /// The oldest message that `from` has posted at `to` and that is not on its way is so from now on.
    fn send(&self, at: Place, from: ProcessId, to: &AnyPid);

    /// The process that has a name; `post` puts the message there, and says whether it takes such messages. In one step
    /// with the send.
    fn send_to_name(
        &self,
        at: Place,
        from: ProcessId,
        name: &str,
        post: &mut dyn FnMut(&AnyPid) -> bool,
    ) -> Result<(), super::BadName>;

    /// Waits until `look` finds something in the mailbox of `me`, for so long at the most; whether it did. The caller takes out what was
    /// found, before anything else happens.
    fn receive(
        &self,
        at: Place,
        me: &AnyPid,
        look: &mut dyn FnMut() -> bool,
        limit: Option<Duration>,
        context: &mut Context<'_>,
    ) -> Poll<bool>;

    /// What the receive was that began before: a poll that is over, or a future that is dropped. No step.
    fn end_receive(&self, me: &AnyPid);

    fn monitor(&self, at: Place, me: &AnyPid, whom: Whom<'_>, monitor: MonitorRef);

    /// Nothing comes of the monitor when this has returned; what has come is in the mailbox.
    fn demonitor(&self, at: Place, me: &AnyPid, monitor: MonitorRef) -> Demonitored;

    /// An error if `me` does not trap exits and the other has ended; who traps gets a signal then.
    fn link(&self, at: Place, me: &AnyPid, other: &AnyPid) -> Result<(), NoProc>;

    fn unlink(&self, at: Place, me: &AnyPid, other: &AnyPid);

    /// Whether exits are trapped from now on; whether they were.
    fn trap_exit(&self, at: Place, me: &AnyPid, trap: bool) -> bool;

    /// An exit signal, as `exit/2`. It can be for the caller itself, which is then unwound.
    fn exit(&self, at: Place, from: Option<&AnyPid>, to: &AnyPid, reason: ExitReason);

    fn is_alive(&self, at: Place, other: &AnyPid) -> bool;

    fn register(&self, at: Place, name: &str, process: &AnyPid) -> Result<(), Unnamed>;

    /// Whether there was anybody of that name.
    fn unregister(&self, at: Place, name: &str) -> bool;

    fn whereis(&self, at: Place, name: &str) -> Option<AnyPid>;

    /// Names that are taken, in order.
    fn registered(&self, at: Place) -> Vec<String>;

    /// Lets what was posted by the [timer](TimerRef::sender) arrive at `to` when the time has come.
    fn send_after(&self, at: Place, me: &AnyPid, to: &AnyPid, timer: TimerRef, delay: Duration);

    /// The time that was left, if the timer has not fired.
    fn cancel(&self, at: Place, timer: TimerRef) -> Option<Duration>;

    /// Time since the system began.
    fn now(&self, at: Place) -> Duration;

    /// Waits until nobody can continue without time passing.
    fn settle(&self, at: Place, me: &AnyPid, context: &mut Context<'_>) -> Poll<()>;

    /// What `from` posts at `to`, for somebody who wants to read it. No step.
    #[cfg(feature = "controlled")]
    fn note(&self, _to: &super::process::Core, _from: ProcessId, _text: &dyn Fn() -> String) {}

    /// How reports call a process. No step.
    #[cfg(feature = "controlled")]
    fn path(&self, _process: &super::process::Core) -> Option<String> {
        None
    }

    /// A process of it begins; nobody knows it yet. No step.
    fn born(&self, _process: &AnyPid) {}

    /// The node that its processes are on, if they are on one.
    fn node(&self) -> Option<usize> {
        None
    }

    /// The system of an exploration that it belongs to.
    #[cfg(feature = "controlled")]
    fn world(&self) -> Option<std::sync::Arc<super::controlled::World>> {
        None
    }
}
