//! State machines: OTP's `gen_statem`.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::time::Duration;

use super::ctx::Ctx;
use super::gen_server::{Ready, StartError, StartOptions, stop_by};
use super::pid::{AnyPid, Pid};
use super::reason::ExitReason;
use super::reply::{CallError, ReplyTo};
use super::signal::{Down, Exit, Message, Received, TimerRef};

/// An event of a state machine.
///
/// ```
/// use drawloom::actor::{Event, Next};
///
/// fn unlock(event: Event<u32>) -> Next<&'static str, u32> {
///     match event {
///         Event::Message(0) => Next::to("open"),
///         later => Next::keep().postpone(later),
///     }
/// }
/// # let _ = unlock;
/// ```
#[derive(Debug)]
pub enum Event<E> {
    /// A message from another process.
    Message(E),
    /// The machine itself has asked for this, by [`Action::NextEvent`].
    Internal(E),
    /// A monitored process has ended.
    Down(Down),
    /// An exit signal was trapped.
    Exit(Exit),
    /// The time limit of the state is over ([`Action::StateTimeout`]).
    StateTimeout,
    /// No event has happened for the time of [`Action::EventTimeout`].
    EventTimeout,
    /// The timer of this name.
    Timeout(&'static str),
}

/// A further action of a state machine after an event.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::{Action, Next};
///
/// // In the state `open`, and after five seconds `Event::StateTimeout`.
/// let next: Next<&str, ()> = Next::to("open").and(Action::StateTimeout(Duration::from_secs(5)));
/// # let _ = next;
/// ```
#[derive(Debug)]
pub enum Action<E> {
    /// This happens next, before anything else.
    NextEvent(E),
    /// [`Event::StateTimeout`] after so long, unless the state changes before.
    StateTimeout(Duration),
    /// No state timeout.
    CancelStateTimeout,
    /// [`Event::EventTimeout`] after so long, unless anything happens before.
    EventTimeout(Duration),
    /// [`Event::Timeout`] after so long, whatever happens.
    Timeout(&'static str, Duration),
    /// No timer of this name.
    CancelTimeout(&'static str),
}

/// How a state machine continues after an event.
///
/// ```
/// use drawloom::actor::{Event, ExitReason, Next};
///
/// fn count(left: u32, event: Event<&str>) -> Next<u32, &str> {
///     match event {
///         Event::Message("coin") if left > 1 => Next::to(left - 1),
///         Event::Message("coin") => Next::stop(ExitReason::Normal),
///         _ => Next::keep(),
///     }
/// }
/// # let _ = count;
/// ```
#[derive(Debug)]
pub struct Next<S, E> {
    to: To<S>,
    postponed: Option<Event<E>>,
    actions: Vec<Action<E>>,
}

#[derive(Debug)]
enum To<S> {
    Keep,
    Repeat,
    State(S),
    Stop(ExitReason),
}

impl<S, E> Next<S, E> {
    fn new(to: To<S>) -> Next<S, E> {
        Next { to, postponed: None, actions: Vec::new() }
    }

    /// In the same state.
    pub fn keep() -> Next<S, E> {
        Next::new(To::Keep)
    }

    /// In the same state, as if it had just been entered: postponed events happen again.
    pub fn repeat() -> Next<S, E> {
        Next::new(To::Repeat)
    }

    /// In this state.
    pub fn to(state: S) -> Next<S, E> {
        Next::new(To::State(state))
    }

    /// Not at all.
    pub fn stop(reason: ExitReason) -> Next<S, E> {
        Next::new(To::Stop(reason))
    }

    /// The event happens again when the state has changed, before those that come later.
    #[must_use]
    pub fn postpone(mut self, event: Event<E>) -> Next<S, E> {
        self.postponed = Some(event);
        self
    }

    /// Adds an action.
    #[must_use]
    pub fn and(mut self, action: Action<E>) -> Next<S, E> {
        self.actions.push(action);
        self
    }
}

/// The messages of a state machine.
///
/// ```
/// use drawloom::actor::StatemMessage;
///
/// let coin = StatemMessage::Event("coin");
/// assert_eq!(format!("{coin:?}"), "\"coin\"");
/// ```
pub enum StatemMessage<E> {
    /// An event.
    Event(E),
    /// A timer of its own.
    #[doc(hidden)]
    Timer(Clock, u64),
    /// A request to stop, with the reason.
    Stop(ExitReason),
}

/// As the event that it is.
impl<E: fmt::Debug> fmt::Debug for StatemMessage<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatemMessage::Event(event) => event.fmt(f),
            StatemMessage::Timer(clock, _) => write!(f, "{clock:?} timer"),
            StatemMessage::Stop(reason) => f.debug_tuple("Stop").field(reason).finish(),
        }
    }
}

/// The timers that a state machine has.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    State,
    Event,
    Named(&'static str),
}

/// The context through which a state machine acts.
///
/// ```
/// use drawloom::actor::{AnyPid, GenStatem, StatemCtx};
///
/// /// Its own process, to hand out to other processes.
/// fn address<S: GenStatem>(ctx: &StatemCtx<S>) -> AnyPid {
///     ctx.me().any().clone()
/// }
/// ```
pub type StatemCtx<S> = Ctx<StatemMessage<<S as GenStatem>::Event>>;

/// A process that is in one of several states and reacts to events: OTP's `gen_statem`.
///
/// ```
/// use drawloom::actor::{self, Ctx, Event, ExitReason, GenStatem, Next, ReplyTo, StatemCtx};
///
/// /// A door that remembers those who want to pass until it is open.
/// struct Door;
///
/// #[derive(Clone, PartialEq, Debug)]
/// enum State {
///     Closed,
///     Open,
/// }
///
/// #[derive(Debug)]
/// enum Want {
///     Open,
///     Pass(ReplyTo<&'static str>),
/// }
///
/// impl GenStatem for Door {
///     type Args = ();
///     type State = State;
///     type Event = Want;
///
///     async fn init((): (), _: &mut StatemCtx<Self>) -> Result<(Self, State), ExitReason> {
///         Ok((Door, State::Closed))
///     }
///
///     async fn handle(&mut self, state: &State, event: Event<Want>, _: &mut StatemCtx<Self>) -> Next<State, Want> {
///         match (state, event) {
///             (State::Closed, Event::Message(Want::Open)) => Next::to(State::Open),
///             (State::Closed, pass) => Next::keep().postpone(pass),
///             (State::Open, Event::Message(Want::Pass(reply))) => {
///                 reply.send("through");
///                 Next::keep()
///             }
///             _ => Next::keep(),
///         }
///     }
/// }
///
/// let passed = actor::run(async |mut ctx: Ctx<()>| {
///     let door = Door::start_link(&mut ctx, ()).await.unwrap();
///     let opens = door.clone();
///     ctx.spawn(|_: Ctx<()>| async move { opens.send(Want::Open) });
///     door.call(&mut ctx, Want::Pass, None).await
/// });
/// assert_eq!(passed, Ok("through"));
/// ```
pub trait GenStatem: Sized + Send + 'static {
    /// What it starts from.
    type Args: Send + 'static;
    /// Its states.
    type State: Clone + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// What can be sent to it; those that want a reply have a [`ReplyTo`] in them.
    type Event: Message;

    /// The machine and its first state. Whoever starts it waits for that.
    fn init(
        args: Self::Args,
        ctx: &mut StatemCtx<Self>,
    ) -> impl Future<Output = Result<(Self, Self::State), ExitReason>> + Send;

    /// A state is entered, from another one unless it is the first: before any event happens in it.
    fn enter(
        &mut self,
        _from: Option<&Self::State>,
        _state: &Self::State,
        _ctx: &mut StatemCtx<Self>,
    ) -> impl Future<Output = Vec<Action<Self::Event>>> + Send {
        async { Vec::new() }
    }

    /// Something happens.
    fn handle(
        &mut self,
        state: &Self::State,
        event: Event<Self::Event>,
        ctx: &mut StatemCtx<Self>,
    ) -> impl Future<Output = Next<Self::State, Self::Event>> + Send;

    /// The machine stops, as [`GenServer::terminate`](super::GenServer::terminate).
    fn terminate(
        &mut self,
        _reason: &ExitReason,
        _state: &Self::State,
        _ctx: &mut StatemCtx<Self>,
    ) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Starts a machine, and waits for its `init`.
    ///
    /// # Errors
    ///
    /// If that fails.
    #[track_caller]
    fn start<M: Message>(
        ctx: &mut Ctx<M>,
        args: Self::Args,
    ) -> impl Future<Output = Result<StatemRef<Self>, StartError>> + Send {
        StartOptions::new().start_statem(ctx, args)
    }

    /// The same, linked to the process that starts it.
    ///
    /// # Errors
    ///
    /// If `init` fails.
    #[track_caller]
    fn start_link<M: Message>(
        ctx: &mut Ctx<M>,
        args: Self::Args,
    ) -> impl Future<Output = Result<StatemRef<Self>, StartError>> + Send {
        StartOptions::new().link().start_statem(ctx, args)
    }
}

impl StartOptions {
    /// Starts a state machine.
    ///
    /// # Errors
    ///
    /// As [`GenStatem::start_link`].
    #[track_caller]
    pub fn start_statem<S: GenStatem, M: Message>(
        self,
        ctx: &mut Ctx<M>,
        args: S::Args,
    ) -> impl Future<Output = Result<StatemRef<S>, StartError>> + Send {
        let at = Location::caller();
        async move {
            let pid = self.launch(at, ctx, move |ctx, parent, ready| run::<S>(ctx, args, parent, ready)).await?;
            Ok(StatemRef { pid })
        }
    }
}

/// The address of a state machine, for its senders.
///
/// ```
/// use drawloom::actor::{GenStatem, StatemRef};
///
/// fn press_twice<S: GenStatem>(button: &StatemRef<S>, event: impl Fn() -> S::Event) {
///     button.send(event());
///     button.send(event());
/// }
/// ```
pub struct StatemRef<S: GenStatem> {
    pid: Pid<StatemMessage<S::Event>>,
}

impl<S: GenStatem> StatemRef<S> {
    /// The process of the state machine.
    pub fn pid(&self) -> &Pid<StatemMessage<S::Event>> {
        &self.pid
    }

    /// Sends an event.
    #[track_caller]
    pub fn send(&self, event: S::Event) {
        self.pid.send(StatemMessage::Event(event));
    }

    /// Sends an event and waits for the reply; `None` is no limit. See [`Ctx::call`].
    ///
    /// # Errors
    ///
    /// If there is no reply, and why.
    #[track_caller]
    pub fn call<M: Message, T: Send + 'static>(
        &self,
        ctx: &mut Ctx<M>,
        event: impl FnOnce(ReplyTo<T>) -> S::Event,
        limit: impl Into<Option<Duration>>,
    ) -> impl Future<Output = Result<T, CallError>> + Send {
        ctx.call(&self.pid, |reply| StatemMessage::Event(event(reply)), limit)
    }

    /// Lets the machine stop after the events that are there, and waits for its end.
    ///
    /// # Errors
    ///
    /// If it ends for another reason, or not in time.
    pub async fn stop<M: Message>(
        &self,
        ctx: &mut Ctx<M>,
        reason: ExitReason,
        limit: impl Into<Option<Duration>>,
    ) -> Result<(), CallError> {
        stop_by(ctx, &self.pid, StatemMessage::Stop(reason.clone()), &reason, limit.into()).await
    }
}

impl<S: GenStatem> Clone for StatemRef<S> {
    fn clone(&self) -> Self {
        StatemRef { pid: self.pid.clone() }
    }
}

impl<S: GenStatem> fmt::Debug for StatemRef<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pid.fmt(f)
    }
}

impl<S: GenStatem> AsRef<AnyPid> for StatemRef<S> {
    fn as_ref(&self) -> &AnyPid {
        self.pid.any()
    }
}

/// The timers that run, each with its number: a message of one that was cancelled is nothing.
#[derive(Default)]
struct Timers {
    running: Vec<(Clock, u64, TimerRef)>,
    set: u64,
}

impl Timers {
    fn cancel<E: Message>(&mut self, ctx: &Ctx<StatemMessage<E>>, clock: Clock) {
        if let Some(at) = self.running.iter().position(|(running, ..)| *running == clock) {
            let (_, _, timer) = self.running.remove(at);
            ctx.cancel(timer);
        }
    }

    fn set<E: Message>(&mut self, ctx: &Ctx<StatemMessage<E>>, clock: Clock, after: Duration) {
        self.cancel(ctx, clock);
        self.set += 1;
        let timer = ctx.send_after(after, ctx.me(), StatemMessage::Timer(clock, self.set));
        self.running.push((clock, self.set, timer));
    }

    /// Whether the timer was not cancelled.
    fn fired(&mut self, clock: Clock, number: u64) -> bool {
        let at = self.running.iter().position(|(running, its, _)| (*running, *its) == (clock, number));
        at.map(|at| self.running.remove(at)).is_some()
    }
}

/// What happens before anything in the mailbox does, and what timers run.
struct Agenda<E> {
    next: VecDeque<Event<E>>,
    timers: Timers,
}

impl<E: Message> Agenda<E> {
    fn apply(&mut self, ctx: &Ctx<StatemMessage<E>>, actions: Vec<Action<E>>) {
        let mut internal = Vec::new();
        for action in actions {
            match action {
                Action::NextEvent(event) => internal.push(Event::Internal(event)),
                Action::StateTimeout(after) => self.timers.set(ctx, Clock::State, after),
                Action::CancelStateTimeout => self.timers.cancel(ctx, Clock::State),
                Action::EventTimeout(after) => self.timers.set(ctx, Clock::Event, after),
                Action::Timeout(name, after) => self.timers.set(ctx, Clock::Named(name), after),
                Action::CancelTimeout(name) => self.timers.cancel(ctx, Clock::Named(name)),
            }
        }
        for event in internal.into_iter().rev() {
            self.next.push_front(event);
        }
    }

    /// What happens next, or why the machine is to stop.
    async fn event(
        &mut self,
        ctx: &mut Ctx<StatemMessage<E>>,
        parent: Option<&AnyPid>,
    ) -> Result<Event<E>, ExitReason> {
        if let Some(event) = self.next.pop_front() {
            return Ok(event);
        }
        loop {
            return match ctx.recv().await {
                Received::Message(StatemMessage::Event(event)) => Ok(Event::Message(event)),
                Received::Message(StatemMessage::Stop(reason)) => Err(reason),
                Received::Message(StatemMessage::Timer(clock, number)) => match clock {
                    _ if !self.timers.fired(clock, number) => continue,
                    Clock::State => Ok(Event::StateTimeout),
                    Clock::Event => Ok(Event::EventTimeout),
                    Clock::Named(name) => Ok(Event::Timeout(name)),
                },
                Received::Exit(exit) if parent.is_some() && exit.from.as_ref() == parent => Err(exit.reason),
                Received::Exit(exit) => Ok(Event::Exit(exit)),
                Received::Down(down) => Ok(Event::Down(down)),
            };
        }
    }
}

/// What the process of a state machine does.
async fn run<S: GenStatem>(mut ctx: StatemCtx<S>, args: S::Args, parent: Option<AnyPid>, ready: Ready) -> ExitReason {
    let (mut machine, mut state) = match S::init(args, &mut ctx).await {
        Ok(begun) => begun,
        Err(reason) => return ready.fails(&ctx, reason),
    };
    ready.ready();
    let mut agenda = Agenda { next: VecDeque::new(), timers: Timers::default() };
    let mut postponed = Vec::new();
    let actions = machine.enter(None, &state, &mut ctx).await;
    agenda.apply(&ctx, actions);
    let reason = loop {
        ctx.core().tell_of_lost();
        let event = match agenda.event(&mut ctx, parent.as_ref()).await {
            Ok(event) => event,
            Err(reason) => break reason,
        };
        agenda.timers.cancel(&ctx, Clock::Event);
        let next = machine.handle(&state, event, &mut ctx).await;
        postponed.extend(next.postponed);
        let entered = match next.to {
            To::Stop(reason) => break reason,
            To::Keep => None,
            To::Repeat => Some(state.clone()),
            To::State(new) if new == state => None,
            To::State(new) => {
                agenda.timers.cancel(&ctx, Clock::State);
                Some(new)
            }
        };
        if entered.is_some() {
            for event in postponed.drain(..).rev() {
                agenda.next.push_front(event);
            }
        }
        agenda.apply(&ctx, next.actions);
        if let Some(new) = entered {
            let old = std::mem::replace(&mut state, new);
            let actions = machine.enter(Some(&old), &state, &mut ctx).await;
            agenda.apply(&ctx, actions);
        }
    };
    machine.terminate(&reason, &state, &mut ctx).await;
    ctx.core().end();
    drop((machine, agenda, postponed));
    reason
}
