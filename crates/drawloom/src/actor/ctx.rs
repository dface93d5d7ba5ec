//! What a process can do.

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::backend::{Backend, Demonitored, Place, Tie, Whom};
use super::mailbox::{Anything, Asked, Inbox, Item, Mailbox, Messages, Search, Wanted};
use super::pid::{AnyPid, Pid, ProcessId};
use super::process::{Core, Ending, Exiting, body};
use super::reason::{BadName, ExitReason, NameTaken, NoProc, Unnamed};
use super::signal::{Down, Message, MonitorRef, Received, Ref, TimerRef};

/// The context through which a process acts. Each process has its own.
///
/// ```
/// use drawloom::actor::{self, Ctx};
///
/// let doubled = actor::run(async |mut ctx: Ctx<u32>| {
///     let parent = ctx.me().clone();
///     ctx.spawn(move |ctx: Ctx<()>| async move { ctx.send(&parent, 21) });
///     2 * ctx.recv_message().await
/// });
/// assert_eq!(doubled, 42);
/// ```
pub struct Ctx<M: Message> {
    me: Pid<M>,
    /// Requests that were made and not answered.
    pub(super) requests: usize,
    /// Requests whose answer nobody waits for any more.
    pub(super) forgotten: Vec<Ref>,
    /// There ever was such a request. Whether its answer has come by now is not asked: that would be a look at what others do.
    pub(super) has_forgotten: bool,
}

impl<M: Message> Ctx<M> {
    pub(crate) fn new(me: Pid<M>) -> Ctx<M> {
        Ctx { me, requests: 0, forgotten: Vec::new(), has_forgotten: false }
    }

    /// The process itself, as others know it.
    pub fn me(&self) -> &Pid<M> {
        &self.me
    }

    pub(super) fn core(&self) -> &Core {
        self.me.any().core()
    }

    fn backend(&self) -> &dyn Backend {
        &*self.core().backend
    }

    /// Whether a process is of this system. One of another system has ended, as far as this one goes: it can be sent messages, and nothing
    /// else.
    fn knows(&self, who: &AnyPid) -> bool {
        who.is_of_system_of(self.me.any())
    }

    /// A reference that is like no other.
    pub fn make_ref(&self) -> Ref {
        self.core().next_ref()
    }

    // ── processes ────────────────────────────────────────────────────────────────────────────────

    /// Starts a process that runs `f`.
    #[track_caller]
    pub fn spawn<N, F, Fut>(&self, f: F) -> Pid<N>
    where
        N: Message,
        F: FnOnce(Ctx<N>) -> Fut + Send + 'static,
        Fut: Future<Output: Ending> + Send + 'static,
    {
        self.start(Location::caller(), f, Tie::default())
    }

    /// Starts a process that is linked to this one from its beginning.
    #[track_caller]
    pub fn spawn_link<N, F, Fut>(&self, f: F) -> Pid<N>
    where
        N: Message,
        F: FnOnce(Ctx<N>) -> Fut + Send + 'static,
        Fut: Future<Output: Ending> + Send + 'static,
    {
        self.start(Location::caller(), f, Tie { link: true, monitor: None })
    }

    /// Starts a process that is monitored by this one from its beginning.
    #[track_caller]
    pub fn spawn_monitor<N, F, Fut>(&self, f: F) -> (Pid<N>, MonitorRef)
    where
        N: Message,
        F: FnOnce(Ctx<N>) -> Fut + Send + 'static,
        Fut: Future<Output: Ending> + Send + 'static,
    {
        let monitor = MonitorRef(self.make_ref());
        (self.start(Location::caller(), f, Tie { link: false, monitor: Some(monitor) }), monitor)
    }

    fn start<N, F, Fut>(&self, at: Place, f: F, tie: Tie) -> Pid<N>
    where
        N: Message,
        F: FnOnce(Ctx<N>) -> Fut + Send + 'static,
        Fut: Future<Output: Ending> + Send + 'static,
    {
        let pid = self.conceive();
        self.start_as(at, &pid, f, tie);
        pid
    }

    /// A child that is not started yet.
    pub(super) fn conceive<N: Message>(&self) -> Pid<N> {
        let core = Core::new(self.core().next_child(), Arc::clone(&self.core().backend));
        Pid::new(Arc::new(Mailbox::new(core)))
    }

    pub(super) fn start_as<N, F, Fut>(&self, at: Place, child: &Pid<N>, f: F, tie: Tie)
    where
        N: Message,
        F: FnOnce(Ctx<N>) -> Fut + Send + 'static,
        Fut: Future<Output: Ending> + Send + 'static,
    {
        self.backend().spawn(at, Some(self.me.any()), child.any(), tie, body(child.clone(), f));
    }

    /// Ends this process, for `reason`: its destructors run.
    pub fn exit(&self, reason: ExitReason) -> ! {
        super::process::unwind(Exiting(reason))
    }

    /// Sends an exit signal, as if a linked process had ended for `reason`. [`Kill`](ExitReason::Kill) cannot be trapped;
    /// [`Normal`](ExitReason::Normal) does nothing to a process that does not trap exits, unless it is this one.
    #[track_caller]
    pub fn send_exit(&self, to: impl AsRef<AnyPid>, reason: ExitReason) {
        if self.knows(to.as_ref()) {
            self.backend().exit(Location::caller(), Some(self.me.any()), to.as_ref(), reason);
        }
    }

    /// Ends a process at once, whether it traps exits or not.
    #[track_caller]
    pub fn kill(&self, who: impl AsRef<AnyPid>) {
        if self.knows(who.as_ref()) {
            self.backend().exit(Location::caller(), Some(self.me.any()), who.as_ref(), ExitReason::Kill);
        }
    }

    /// Whether a process has not ended yet.
    #[track_caller]
    pub fn is_alive(&self, who: impl AsRef<AnyPid>) -> bool {
        self.knows(who.as_ref()) && self.backend().is_alive(Location::caller(), who.as_ref())
    }

    // ── links and monitors ───────────────────────────────────────────────────────────────────────

    /// Links this process with another one: whichever ends takes the other with it, or tells it. Links do not stack.
    ///
    /// # Errors
    ///
    /// If the other one has ended, and this one does not [trap exits](Self::trap_exit). If it does, it receives an
    /// [`Exit`](super::Exit).
    #[track_caller]
    pub fn link(&self, other: impl AsRef<AnyPid>) -> Result<(), NoProc> {
        if !self.knows(other.as_ref()) {
            return Err(NoProc);
        }
        self.backend().link(Location::caller(), self.me.any(), other.as_ref())
    }

    /// Removes a link. An [`Exit`](super::Exit) that has arrived before stays in the mailbox.
    #[track_caller]
    pub fn unlink(&self, other: impl AsRef<AnyPid>) {
        if self.knows(other.as_ref()) {
            self.backend().unlink(Location::caller(), self.me.any(), other.as_ref());
        }
    }

    /// Whether exit signals are received as messages from now on; whether they were.
    #[track_caller]
    pub fn trap_exit(&self, trap: bool) -> bool {
        self.backend().trap_exit(Location::caller(), self.me.any(), trap)
    }

    /// Asks to be told when a process ends: by a [`Down`], at once if it has ended.
    #[track_caller]
    pub fn monitor(&self, who: impl AsRef<AnyPid>) -> MonitorRef {
        self.monitor_it(Location::caller(), Whom::Process(who.as_ref()))
    }

    /// As [`monitor`](Self::monitor), for the process that has this name now.
    #[track_caller]
    pub fn monitor_name(&self, name: &str) -> MonitorRef {
        self.monitor_it(Location::caller(), Whom::Name(name))
    }

    fn monitor_it(&self, at: Place, whom: Whom<'_>) -> MonitorRef {
        let monitor = MonitorRef(self.make_ref());
        self.backend().monitor(at, self.me.any(), whom, monitor);
        monitor
    }

    /// Removes a monitor. Nothing comes of it any more; a [`Down`] that has arrived before stays in the mailbox. Whether it was still
    /// there, as `demonitor` with the option `info`.
    #[track_caller]
    pub fn demonitor(&self, monitor: MonitorRef) -> bool {
        self.backend().demonitor(Location::caller(), self.me.any(), monitor) == Demonitored::Removed
    }

    /// As `demonitor`, and removes its [`Down`] from the mailbox if that has arrived.
    #[track_caller]
    pub fn demonitor_flush(&mut self, monitor: MonitorRef) -> bool {
        let removed = self.demonitor(monitor);
        if !removed {
            self.me.any().0.flush(monitor);
        }
        removed
    }

    // ── messages ─────────────────────────────────────────────────────────────────────────────────

    /// Sends `message`. It is lost if the process has ended, and nobody learns of it.
    #[track_caller]
    pub fn send<N: Message>(&self, to: &Pid<N>, message: N) {
        to.send_as(Location::caller(), self.core().id, message);
    }

    /// Sends `message` to the process that has a name now.
    ///
    /// # Errors
    ///
    /// If nobody has, or takes other messages.
    #[track_caller]
    pub fn send_to_name<N: Message>(&self, name: &str, message: N) -> Result<(), BadName> {
        let (from, mut message) = (self.core().id, Some(message));
        self.backend().send_to_name(Location::caller(), from, name, &mut |to| match (to.typed::<N>(), message.take()) {
            (Some(to), Some(message)) => {
                to.mailbox().post(from, message);
                true
            }
            _ => false,
        })
    }

    /// The oldest of all that is in the mailbox; waits for it.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Received<M>> + Send + '_ {
        receive_anything(self, Location::caller(), None, endless)
    }

    /// The oldest message; leaves the rest.
    #[track_caller]
    pub fn recv_message(&mut self) -> impl Future<Output = M> + Send + '_ {
        receive_from(self, Location::caller(), Messages, false, None, |found| message(endless(unanswered(found))))
    }

    /// The oldest for which `wanted` says yes; what is before it keeps its place.
    #[track_caller]
    pub fn recv_match(
        &mut self,
        wanted: impl Fn(&Received<M>) -> bool + Send + Sync + 'static,
    ) -> impl Future<Output = Received<M>> + Send + '_ {
        receive_asked(self, move |received| wanted(received).then_some(0), None, endless)
    }

    /// The oldest message for which `wanted` says yes.
    #[track_caller]
    pub fn recv_where(
        &mut self,
        wanted: impl Fn(&M) -> bool + Send + Sync + 'static,
    ) -> impl Future<Output = M> + Send + '_ {
        let is_it = move |received: &Received<M>| match received {
            Received::Message(message) if wanted(message) => Some(0),
            _ => None,
        };
        receive_asked(self, is_it, None, |found| message(endless(found)))
    }

    /// The `Down` of a monitor.
    #[track_caller]
    pub fn recv_down(&mut self, monitor: MonitorRef) -> impl Future<Output = Down> + Send + '_ {
        let is_it = move |received: &Received<M>| match received {
            Received::Down(down) if down.monitor == monitor => Some(0),
            _ => None,
        };
        receive_asked(self, is_it, None, |found| match endless(found) {
            Received::Down(down) => down,
            _ => unreachable!("a down was asked for"),
        })
    }

    /// As [`recv`](Self::recv), for so long at the most. Of no time at all, only what is there.
    #[track_caller]
    pub fn recv_timeout(&mut self, limit: Duration) -> impl Future<Output = Option<Received<M>>> + Send + '_ {
        receive_anything(self, Location::caller(), Some(limit), without_clause)
    }

    /// As [`recv_match`](Self::recv_match), for so long at the most.
    #[track_caller]
    pub fn recv_match_timeout(
        &mut self,
        wanted: impl Fn(&Received<M>) -> bool + Send + Sync + 'static,
        limit: Duration,
    ) -> impl Future<Output = Option<Received<M>>> + Send + '_ {
        receive_asked(self, move |received| wanted(received).then_some(0), Some(limit), without_clause)
    }

    // ── names ────────────────────────────────────────────────────────────────────────────────────

    /// Gives a process a name; it has it until it ends.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the process has a name already or has ended.
    #[track_caller]
    pub fn register(&self, name: &str, who: impl AsRef<AnyPid>) -> Result<(), NameTaken> {
        let (at, who) = (Location::caller(), who.as_ref());
        let registered = if self.knows(who) { self.backend().register(at, name, who) } else { Err(Unnamed::Ended) };
        registered.map_err(|why| {
            let by = if let Unnamed::Taken(by) = &why { Some(by.clone()) } else { None };
            NameTaken { name: name.to_owned(), by, at, who: who.clone(), why }
        })
    }

    /// Takes a name away.
    ///
    /// # Errors
    ///
    /// If it was nobody's.
    #[track_caller]
    pub fn unregister(&self, name: &str) -> Result<(), BadName> {
        self.backend().unregister(Location::caller(), name).then_some(()).ok_or(BadName)
    }

    /// The process that has a name.
    #[track_caller]
    pub fn whereis(&self, name: &str) -> Option<AnyPid> {
        self.backend().whereis(Location::caller(), name)
    }

    /// The process that has a name and takes such messages.
    #[track_caller]
    pub fn whereis_as<N: Message>(&self, name: &str) -> Option<Pid<N>> {
        self.whereis(name).and_then(|any| any.typed())
    }

    /// All names that are taken, in order.
    #[track_caller]
    pub fn registered(&self) -> Vec<String> {
        self.backend().registered(Location::caller())
    }

    // ── time ─────────────────────────────────────────────────────────────────────────────────────

    /// Time since the system began: virtual inside an exploration.
    #[track_caller]
    pub fn now(&self) -> Duration {
        self.backend().now(Location::caller())
    }

    /// Sends `message` when so much time has passed. It is not ordered with what this process sends.
    #[track_caller]
    pub fn send_after<N: Message>(&self, delay: Duration, to: &Pid<N>, message: N) -> TimerRef {
        let timer = TimerRef(self.make_ref());
        to.mailbox().post(timer.sender(), message);
        self.backend().send_after(Location::caller(), self.me.any(), to.any(), timer, delay);
        timer
    }

    /// Cancels a timer. The time that was left; nothing if it has fired: then its message is in the mailbox, or was.
    #[track_caller]
    pub fn cancel(&self, timer: TimerRef) -> Option<Duration> {
        self.backend().cancel(Location::caller(), timer)
    }

    /// Waits for so long.
    #[track_caller]
    pub fn sleep(&mut self, time: Duration) -> impl Future<Output = ()> + Send + '_ {
        receive_asked(self, |_| None, Some(time), |_| ())
    }

    /// Waits until nobody can continue without time passing. For tests. Where timers fire early (`clock = explore`), it can end
    /// early, too.
    #[track_caller]
    pub fn settle(&mut self) -> impl Future<Output = ()> + Send + '_ {
        let (at, me) = (Location::caller(), self.me.any());
        poll_fn(move |context| me.core().backend.settle(at, me, context))
    }
}

/// What a receive has found, by which clause.
type Found<T> = Option<(usize, T)>;

fn endless<T>(found: Found<T>) -> T {
    found.expect("a receive without a limit ends with something").1
}

fn without_clause<T>(found: Found<T>) -> Option<T> {
    found.map(|(_, received)| received)
}

fn message<M>(received: Received<M>) -> M {
    received.message().expect("a message was asked for")
}

fn unanswered<M>(found: Found<Item<M>>) -> Found<Received<M>> {
    match found? {
        (clause, Item::Received(received)) => Some((clause, received)),
        (_, Item::Reply(_)) => unreachable!("no clause wants replies"),
    }
}

/// A receive: the oldest that one of the clauses wants, with the number of that clause; nothing, if time is up. Not begun before
/// it is polled.
#[doc(hidden)]
#[track_caller]
pub fn receive<M: Message>(
    ctx: &mut Ctx<M>,
    wanted: impl Fn(&Received<M>) -> Option<usize> + Send + Sync + 'static,
    limit: Option<Duration>,
) -> impl Future<Output = Option<(usize, Received<M>)>> + Send + '_ {
    receive_asked(ctx, wanted, limit, |found| found)
}

#[track_caller]
fn receive_asked<M: Message, R>(
    ctx: &mut Ctx<M>,
    wanted: impl Fn(&Received<M>) -> Option<usize> + Send + Sync + 'static,
    limit: Option<Duration>,
    made: impl Fn(Found<Received<M>>) -> R + Send + 'static,
) -> impl Future<Output = R> + Send + '_ {
    receive_from(ctx, Location::caller(), Asked(wanted), false, limit, move |found| made(unanswered(found)))
}

fn receive_anything<M: Message, R>(
    ctx: &mut Ctx<M>,
    at: Place,
    limit: Option<Duration>,
    made: impl Fn(Found<Received<M>>) -> R + Send + 'static,
) -> impl Future<Output = R> + Send + '_ {
    let anything = ctx.requests == 0 && !ctx.has_forgotten;
    receive_from(ctx, at, Anything, anything, limit, move |found| made(unanswered(found)))
}

/// A receive, of which `made` makes what it ends with. It is one future, however it is asked for: that is the path of every step of a
/// process that waits.
pub(super) fn receive_from<M: Message, R>(
    ctx: &mut Ctx<M>,
    at: Place,
    wanted: impl Wanted<M> + 'static,
    anything: bool,
    limit: Option<Duration>,
    made: impl Fn(Found<Item<M>>) -> R + Send + 'static,
) -> impl Future<Output = R> + Send + '_ {
    // For ever is no time at which something could happen.
    let limit = limit.filter(|limit| *limit < Duration::MAX);
    if !ctx.forgotten.is_empty() {
        let Ctx { me, forgotten, .. } = ctx;
        me.any().0.sweep(forgotten);
    }
    let mailbox = ctx.me.mailbox();
    let mut receiving: Option<Receiving<'_>> = None;
    poll_fn(move |context| {
        let core = mailbox.core();
        let Receiving { search, .. } = receiving.get_or_insert_with(|| Receiving { core, search: Search::default() });
        let mut look = |arrivals: &mut dyn FnMut() -> Option<ProcessId>| mailbox.look(search, &wanted, arrivals);
        let found = core.backend.receive(at, core, &mut look, anything, limit, context);
        found.map(|found| {
            let over = receiving.take().filter(|_| found);
            made(over.and_then(|mut over| mailbox.take(std::mem::take(&mut over.search))))
        })
    })
}

/// A receive that has begun.
struct Receiving<'a> {
    core: &'a Core,
    search: Search,
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        self.core.backend.end_receive(self.core);
    }
}
