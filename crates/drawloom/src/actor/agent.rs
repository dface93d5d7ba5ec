//! Agents: a state in a process, used by closures.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use super::ctx::Ctx;
use super::gen_server::{Flow, GenServer, ServerCtx, ServerRef, StartError};
use super::pid::AnyPid;
use super::reason::ExitReason;
use super::reply::CallError;

/// A state that lives in a process, which applies closures to it one after the other: Elixir's `Agent`.
///
/// ```
/// use drawloom::actor::{self, Agent, Ctx};
///
/// let total = actor::run(async |mut ctx: Ctx<()>| {
///     let basket = Agent::start_link(&mut ctx, Vec::new()).await.unwrap();
///     basket.update(&mut ctx, |basket| basket.push(40)).await.unwrap();
///     basket.cast(|basket| basket.push(2));
///     basket.get(&mut ctx, |basket| basket.iter().sum::<i32>()).await.unwrap()
/// });
/// assert_eq!(total, 42);
/// ```
pub struct Agent<S: Send + 'static> {
    server: ServerRef<Holder<S>>,
}

/// As OTP has it.
const LIMIT: Duration = Duration::from_secs(5);

/// The server that an agent is.
struct Holder<S>(S);

/// What is done to the state.
struct Work<S>(Box<dyn FnOnce(&mut S) + Send>);

impl<S> fmt::Debug for Work<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function of the state")
    }
}

impl<S: Send + 'static> GenServer for Holder<S> {
    type Args = S;
    type Call = Work<S>;
    type Cast = Work<S>;
    type Info = ();

    async fn init(state: S, _: &mut ServerCtx<Self>) -> Result<Self, ExitReason> {
        Ok(Holder(state))
    }

    async fn handle_call(&mut self, Work(work): Work<S>, _: &mut ServerCtx<Self>) -> Flow {
        work(&mut self.0);
        Flow::Continue
    }

    async fn handle_cast(&mut self, Work(work): Work<S>, _: &mut ServerCtx<Self>) -> Flow {
        work(&mut self.0);
        Flow::Continue
    }
}

impl<S: Send + 'static> Agent<S> {
    /// Starts an agent.
    ///
    /// # Errors
    ///
    /// If it is killed before it is ready.
    pub async fn start<M: super::Message>(ctx: &mut Ctx<M>, state: S) -> Result<Agent<S>, StartError> {
        Holder::start(ctx, state).await.map(|server| Agent { server })
    }

    /// As `start`, and links the agent to the calling process.
    ///
    /// # Errors
    ///
    /// If it is killed before it is ready.
    pub async fn start_link<M: super::Message>(ctx: &mut Ctx<M>, state: S) -> Result<Agent<S>, StartError> {
        Holder::start_link(ctx, state).await.map(|server| Agent { server })
    }

    /// Something about the state. It is computed in the agent, which does nothing else meanwhile.
    ///
    /// # Errors
    ///
    /// If the agent has ended, the closure has panicked, or it took longer than 5 s.
    #[track_caller]
    pub fn get<M: super::Message, R: Send + 'static>(
        &self,
        ctx: &mut Ctx<M>,
        f: impl FnOnce(&S) -> R + Send + 'static,
    ) -> impl Future<Output = Result<R, CallError>> + Send {
        self.get_and_update(ctx, |state| f(state))
    }

    /// Changes the state, and waits until that is done.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    #[track_caller]
    pub fn update<M: super::Message>(
        &self,
        ctx: &mut Ctx<M>,
        f: impl FnOnce(&mut S) + Send + 'static,
    ) -> impl Future<Output = Result<(), CallError>> + Send {
        self.get_and_update(ctx, f)
    }

    /// Changes the state, and says something about it.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    #[track_caller]
    pub fn get_and_update<M: super::Message, R: Send + 'static>(
        &self,
        ctx: &mut Ctx<M>,
        f: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> impl Future<Output = Result<R, CallError>> + Send {
        self.server.call(ctx, |reply| Work(Box::new(move |state| reply.send(f(state)))), LIMIT)
    }

    /// Changes the state some time.
    #[track_caller]
    pub fn cast(&self, f: impl FnOnce(&mut S) + Send + 'static) {
        self.server.cast(Work(Box::new(f)));
    }

    /// Ends the agent, and waits for that.
    ///
    /// # Errors
    ///
    /// If it has ended before.
    #[track_caller]
    pub fn stop<M: super::Message>(&self, ctx: &mut Ctx<M>) -> impl Future<Output = Result<(), CallError>> + Send {
        self.server.stop(ctx, ExitReason::Normal, None)
    }
}

impl<S: Send + 'static> Clone for Agent<S> {
    fn clone(&self) -> Self {
        Agent { server: self.server.clone() }
    }
}

impl<S: Send + 'static> fmt::Debug for Agent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent {:?}", self.server)
    }
}

impl<S: Send + 'static> AsRef<AnyPid> for Agent<S> {
    fn as_ref(&self) -> &AnyPid {
        self.server.as_ref()
    }
}
