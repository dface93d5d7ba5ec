//! Supervisors: OTP's `supervisor`.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::backend::Place;
use super::ctx::Ctx;
use super::gen_server::{GenServer, Ready, StartError, StartOptions, stop_by};
use super::pid::{AnyPid, Pid};
use super::process::Ending;
use super::reason::ExitReason;
use super::reply::{CallError, ReplyTo};
use super::signal::{Message, Received};

/// Which children are started again when one has ended.
///
/// ```
/// use drawloom::actor::{Strategy, Supervisor};
///
/// // If one child fails, all start again.
/// let supervisor = Supervisor::new(Strategy::OneForAll);
/// # let _ = supervisor;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Strategy {
    /// Only that child.
    #[default]
    OneForOne,
    /// All children: the others are ended first, the last one first.
    OneForAll,
    /// That child and those that were started after it.
    RestForOne,
}

/// Whether a child is started again.
///
/// ```
/// use drawloom::actor::{ChildSpec, Ctx, Restart};
///
/// let once = ChildSpec::worker("once", async |_: Ctx<()>| ()).restart(Restart::Temporary);
/// # let _ = once;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Restart {
    /// Always.
    #[default]
    Permanent,
    /// Unless it has ended normally: for [`Normal`](ExitReason::Normal) or one of the shutdowns.
    Transient,
    /// Never.
    Temporary,
}

/// How a child is ended.
///
/// ```
/// use drawloom::actor::{ChildSpec, Ctx, Shutdown};
///
/// let worker = ChildSpec::worker("worker", async |mut ctx: Ctx<()>| ctx.recv_message().await).shutdown(Shutdown::Kill);
/// # let _ = worker;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// The supervisor kills it.
    Kill,
    /// The supervisor asks it to end, and kills it after this time.
    After(Duration),
    /// The supervisor asks it to end, and waits.
    Infinity,
}

/// The start of a child.
///
/// ```
/// use drawloom::actor::{ChildSpec, Ctx, Pid, Starting, SupervisorMessage};
///
/// fn start(ctx: &mut Ctx<SupervisorMessage>) -> Starting<'_> {
///     Box::pin(async move {
///         let child: Pid<()> = ctx.spawn_link(async |mut ctx: Ctx<()>| ctx.recv_message().await);
///         Ok(child.any().clone())
///     })
/// }
/// let child = ChildSpec::new("child", start);
/// # let _ = child;
/// ```
pub type Starting<'a> = Pin<Box<dyn Future<Output = Result<AnyPid, StartError>> + Send + 'a>>;

type Starts = Arc<dyn for<'a> Fn(&'a mut Ctx<SupervisorMessage>) -> Starting<'a> + Send + Sync>;

/// How a child is started, and when it is started again.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::{ChildSpec, Ctx, Restart, Shutdown};
///
/// let worker = ChildSpec::worker("worker", |mut ctx: Ctx<u32>| async move {
///     loop {
///         ctx.recv().await;
///     }
/// });
/// let worker = worker.restart(Restart::Transient).shutdown(Shutdown::After(Duration::from_secs(1)));
/// # let _ = worker;
/// ```
#[derive(Clone)]
pub struct ChildSpec {
    id: String,
    at: Place,
    starts: Starts,
    restart: Restart,
    shutdown: Shutdown,
}

impl ChildSpec {
    /// Any child: `starts` must return a process that is linked to the one whose context it is given.
    #[track_caller]
    pub fn new(
        id: impl Into<String>,
        starts: impl for<'a> Fn(&'a mut Ctx<SupervisorMessage>) -> Starting<'a> + Send + Sync + 'static,
    ) -> ChildSpec {
        let shutdown = Shutdown::After(Duration::from_secs(5));
        ChildSpec {
            id: id.into(),
            at: Location::caller(),
            starts: Arc::new(starts),
            restart: Restart::default(),
            shutdown,
        }
    }

    /// A plain process. It counts as started at once.
    #[track_caller]
    pub fn worker<N, F, Fut>(id: impl Into<String>, f: F) -> ChildSpec
    where
        N: Message,
        F: Fn(Ctx<N>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: Ending> + Send + 'static,
    {
        let f = Arc::new(f);
        ChildSpec::new(id, move |ctx| {
            let f = Arc::clone(&f);
            let child: Pid<N> = ctx.spawn_link(move |ctx| f(ctx));
            Box::pin(std::future::ready(Ok(child.into())))
        })
    }

    /// A server.
    #[track_caller]
    pub fn server<S: GenServer>(id: impl Into<String>, args: S::Args) -> ChildSpec
    where
        S::Args: Clone + Sync,
    {
        ChildSpec::server_with::<S>(id, StartOptions::new(), args)
    }

    /// A server whose name is its id.
    #[track_caller]
    pub fn named_server<S: GenServer>(name: impl Into<String>, args: S::Args) -> ChildSpec
    where
        S::Args: Clone + Sync,
    {
        let name = name.into();
        ChildSpec::server_with::<S>(name.clone(), StartOptions::new().name(name), args)
    }

    #[track_caller]
    fn server_with<S: GenServer>(id: impl Into<String>, options: StartOptions, args: S::Args) -> ChildSpec
    where
        S::Args: Clone + Sync,
    {
        let options = options.link();
        ChildSpec::new(id, move |ctx| {
            let (options, args) = (options.clone(), args.clone());
            Box::pin(async move { options.start::<S, _>(ctx, args).await.map(|server| server.as_ref().clone()) })
        })
    }

    /// A supervisor. It has all the time it needs to end.
    #[track_caller]
    pub fn supervisor(id: impl Into<String>, supervisor: Supervisor) -> ChildSpec {
        let spec = ChildSpec::new(id, move |ctx| {
            let supervisor = supervisor.clone();
            Box::pin(async move { supervisor.start_link(ctx).await.map(|started| started.pid.into()) })
        });
        spec.shutdown(Shutdown::Infinity)
    }

    /// When it is started again; otherwise always.
    #[must_use]
    pub fn restart(mut self, restart: Restart) -> ChildSpec {
        self.restart = restart;
        self
    }

    /// How it is ended; otherwise within 5 s.
    #[must_use]
    pub fn shutdown(mut self, shutdown: Shutdown) -> ChildSpec {
        self.shutdown = shutdown;
        self
    }
}

impl fmt::Debug for ChildSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChildSpec { id, restart, shutdown, .. } = self;
        f.debug_struct("ChildSpec").field("id", id).field("restart", restart).field("shutdown", shutdown).finish()
    }
}

/// A process that starts others, its children, and starts them again when they fail.
///
/// ```
/// use drawloom::actor::{self, ChildSpec, Ctx, Pid, Strategy, Supervisor};
///
/// // A worker that reports its start, and ends when it is told to.
/// actor::run(async |mut ctx: Ctx<Pid<()>>| {
///     let whom = ctx.me().clone();
///     let worker = ChildSpec::worker("worker", move |mut ctx: Ctx<()>| {
///         let whom = whom.clone();
///         async move {
///             whom.send(ctx.me().clone());
///             ctx.recv_message().await
///         }
///     });
///     let supervisor = Supervisor::new(Strategy::OneForOne).child(worker).start(&mut ctx).await.unwrap();
///     let monitor = ctx.monitor(&supervisor);
///     // It is started again three times within five seconds, and then the supervisor gives up.
///     for _ in 0..4 {
///         ctx.recv_message().await.send(());
///     }
///     assert_eq!(ctx.recv_down(monitor).await.reason, actor::ExitReason::Shutdown);
/// });
/// ```
#[derive(Clone, Debug)]
pub struct Supervisor {
    strategy: Strategy,
    intensity: usize,
    period: Duration,
    children: Vec<ChildSpec>,
    is_dynamic: bool,
    name: Option<String>,
}

impl Supervisor {
    /// Without children; more than 3 restarts within 5 s are too many.
    pub fn new(strategy: Strategy) -> Supervisor {
        let period = Duration::from_secs(5);
        Supervisor { strategy, intensity: 3, period, children: Vec::new(), is_dynamic: false, name: None }
    }

    /// One whose children come and go, by [`SupervisorRef::start_child`]: a child that is not started again is forgotten, ids need
    /// not differ, and in the end all children are ended at the same time.
    pub fn dynamic() -> Supervisor {
        Supervisor { is_dynamic: true, ..Supervisor::new(Strategy::OneForOne) }
    }

    /// More than so many restarts within that time are too many: the supervisor ends its children and itself.
    #[must_use]
    pub fn intensity(mut self, restarts: usize, within: Duration) -> Supervisor {
        (self.intensity, self.period) = (restarts, within);
        self
    }

    /// One more child, started after those before.
    #[must_use]
    pub fn child(mut self, child: ChildSpec) -> Supervisor {
        self.children.push(child);
        self
    }

    /// Under this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Supervisor {
        self.name = Some(name.into());
        self
    }

    /// Starts the supervisor and its children.
    ///
    /// # Errors
    ///
    /// If one of them fails: those before it have ended then.
    #[track_caller]
    pub fn start<M: Message>(self, ctx: &mut Ctx<M>) -> impl Future<Output = Result<SupervisorRef, StartError>> + Send {
        self.launch(ctx, StartOptions::new())
    }

    /// As `start`, and links the supervisor to the calling process. When that process ends, the supervisor ends, too.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start). The caller ends then, unless it [traps exits](Ctx::trap_exit).
    #[track_caller]
    pub fn start_link<M: Message>(
        self,
        ctx: &mut Ctx<M>,
    ) -> impl Future<Output = Result<SupervisorRef, StartError>> + Send {
        self.launch(ctx, StartOptions::new().link())
    }

    #[track_caller]
    fn launch<M: Message>(
        self,
        ctx: &mut Ctx<M>,
        options: StartOptions,
    ) -> impl Future<Output = Result<SupervisorRef, StartError>> + Send {
        let at = Location::caller();
        let options = self.name.iter().fold(options, |options, name| options.name(name));
        // Supervisors start supervisors: the type of one future cannot hold that of the other.
        let launched: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(async move {
            let pid = options.launch(at, ctx, move |ctx, parent, ready| supervise(ctx, self, parent, ready)).await?;
            Ok(SupervisorRef { pid })
        });
        launched
    }
}

/// The requests to a supervisor.
///
/// ```
/// use drawloom::actor::{CallError, ChildInfo, Ctx, Pid, SupervisorMessage};
///
/// async fn children(ctx: &mut Ctx<()>, supervisor: &Pid<SupervisorMessage>) -> Result<Vec<ChildInfo>, CallError> {
///     ctx.call(supervisor, SupervisorMessage::WhichChildren, None).await
/// }
/// # let _ = children;
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SupervisorMessage {
    /// Lists its children.
    WhichChildren(ReplyTo<Vec<ChildInfo>>),
    /// To start one more.
    StartChild(ChildSpec, ReplyTo<Result<AnyPid, ChildError>>),
    /// To end the child of that id, and not to start it again.
    TerminateChild(String, ReplyTo<Result<(), ChildError>>),
    /// To start a child again that was ended.
    RestartChild(String, ReplyTo<Result<AnyPid, ChildError>>),
    /// To forget a child that was ended.
    DeleteChild(String, ReplyTo<Result<(), ChildError>>),
    /// To end.
    Stop(ExitReason),
    /// To start a child again whose start has failed.
    #[doc(hidden)]
    TryAgain(u64),
}

/// A child of a supervisor.
///
/// ```
/// use drawloom::actor::{self, Ctx, ChildSpec, Strategy, Supervisor};
///
/// let names = actor::run(async |mut ctx: Ctx<()>| {
///     let worker = ChildSpec::worker("worker", async |mut ctx: Ctx<()>| ctx.recv_message().await);
///     let supervisor = Supervisor::new(Strategy::OneForOne).child(worker).start(&mut ctx).await.unwrap();
///     supervisor.which_children(&mut ctx).await.unwrap().into_iter().map(|child| child.id).collect::<Vec<_>>()
/// });
/// assert_eq!(names, ["worker"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChildInfo {
    /// As specified.
    pub id: String,
    /// The process of the child, if it runs.
    pub process: Option<AnyPid>,
    /// As specified.
    pub restart: Restart,
}

/// How many children there are.
///
/// ```
/// use drawloom::actor::{self, Ctx, ChildSpec, Strategy, Supervisor};
///
/// let children = actor::run(async |mut ctx: Ctx<()>| {
///     let worker = ChildSpec::worker("worker", async |mut ctx: Ctx<()>| ctx.recv_message().await);
///     let supervisor = Supervisor::new(Strategy::OneForOne).child(worker).start(&mut ctx).await.unwrap();
///     supervisor.count_children(&mut ctx).await.unwrap()
/// });
/// assert_eq!((children.specs, children.active), (1, 1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Children {
    /// The number of specified children.
    pub specs: usize,
    /// The number of running children.
    pub active: usize,
}

/// The reason why a supervisor refuses a request about a child.
///
/// ```
/// use drawloom::actor::ChildError;
///
/// assert_eq!(ChildError::NotFound.to_string(), "the supervisor has no such child");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ChildError {
    /// No child has this id.
    NotFound,
    /// A child with this id runs.
    Running(AnyPid),
    /// A child with this id exists, but does not run.
    AlreadyPresent,
    /// The child does not start.
    Start(StartError),
    /// The supervisor does not answer.
    Call(CallError),
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildError::NotFound => f.write_str("the supervisor has no such child"),
            ChildError::Running(child) => write!(f, "the child exists and runs: {child:?}"),
            ChildError::AlreadyPresent => f.write_str("the child exists but does not run"),
            ChildError::Start(error) => write!(f, "the child has not started: {error}"),
            ChildError::Call(error) => write!(f, "the supervisor: {error}"),
        }
    }
}

impl Error for ChildError {}

/// The address of a supervisor.
///
/// ```
/// use drawloom::actor::{CallError, Ctx, SupervisorRef};
///
/// async fn is_idle(ctx: &mut Ctx<()>, supervisor: &SupervisorRef) -> Result<bool, CallError> {
///     Ok(supervisor.count_children(ctx).await?.active == 0)
/// }
/// # let _ = is_idle;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SupervisorRef {
    pid: Pid<SupervisorMessage>,
}

impl SupervisorRef {
    /// The process of the supervisor.
    pub fn pid(&self) -> &Pid<SupervisorMessage> {
        &self.pid
    }

    /// The children, in the order of their start.
    ///
    /// # Errors
    ///
    /// If the supervisor has ended.
    #[track_caller]
    pub fn which_children<M: Message>(
        &self,
        ctx: &mut Ctx<M>,
    ) -> impl Future<Output = Result<Vec<ChildInfo>, CallError>> + Send {
        ctx.call(&self.pid, SupervisorMessage::WhichChildren, None)
    }

    /// How many children there are.
    ///
    /// # Errors
    ///
    /// If the supervisor has ended.
    pub async fn count_children<M: Message>(&self, ctx: &mut Ctx<M>) -> Result<Children, CallError> {
        let all = self.which_children(ctx).await?;
        let active = all.iter().filter(|child| child.process.is_some()).count();
        Ok(Children { specs: all.len(), active })
    }

    /// Adds a child, and starts it.
    ///
    /// # Errors
    ///
    /// If there is one of that id, or it does not start.
    pub async fn start_child<M: Message>(&self, ctx: &mut Ctx<M>, child: ChildSpec) -> Result<AnyPid, ChildError> {
        let answer = ctx.call(&self.pid, |reply| SupervisorMessage::StartChild(child, reply), None).await;
        answer.map_err(ChildError::Call)?
    }

    /// Ends a child. It can be [started again](Self::restart_child), unless it is temporary.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub async fn terminate_child<M: Message>(&self, ctx: &mut Ctx<M>, id: &str) -> Result<(), ChildError> {
        let id = id.to_owned();
        let answer = ctx.call(&self.pid, |reply| SupervisorMessage::TerminateChild(id, reply), None).await;
        answer.map_err(ChildError::Call)?
    }

    /// Starts a child again that was ended.
    ///
    /// # Errors
    ///
    /// If there is none, or it runs, or does not start.
    pub async fn restart_child<M: Message>(&self, ctx: &mut Ctx<M>, id: &str) -> Result<AnyPid, ChildError> {
        let id = id.to_owned();
        let answer = ctx.call(&self.pid, |reply| SupervisorMessage::RestartChild(id, reply), None).await;
        answer.map_err(ChildError::Call)?
    }

    /// Forgets a child that was ended.
    ///
    /// # Errors
    ///
    /// If there is none, or it runs.
    pub async fn delete_child<M: Message>(&self, ctx: &mut Ctx<M>, id: &str) -> Result<(), ChildError> {
        let id = id.to_owned();
        let answer = ctx.call(&self.pid, |reply| SupervisorMessage::DeleteChild(id, reply), None).await;
        answer.map_err(ChildError::Call)?
    }

    /// Ends the children, the last one first, and the supervisor.
    ///
    /// # Errors
    ///
    /// If it has ended before, or ends for another reason.
    pub async fn stop<M: Message>(&self, ctx: &mut Ctx<M>) -> Result<(), CallError> {
        let reason = ExitReason::Normal;
        stop_by(ctx, &self.pid, SupervisorMessage::Stop(reason.clone()), &reason, None).await
    }
}

impl AsRef<AnyPid> for SupervisorRef {
    fn as_ref(&self) -> &AnyPid {
        self.pid.any()
    }
}

/// A child as it is now.
struct Child {
    key: u64,
    spec: ChildSpec,
    process: Option<AnyPid>,
}

/// What a supervisor keeps.
struct State {
    strategy: Strategy,
    intensity: usize,
    period: Duration,
    is_dynamic: bool,
    children: Vec<Child>,
    keys: u64,
    /// When children were started again, the first first.
    restarts: VecDeque<Duration>,
}

type Me = Ctx<SupervisorMessage>;

/// The supervisor is to end, for this reason.
struct GivesUp(ExitReason);

/// What the process of a supervisor does.
async fn supervise(mut ctx: Me, supervisor: Supervisor, parent: Option<AnyPid>, ready: Ready) -> ExitReason {
    ctx.trap_exit(true);
    let Supervisor { strategy, intensity, period, children, is_dynamic, .. } = supervisor;
    let (children, specs) = (Vec::new(), children);
    let mut state = State { strategy, intensity, period, is_dynamic, children, keys: 0, restarts: VecDeque::new() };
    for spec in specs {
        let (id, at) = (spec.id.clone(), spec.at);
        if let Err(error) = state.add(spec, &mut ctx).await {
            state.end_all(&mut ctx).await;
            return ready.fails(&ctx, ExitReason::ShutdownWith(format!("the child `{id}` of {at}: {error}")));
        }
    }
    ready.ready();
    let reason = loop {
        let done = match ctx.recv().await {
            Received::Message(SupervisorMessage::Stop(reason)) => break reason,
            Received::Message(message) => state.asked(message, &mut ctx).await,
            Received::Exit(exit) if parent.is_some() && exit.from == parent => break exit.reason,
            // Somebody wants it to end who is no child: as OTP, it takes no notice.
            Received::Exit(exit) => match exit.from.and_then(|from| state.position_of(&from)) {
                Some(at) => state.ended(at, &exit.reason, &mut ctx).await,
                None => Ok(()),
            },
            Received::Down(_) => Ok(()),
        };
        if let Err(GivesUp(reason)) = done {
            break reason;
        }
    };
    state.end_all(&mut ctx).await;
    ctx.core().end();
    reason
}

impl State {
    fn position_of(&self, process: &AnyPid) -> Option<usize> {
        self.children.iter().position(|child| child.process.as_ref() == Some(process))
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.children.iter().position(|child| child.spec.id == id)
    }

    /// One more child.
    async fn add(&mut self, spec: ChildSpec, ctx: &mut Me) -> Result<AnyPid, ChildError> {
        if !self.is_dynamic {
            if let Some(at) = self.position(&spec.id) {
                return Err(self.children[at].process.clone().map_or(ChildError::AlreadyPresent, ChildError::Running));
            }
        }
        let process = (spec.starts)(ctx).await.map_err(ChildError::Start)?;
        self.keys += 1;
        self.children.push(Child { key: self.keys, spec, process: Some(process.clone()) });
        Ok(process)
    }

    async fn start(&mut self, at: usize, ctx: &mut Me) -> Result<AnyPid, StartError> {
        let starts = Arc::clone(&self.children[at].spec.starts);
        let process = starts(ctx).await?;
        self.children[at].process = Some(process.clone());
        Ok(process)
    }

    async fn asked(&mut self, message: SupervisorMessage, ctx: &mut Me) -> Result<(), GivesUp> {
        match message {
            SupervisorMessage::WhichChildren(reply) => {
                let info = |child: &Child| ChildInfo {
                    id: child.spec.id.clone(),
                    process: child.process.clone(),
                    restart: child.spec.restart,
                };
                reply.send(self.children.iter().map(info).collect());
            }
            SupervisorMessage::StartChild(spec, reply) => reply.send(self.add(spec, ctx).await),
            SupervisorMessage::TerminateChild(id, reply) => {
                let Some(at) = self.position(&id) else {
                    reply.send(Err(ChildError::NotFound));
                    return Ok(());
                };
                self.end(at, ctx).await;
                if self.is_dynamic || self.children[at].spec.restart == Restart::Temporary {
                    self.children.remove(at);
                }
                reply.send(Ok(()));
            }
            SupervisorMessage::RestartChild(id, reply) => {
                let answer = match self.position(&id) {
                    None => Err(ChildError::NotFound),
                    Some(at) => match self.children[at].process.clone() {
                        Some(process) => Err(ChildError::Running(process)),
                        None => self.start(at, ctx).await.map_err(ChildError::Start),
                    },
                };
                reply.send(answer);
            }
            SupervisorMessage::DeleteChild(id, reply) => {
                let answer = match self.position(&id) {
                    None => Err(ChildError::NotFound),
                    Some(at) => match self.children[at].process.clone() {
                        Some(process) => Err(ChildError::Running(process)),
                        None => {
                            self.children.remove(at);
                            Ok(())
                        }
                    },
                };
                reply.send(answer);
            }
            SupervisorMessage::TryAgain(key) => {
                let waits = |child: &Child| child.key == key && child.process.is_none();
                if let Some(at) = self.children.iter().position(waits) {
                    return self.restart(at, ctx).await;
                }
            }
            SupervisorMessage::Stop(reason) => return Err(GivesUp(reason)),
        }
        Ok(())
    }

    /// A child has ended.
    async fn ended(&mut self, at: usize, reason: &ExitReason, ctx: &mut Me) -> Result<(), GivesUp> {
        let child = &mut self.children[at];
        child.process = None;
        let is_normal = matches!(reason, ExitReason::Normal | ExitReason::Shutdown | ExitReason::ShutdownWith(_));
        match child.spec.restart {
            Restart::Permanent => self.restart(at, ctx).await,
            Restart::Transient if !is_normal => self.restart(at, ctx).await,
            Restart::Transient if !self.is_dynamic => Ok(()),
            Restart::Transient | Restart::Temporary => {
                self.children.remove(at);
                Ok(())
            }
        }
    }

    /// Starts a child again, and those that the strategy says.
    async fn restart(&mut self, at: usize, ctx: &mut Me) -> Result<(), GivesUp> {
        let now = ctx.now();
        self.restarts.push_back(now);
        while self.restarts.front().is_some_and(|first| now.saturating_sub(*first) > self.period) {
            self.restarts.pop_front();
        }
        if self.restarts.len() > self.intensity {
            return Err(GivesUp(ExitReason::Shutdown));
        }
        let from = match self.strategy {
            Strategy::OneForOne => {
                if self.start(at, ctx).await.is_err() {
                    self.try_again(at, ctx);
                }
                return Ok(());
            }
            Strategy::OneForAll => 0,
            Strategy::RestForOne => at,
        };
        for other in (from..self.children.len()).rev() {
            self.end(other, ctx).await;
        }
        let key = self.children[at].key;
        // Those that are never started again are not started now.
        let mut position = 0;
        self.children.retain(|child| {
            position += 1;
            child.key == key || position - 1 < from || child.spec.restart != Restart::Temporary
        });
        for other in from..self.children.len() {
            if self.start(other, ctx).await.is_err() {
                self.try_again(other, ctx);
                break;
            }
        }
        Ok(())
    }

    /// A child did not start: that counts as one more failure, after what is in the mailbox.
    fn try_again(&self, at: usize, ctx: &Me) {
        let me = ctx.me().clone();
        ctx.send(&me, SupervisorMessage::TryAgain(self.children[at].key));
    }

    /// Ends a child, and waits for that.
    async fn end(&mut self, at: usize, ctx: &mut Me) {
        let child = &mut self.children[at];
        if let Some(process) = child.process.take() {
            Leaving::begin(process, child.spec.shutdown, ctx).wait(ctx).await;
        }
    }

    async fn end_all(&mut self, ctx: &mut Me) {
        if !self.is_dynamic {
            for at in (0..self.children.len()).rev() {
                self.end(at, ctx).await;
            }
            return;
        }
        let mut ending = Vec::new();
        for child in &mut self.children {
            if let Some(process) = child.process.take() {
                ending.push(Leaving::begin(process, child.spec.shutdown, ctx));
            }
        }
        for one in ending {
            one.wait(ctx).await;
        }
    }
}

/// A child that was told to end.
struct Leaving {
    process: AnyPid,
    monitor: super::signal::MonitorRef,
    shutdown: Shutdown,
}

impl Leaving {
    fn begin(process: AnyPid, shutdown: Shutdown, ctx: &Me) -> Leaving {
        let monitor = ctx.monitor(&process);
        ctx.unlink(&process);
        match shutdown {
            Shutdown::Kill => ctx.kill(&process),
            Shutdown::After(_) | Shutdown::Infinity => ctx.send_exit(&process, ExitReason::Shutdown),
        }
        Leaving { process, monitor, shutdown }
    }

    async fn wait(self, ctx: &mut Me) {
        let monitor = self.monitor;
        if let Shutdown::After(limit) = self.shutdown {
            let is_down =
                move |received: &Received<_>| matches!(received, Received::Down(down) if down.monitor == monitor);
            if ctx.recv_match_timeout(is_down, limit).await.is_some() {
                return;
            }
            ctx.kill(&self.process);
        }
        ctx.recv_down(monitor).await;
    }
}
