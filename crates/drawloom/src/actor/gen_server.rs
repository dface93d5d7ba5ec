//! Servers: OTP's `gen_server`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::time::Duration;

use super::backend::{Place, Tie};
use super::ctx::Ctx;
use super::pid::{AnyPid, Pid};
use super::reason::ExitReason;
use super::reply::{Answer, CallError, ReplyTo, Request};
use super::signal::{Message, MonitorRef, Received};

/// How a server continues after it has handled something.
///
/// ```
/// use drawloom::actor::{ExitReason, Flow};
///
/// let next: Flow = Flow::Stop(ExitReason::Normal);
/// assert_ne!(next, Flow::Continue);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flow<I = ()> {
    /// With the next message.
    Continue,
    /// With the next message, or [`handle_timeout`](GenServer::handle_timeout) if none comes for so long.
    Timeout(Duration),
    /// With [`handle_continue`](GenServer::handle_continue), before anything else.
    ContinueWith(I),
    /// Not at all: [`terminate`](GenServer::terminate), and the end.
    Stop(ExitReason),
}

/// The messages of a server: calls of type `C`, casts of type `A`, and others of type `I`.
///
/// ```
/// use drawloom::actor::ServerMessage;
///
/// let tick: ServerMessage<(), (), &str> = ServerMessage::Info("tick");
/// assert_eq!(format!("{tick:?}"), "\"tick\"");
/// ```
pub enum ServerMessage<C, A, I> {
    /// The sender waits for a reply.
    Call(C),
    /// The sender does not wait.
    Cast(A),
    /// Any other message, such as a timer.
    Info(I),
    /// A request to stop, with the reason.
    Stop(ExitReason),
}

/// As what was asked or told: that says on its own whether it is a call.
impl<C: fmt::Debug, A: fmt::Debug, I: fmt::Debug> fmt::Debug for ServerMessage<C, A, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerMessage::Call(call) => call.fmt(f),
            ServerMessage::Cast(cast) => cast.fmt(f),
            ServerMessage::Info(info) => info.fmt(f),
            ServerMessage::Stop(reason) => f.debug_tuple("Stop").field(reason).finish(),
        }
    }
}

type MessageOf<S> = ServerMessage<<S as GenServer>::Call, <S as GenServer>::Cast, <S as GenServer>::Info>;

/// The context through which a server acts.
///
/// ```
/// use drawloom::actor::{GenServer, ServerCtx, ServerRef};
///
/// /// Its own address, to hand out to other processes.
/// fn address<S: GenServer>(ctx: &ServerCtx<S>) -> ServerRef<S> {
///     ServerRef::me(ctx)
/// }
/// ```
pub type ServerCtx<S> = Ctx<MessageOf<S>>;

/// A process that keeps a state and handles one request after the other: OTP's `gen_server`.
///
/// The messages that want a reply have a [`ReplyTo`] in them; the server can keep it and reply later.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::{self, Ctx, ExitReason, Flow, GenServer, ReplyTo, ServerCtx};
///
/// struct Counter(u64);
///
/// #[derive(Debug)]
/// enum Ask {
///     Get(ReplyTo<u64>),
/// }
///
/// #[derive(Debug)]
/// struct Add(u64);
///
/// impl GenServer for Counter {
///     type Args = u64;
///     type Call = Ask;
///     type Cast = Add;
///     type Info = ();
///
///     async fn init(start: u64, _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
///         Ok(Counter(start))
///     }
///
///     async fn handle_call(&mut self, Ask::Get(reply): Ask, _: &mut ServerCtx<Self>) -> Flow {
///         reply.send(self.0);
///         Flow::Continue
///     }
///
///     async fn handle_cast(&mut self, Add(more): Add, _: &mut ServerCtx<Self>) -> Flow {
///         self.0 += more;
///         Flow::Continue
///     }
/// }
///
/// let count = actor::run(async |mut ctx: Ctx<()>| {
///     let counter = Counter::start_link(&mut ctx, 40).await.unwrap();
///     counter.cast(Add(2));
///     counter.call(&mut ctx, Ask::Get, Duration::from_secs(5)).await
/// });
/// assert_eq!(count, Ok(42));
/// ```
pub trait GenServer: Sized + Send + 'static {
    /// What it starts from.
    type Args: Send + 'static;
    /// What it is asked.
    type Call: Message;
    /// What it is told.
    type Cast: Message;
    /// What else it receives.
    type Info: Message;

    /// The first state. Whoever starts the server waits for it.
    fn init(args: Self::Args, ctx: &mut ServerCtx<Self>) -> impl Future<Output = Result<Self, ExitReason>> + Send;

    /// Runs after `init`, when nobody waits for the server any more, and before the first message.
    fn started(&mut self, _ctx: &mut ServerCtx<Self>) -> impl Future<Output = Flow<Self::Info>> + Send {
        async { Flow::Continue }
    }

    /// Somebody asks.
    fn handle_call(
        &mut self,
        call: Self::Call,
        ctx: &mut ServerCtx<Self>,
    ) -> impl Future<Output = Flow<Self::Info>> + Send;

    /// Somebody tells. A server that does not expect that stops.
    fn handle_cast(
        &mut self,
        cast: Self::Cast,
        _ctx: &mut ServerCtx<Self>,
    ) -> impl Future<Output = Flow<Self::Info>> + Send {
        async move { Flow::Stop(ExitReason::Error(format!("a cast that the server does not handle: {cast:?}"))) }
    }

    /// Something else has come: a message, the end of a monitored process, or, if exits are trapped, of a linked one.
    fn handle_info(
        &mut self,
        _info: Received<Self::Info>,
        _ctx: &mut ServerCtx<Self>,
    ) -> impl Future<Output = Flow<Self::Info>> + Send {
        async { Flow::Continue }
    }

    /// What [`Flow::ContinueWith`] asked for.
    fn handle_continue(
        &mut self,
        info: Self::Info,
        ctx: &mut ServerCtx<Self>,
    ) -> impl Future<Output = Flow<Self::Info>> + Send {
        self.handle_info(Received::Message(info), ctx)
    }

    /// Nothing has come for as long as [`Flow::Timeout`] said.
    fn handle_timeout(&mut self, _ctx: &mut ServerCtx<Self>) -> impl Future<Output = Flow<Self::Info>> + Send {
        async { Flow::Continue }
    }

    /// The server stops. Not called if it panics or is killed, nor, unless it [traps exits](Ctx::trap_exit), if an exit signal
    /// ends it: its destructor runs in all cases.
    fn terminate(&mut self, _reason: &ExitReason, _ctx: &mut ServerCtx<Self>) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Starts a server, and waits for its `init`.
    ///
    /// # Errors
    ///
    /// If that fails.
    #[track_caller]
    fn start<M: Message>(
        ctx: &mut Ctx<M>,
        args: Self::Args,
    ) -> impl Future<Output = Result<ServerRef<Self>, StartError>> + Send {
        StartOptions::new().start(ctx, args)
    }

    /// The same, linked to the process that starts it. If that ends, the server stops.
    ///
    /// # Errors
    ///
    /// If `init` fails. The exit signal of the server ends the caller then, unless it [traps exits](Ctx::trap_exit).
    #[track_caller]
    fn start_link<M: Message>(
        ctx: &mut Ctx<M>,
        args: Self::Args,
    ) -> impl Future<Output = Result<ServerRef<Self>, StartError>> + Send {
        StartOptions::new().link().start(ctx, args)
    }
}

/// How a server is started.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::StartOptions;
///
/// let options = StartOptions::new().name("counter").link().limit(Duration::from_secs(1));
/// # let _ = options;
/// ```
#[derive(Clone, Default, Debug)]
pub struct StartOptions {
    name: Option<String>,
    link: bool,
    limit: Option<Duration>,
}

impl StartOptions {
    /// Without a name, a link, a limit.
    pub fn new() -> StartOptions {
        StartOptions::default()
    }

    /// Under this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> StartOptions {
        self.name = Some(name.into());
        self
    }

    /// Linked to the process that starts it.
    #[must_use]
    pub fn link(mut self) -> StartOptions {
        self.link = true;
        self
    }

    /// Not longer than that: an `init` that takes longer is killed.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> StartOptions {
        self.limit = Some(limit);
        self
    }

    /// Starts a server.
    ///
    /// # Errors
    ///
    /// As [`GenServer::start_link`].
    #[track_caller]
    pub fn start<S: GenServer, M: Message>(
        self,
        ctx: &mut Ctx<M>,
        args: S::Args,
    ) -> impl Future<Output = Result<ServerRef<S>, StartError>> + Send {
        let at = Location::caller();
        async move {
            let pid = self.launch(at, ctx, move |ctx, parent, ready| serve::<S>(ctx, args, parent, ready)).await?;
            Ok(ServerRef { pid })
        }
    }

    /// Starts a process that says when it is ready.
    pub(super) async fn launch<N, M, F, Fut>(self, at: Place, ctx: &mut Ctx<M>, f: F) -> Result<Pid<N>, StartError>
    where
        N: Message,
        M: Message,
        F: FnOnce(Ctx<N>, Option<AnyPid>, Ready) -> Fut + Send + 'static,
        Fut: Future<Output = ExitReason> + Send + 'static,
    {
        let parent = ctx.me().any().clone();
        let request = Request { tag: ctx.make_ref(), monitor: MonitorRef(ctx.make_ref()) };
        let child = ctx.conceive::<N>();
        let ack = ReplyTo::new(parent.clone(), Some(child.any().clone()), request.tag, at);
        let tie = Tie { link: self.link, monitor: Some(request.monitor) };
        let StartOptions { name, link, limit } = self;
        let body = move |ctx: Ctx<N>| async move {
            let mut ready = Ready { ack: Some(ack), name: None };
            if let Some(name) = name {
                if ctx.register(&name, ctx.me()).is_err() {
                    let by = ctx.whereis(&name);
                    ready.failed(StartError::NameTaken { name, by, at });
                    return ExitReason::Normal;
                }
                ready.name = Some(name);
            }
            f(ctx, link.then_some(parent), ready).await
        };
        ctx.start_as(at, &child, body, tie);
        ctx.requests += 1;
        match ctx.answer(at, request, limit).await {
            Answer::Value(result) => {
                let result: Result<(), StartError> = result;
                result.map(|()| child)
            }
            Answer::Down(reason) => Err(StartError::Failed(reason)),
            Answer::Dropped => Err(StartError::Failed(ExitReason::because("it never reported that it is ready"))),
            Answer::Nothing => {
                ctx.forget(request);
                ctx.unlink(&child);
                ctx.kill(&child);
                Err(StartError::Timeout)
            }
        }
    }
}

/// By which a process says that it is ready.
pub(super) struct Ready {
    ack: Option<ReplyTo<Result<(), StartError>>>,
    name: Option<String>,
}

impl Ready {
    pub(super) fn ready(mut self) {
        if let Some(ack) = self.ack.take() {
            ack.send(Ok(()));
        }
    }

    fn failed(&mut self, error: StartError) {
        if let Some(ack) = self.ack.take() {
            ack.send(Err(error));
        }
    }

    /// It is not, and ends. The name is free before anybody hears of it.
    pub(super) fn fails<N: Message>(mut self, ctx: &Ctx<N>, reason: ExitReason) -> ExitReason {
        if let Some(name) = self.name.take() {
            let _ = ctx.unregister(&name);
        }
        self.failed(StartError::Failed(reason.clone()));
        reason
    }
}

/// The reason why a server did not start.
///
/// ```
/// use drawloom::actor::{ExitReason, StartError};
///
/// let error = StartError::Failed(ExitReason::because("no licence"));
/// assert_eq!(error.to_string(), "it ended during its start: no licence");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Another process has the name.
    NameTaken {
        /// The name.
        name: String,
        /// Who, unless that process has ended since.
        by: Option<AnyPid>,
        /// Where the server was to be started.
        at: &'static Location<'static>,
    },
    /// The server ended before it was ready: its `init` failed with this reason.
    Failed(ExitReason),
    /// Its `init` took too long.
    Timeout,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NameTaken { name, by: Some(by), at } => {
                write!(f, "the name `{name}` of the server that is started at {at} is taken by {by:?}")
            }
            StartError::NameTaken { name, by: None, at } => {
                write!(f, "the name `{name}` of the server that is started at {at} was taken")
            }
            StartError::Failed(reason) => write!(f, "it ended during its start: {reason}"),
            StartError::Timeout => f.write_str("its start took too long"),
        }
    }
}

impl Error for StartError {}

/// The address of a server, for its callers.
///
/// ```
/// use drawloom::actor::{Ctx, GenServer, ServerRef};
///
/// /// Sends to a server by its name, if it runs.
/// fn tell<S: GenServer>(ctx: &Ctx<()>, name: &str, cast: S::Cast) {
///     if let Some(server) = ServerRef::<S>::whereis(ctx, name) {
///         server.cast(cast);
///     }
/// }
/// ```
pub struct ServerRef<S: GenServer> {
    pid: Pid<MessageOf<S>>,
}

impl<S: GenServer> ServerRef<S> {
    /// The server that has a name now.
    #[track_caller]
    pub fn whereis<M: Message>(ctx: &Ctx<M>, name: &str) -> Option<ServerRef<S>> {
        ctx.whereis_as(name).map(|pid| ServerRef { pid })
    }

    /// The server that a process knows itself to be.
    pub fn me(ctx: &ServerCtx<S>) -> ServerRef<S> {
        ServerRef { pid: ctx.me().clone() }
    }

    /// The process of the server, for example as the target of a timer ([`ServerMessage::Info`]).
    pub fn pid(&self) -> &Pid<MessageOf<S>> {
        &self.pid
    }

    /// Asks, and waits for the reply; `None` is no limit. See [`Ctx::call`].
    ///
    /// # Errors
    ///
    /// If there is no reply, and why.
    #[track_caller]
    pub fn call<M: Message, T: Send + 'static>(
        &self,
        ctx: &mut Ctx<M>,
        request: impl FnOnce(ReplyTo<T>) -> S::Call,
        limit: impl Into<Option<Duration>>,
    ) -> impl Future<Output = Result<T, CallError>> + Send {
        ctx.call(&self.pid, |reply| ServerMessage::Call(request(reply)), limit)
    }

    /// As [`call`](Self::call), for the server that has this name now.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    #[track_caller]
    pub fn call_name<M: Message, T: Send + 'static>(
        ctx: &mut Ctx<M>,
        name: &str,
        request: impl FnOnce(ReplyTo<T>) -> S::Call + Send,
        limit: impl Into<Option<Duration>> + Send,
    ) -> impl Future<Output = Result<T, CallError>> + Send {
        ctx.call_name(name, |reply| MessageOf::<S>::Call(request(reply)), limit)
    }

    /// Tells. Nobody says whether the server lives.
    #[track_caller]
    pub fn cast(&self, cast: S::Cast) {
        self.pid.send(ServerMessage::Cast(cast));
    }

    /// Sends what is neither a call nor a cast.
    #[track_caller]
    pub fn info(&self, info: S::Info) {
        self.pid.send(ServerMessage::Info(info));
    }

    /// Lets the server stop after the messages that are there, and waits for its end.
    ///
    /// # Errors
    ///
    /// If it ends for another reason, or not in time.
    #[track_caller]
    pub fn stop<M: Message>(
        &self,
        ctx: &mut Ctx<M>,
        reason: ExitReason,
        limit: impl Into<Option<Duration>>,
    ) -> impl Future<Output = Result<(), CallError>> + Send {
        let (pid, limit) = (self.pid.clone(), limit.into());
        async move {
            let stop = ServerMessage::Stop(reason.clone());
            stop_by(ctx, &pid, stop, &reason, limit).await
        }
    }
}

/// Sends what makes a process stop, and waits for its end.
pub(super) async fn stop_by<M: Message, N: Message>(
    ctx: &mut Ctx<M>,
    pid: &Pid<N>,
    message: N,
    reason: &ExitReason,
    limit: Option<Duration>,
) -> Result<(), CallError> {
    let monitor = ctx.monitor(pid);
    ctx.send(pid, message);
    let is_down = move |received: &Received<M>| matches!(received, Received::Down(down) if down.monitor == monitor);
    let down = match limit {
        Some(limit) => ctx.recv_match_timeout(is_down, limit).await,
        None => Some(ctx.recv_match(is_down).await),
    };
    match down {
        Some(Received::Down(down)) if down.reason == *reason => Ok(()),
        Some(Received::Down(down)) if down.reason == ExitReason::NoProc => Err(CallError::NoProc),
        Some(Received::Down(down)) => Err(CallError::Ended(down.reason)),
        _ => {
            ctx.demonitor_flush(monitor);
            Err(CallError::Timeout)
        }
    }
}

impl<S: GenServer> Clone for ServerRef<S> {
    fn clone(&self) -> Self {
        ServerRef { pid: self.pid.clone() }
    }
}

impl<S: GenServer> fmt::Debug for ServerRef<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pid.fmt(f)
    }
}

impl<S: GenServer> PartialEq for ServerRef<S> {
    fn eq(&self, other: &Self) -> bool {
        self.pid == other.pid
    }
}

impl<S: GenServer> Eq for ServerRef<S> {}

impl<S: GenServer> AsRef<AnyPid> for ServerRef<S> {
    fn as_ref(&self) -> &AnyPid {
        self.pid.any()
    }
}

/// What the process of a server does.
async fn serve<S: GenServer>(mut ctx: ServerCtx<S>, args: S::Args, parent: Option<AnyPid>, ready: Ready) -> ExitReason {
    let mut server = match S::init(args, &mut ctx).await {
        Ok(server) => server,
        Err(reason) => return ready.fails(&ctx, reason),
    };
    ready.ready();
    let mut flow = server.started(&mut ctx).await;
    let reason = loop {
        // One that stops without a reply has not lost it: its end is the answer.
        if !matches!(flow, Flow::Stop(_)) {
            ctx.core().tell_of_lost();
        }
        let received = match flow {
            Flow::Continue => Some(ctx.recv().await),
            Flow::Timeout(limit) => ctx.recv_timeout(limit).await,
            Flow::ContinueWith(info) => {
                flow = server.handle_continue(info, &mut ctx).await;
                continue;
            }
            Flow::Stop(reason) => break reason,
        };
        flow = match received {
            None => server.handle_timeout(&mut ctx).await,
            Some(Received::Message(ServerMessage::Call(call))) => server.handle_call(call, &mut ctx).await,
            Some(Received::Message(ServerMessage::Cast(cast))) => server.handle_cast(cast, &mut ctx).await,
            Some(Received::Message(ServerMessage::Info(info))) => {
                server.handle_info(Received::Message(info), &mut ctx).await
            }
            Some(Received::Message(ServerMessage::Stop(reason))) => break reason,
            // Whoever has started it ends.
            Some(Received::Exit(exit)) if parent.is_some() && exit.from == parent => break exit.reason,
            Some(Received::Exit(exit)) => server.handle_info(Received::Exit(exit), &mut ctx).await,
            Some(Received::Down(down)) => server.handle_info(Received::Down(down), &mut ctx).await,
        };
    };
    server.terminate(&reason, &mut ctx).await;
    // Replies that it still owes are not lost by mistake: those who wait learn of its end.
    ctx.core().end();
    drop(server);
    reason
}
