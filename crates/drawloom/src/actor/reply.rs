//! Requests and replies: what calls, tasks and agents have in common.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::backend::Place;
use super::ctx::{Ctx, receive_from};
use super::mailbox::{AnAnswer, Item};
use super::pid::{AnyPid, Pid};
use super::reason::ExitReason;
use super::signal::{Message, MonitorRef, Received, Ref};

/// A value that is on its way to whoever has asked for it.
pub(crate) struct Reply {
    pub(crate) tag: Ref,
    /// Nothing, if the reply was dropped.
    value: Option<Box<dyn Any + Send>>,
}

#[cfg(feature = "controlled")]
impl Reply {
    /// What it says, as far as that can be told: what is asked for need not have a `Debug`.
    pub(crate) fn told(&self) -> String {
        macro_rules! shown {
            ($value:expr; $($type:ty)+) => {
                $(if let Some(value) = $value.downcast_ref::<$type>() {
                    return format!("reply {value:?}");
                })+
            };
        }
        let Some(value) = &self.value else { return "a reply that never comes".to_owned() };
        if value.is::<()>() {
            return "reply".to_owned();
        }
        shown!(value; bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 String &'static str);
        shown!(value; Option<bool> Option<u32> Option<u64> Option<i32> Option<i64> Option<usize> Option<String>);
        shown!(value; Vec<u8> Vec<u32> Vec<u64> Vec<i32> Vec<i64> Vec<usize> Vec<String> super::pid::AnyPid);
        shown!(value; Option<super::pid::AnyPid> Result<(), String>);
        match value.downcast_ref::<Result<(), super::gen_server::StartError>>() {
            Some(Ok(())) => return "started".to_owned(),
            Some(Err(error)) => return format!("not started: {error}"),
            None => {}
        }
        "a reply".to_owned()
    }
}

/// The reason why a call has no reply.
///
/// ```
/// use drawloom::actor::CallError;
///
/// assert_eq!(CallError::Timeout.to_string(), "the call was not answered in time");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// There was no answer in time. One that comes later is thrown away.
    Timeout,
    /// There is no such process, or it has no such name.
    NoProc,
    /// The process has ended before it answered, for this reason.
    Ended(ExitReason),
    /// The process has dropped the [`ReplyTo`], and will never answer.
    NoReply,
    /// The process calls itself, and would wait for itself.
    Itself {
        /// Where.
        at: &'static Location<'static>,
    },
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Timeout => f.write_str("the call was not answered in time"),
            CallError::NoProc => f.write_str("the process that was called does not exist"),
            CallError::Ended(reason) => write!(f, "the process that was called has ended: {reason}"),
            CallError::NoReply => f.write_str("the process that was called has dropped the `ReplyTo` without a reply"),
            CallError::Itself { at } => {
                write!(f, "a process calls itself at {at}: it cannot answer while it waits for the answer")
            }
        }
    }
}

impl Error for CallError {}

/// The caller has ended, so the reply was not sent.
///
/// ```
/// use drawloom::actor::{CallerGone, ReplyTo};
///
/// /// Returns the answer if its caller has ended.
/// fn answer(reply: ReplyTo<String>, answer: String) -> Option<String> {
///     match reply.try_send(answer) {
///         Ok(()) => None,
///         Err(CallerGone { value, .. }) => Some(value),
///     }
/// }
/// # let _ = answer;
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CallerGone<T> {
    /// The reply that could not be sent.
    pub value: T,
    /// Where it was to be sent.
    pub at: &'static Location<'static>,
}

impl<T> fmt::Debug for CallerGone<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerGone").field("at", &self.at).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for CallerGone<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a reply at {} is for a process that has ended", self.at)
    }
}

impl<T> Error for CallerGone<T> {}

/// The address for the reply to a call. A message that asks for something has a field of this type.
///
/// To drop it without a reply is a mistake. The caller learns of it at once, by [`CallError::NoReply`], and an exploration
/// reports it as a panic of the process that dropped it. One that is dropped because its process ends, or by a server that stops,
/// is not a mistake: the caller learns of that end.
///
/// ```
/// use drawloom::actor::{self, Ctx, ReplyTo};
///
/// #[derive(Debug)]
/// struct Double(u32, ReplyTo<u32>);
///
/// let doubled = actor::run(async |mut ctx: Ctx<()>| {
///     let server = ctx.spawn(async |mut ctx: Ctx<Double>| {
///         let Double(number, reply) = ctx.recv_message().await;
///         reply.send(2 * number);
///     });
///     ctx.call(&server, |reply| Double(21, reply), None).await
/// });
/// assert_eq!(doubled, Ok(42));
/// ```
pub struct ReplyTo<T> {
    to: AnyPid,
    /// Who was asked.
    asked: Option<AnyPid>,
    tag: Ref,
    /// Where.
    at: Place,
    is_open: bool,
    takes: PhantomData<fn(T)>,
}

impl<T: Send + 'static> ReplyTo<T> {
    pub(crate) fn new(to: AnyPid, asked: Option<AnyPid>, tag: Ref, at: Place) -> ReplyTo<T> {
        ReplyTo { to, asked, tag, at, is_open: true, takes: PhantomData }
    }

    /// Replies. As any message, it is lost if the caller has ended.
    #[track_caller]
    pub fn send(mut self, value: T) {
        self.is_open = false;
        self.post(Location::caller(), Some(Box::new(value)));
    }

    /// Replies, if the caller lives.
    ///
    /// # Errors
    ///
    /// If it does not. A caller that lives may have given up all the same.
    #[track_caller]
    pub fn try_send(mut self, value: T) -> Result<(), CallerGone<T>> {
        let at = Location::caller();
        self.is_open = false;
        if !self.to.core().backend.is_alive(at, &self.to) {
            return Err(CallerGone { value, at });
        }
        self.post(at, Some(Box::new(value)));
        Ok(())
    }
}

impl<T> ReplyTo<T> {
    /// The waiting process.
    pub fn caller(&self) -> &AnyPid {
        &self.to
    }

    fn post(&self, at: Place, value: Option<Box<dyn Any + Send>>) {
        post(&self.to, self.tag, at, value);
    }

    /// Whether it is dropped because somebody is cleared away.
    fn is_cleared_away(&self) -> bool {
        let ended = self.asked.as_ref().is_some_and(|asked| asked.core().has_ended());
        ended || self.to.core().has_ended() || is_unwinding()
    }
}

thread_local! {
    /// What is dropped is lost on its way.
    static IS_LOST: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Drops something that was lost on its way: that a [`ReplyTo`] in it is never used is nobody's mistake.
#[cfg(all(feature = "controlled", feature = "cluster"))]
pub(crate) fn lost_on_its_way(drops: impl FnOnce()) {
    let before = IS_LOST.replace(true);
    drops();
    IS_LOST.set(before);
}

fn is_unwinding() -> bool {
    if IS_LOST.get() {
        return true;
    }
    #[cfg(feature = "controlled")]
    if let Some(rt) = crate::rt::current() {
        return rt.is_panicking() || rt.is_tearing_down();
    }
    std::thread::panicking()
}

fn post(to: &AnyPid, tag: Ref, at: Place, value: Option<Box<dyn Any + Send>>) {
    let backend = &to.core().backend;
    let from = backend.here();
    to.0.post_reply(from, Reply { tag, value });
    backend.send(at, from, to);
}

/// A reply that never comes.
pub(crate) struct Lost {
    to: AnyPid,
    tag: Ref,
    at: Place,
}

impl Lost {
    /// Tells who waits for it, and whoever explores.
    pub(crate) fn tell(self) {
        post(&self.to, self.tag, self.at, None);
        #[cfg(feature = "controlled")]
        if crate::rt::current().is_some() {
            self.to.core().backend.blame();
            panic!("a `ReplyTo` was dropped without a reply: the call at {} is never answered", self.at);
        }
    }
}

impl<T> Drop for ReplyTo<T> {
    fn drop(&mut self) {
        if !self.is_open || self.is_cleared_away() {
            return;
        }
        let lost = Lost { to: self.to.clone(), tag: self.tag, at: self.at };
        let here = self.to.core().backend.here();
        let lost = match self.asked.as_ref().filter(|asked| asked.id() == here) {
            Some(asked) => asked.core().lost(lost),
            None => Some(lost),
        };
        lost.into_iter().for_each(Lost::tell);
    }
}

impl<T> fmt::Debug for ReplyTo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reply to {:?}", self.to)
    }
}

/// So many late replies are expected; those that never come, because their process has ended, are not kept for ever.
const MOST_FORGOTTEN: usize = 64;

/// A request that was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) tag: Ref,
    pub(crate) monitor: MonitorRef,
}

/// What a request led to.
pub(crate) enum Answer<T> {
    Value(T),
    Dropped,
    Down(ExitReason),
    Nothing,
}

impl<M: Message> Ctx<M> {
    /// Asks a process for something and waits for the answer, as OTP's `call`: monitors the process, sends the message that `request`
    /// makes, and waits until the [`ReplyTo`] in it is used, the process has ended, or the time is up. `None` is no limit.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use drawloom::actor::{self, Ctx, ReplyTo};
    ///
    /// #[derive(Debug)]
    /// enum Request {
    ///     Double(u32, ReplyTo<u32>),
    /// }
    ///
    /// let answer = actor::run(async |mut ctx: Ctx<()>| {
    ///     let server = ctx.spawn(|mut ctx: Ctx<Request>| async move {
    ///         loop {
    ///             let Request::Double(n, reply) = ctx.recv_message().await;
    ///             reply.send(2 * n);
    ///         }
    ///     });
    ///     ctx.call(&server, |reply| Request::Double(21, reply), Duration::from_secs(5)).await
    /// });
    /// assert_eq!(answer, Ok(42));
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no answer, and why.
    #[track_caller]
    pub fn call<N: Message, T: Send + 'static>(
        &mut self,
        to: &Pid<N>,
        request: impl FnOnce(ReplyTo<T>) -> N,
        limit: impl Into<Option<Duration>>,
    ) -> impl Future<Output = Result<T, CallError>> + Send {
        self.call_at(Location::caller(), to, request, limit.into())
    }

    fn call_at<N: Message, T: Send + 'static>(
        &mut self,
        at: Place,
        to: &Pid<N>,
        request: impl FnOnce(ReplyTo<T>) -> N,
        limit: Option<Duration>,
    ) -> impl Future<Output = Result<T, CallError>> + Send {
        let me = self.me().any().clone();
        let made = if to.any() == self.me().any() {
            Err(CallError::Itself { at })
        } else {
            let tag = self.make_ref();
            Ok((tag, request(ReplyTo::new(me, Some(to.any().clone()), tag, at)), to.clone()))
        };
        async move {
            let (tag, message, to) = made?;
            let monitor = self.monitor(&to);
            self.requests += 1;
            to.send_as(at, self.me().id(), message);
            let request = Request { tag, monitor };
            let answer = self.answer(at, request, limit).await;
            if let Answer::Nothing = answer {
                self.forget(request);
            }
            match answer {
                Answer::Value(value) => Ok(value),
                Answer::Dropped => Err(CallError::NoReply),
                Answer::Down(ExitReason::NoProc) => Err(CallError::NoProc),
                Answer::Down(reason) => Err(CallError::Ended(reason)),
                Answer::Nothing => Err(CallError::Timeout),
            }
        }
    }

    /// As [`call`](Self::call), for the process that has this name now.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call). A process that takes other messages counts as none.
    #[track_caller]
    pub fn call_name<N: Message, T: Send + 'static>(
        &mut self,
        name: &str,
        request: impl FnOnce(ReplyTo<T>) -> N + Send,
        limit: impl Into<Option<Duration>> + Send,
    ) -> impl Future<Output = Result<T, CallError>> + Send {
        let at = Location::caller();
        let (to, limit) = (self.whereis_as::<N>(name), limit.into());
        async move {
            let to = to.ok_or(CallError::NoProc)?;
            if to.any() == self.me().any() {
                return Err(CallError::Itself { at });
            }
            self.call_at(at, &to, request, limit).await
        }
    }

    /// Waits for the answer. When it has come, nothing is left of the request; when it has not, all is.
    pub(super) async fn answer<T: Send + 'static>(
        &mut self,
        at: Place,
        request: Request,
        limit: Option<Duration>,
    ) -> Answer<T> {
        let Request { tag, monitor } = request;
        match receive_from(self, at, AnAnswer { tag, monitor }, false, limit).await {
            Some((_, Item::Reply(reply))) => {
                self.requests -= 1;
                self.demonitor_flush(monitor);
                match reply.value.map(|value| value.downcast::<T>()) {
                    Some(Ok(value)) => Answer::Value(*value),
                    Some(Err(_)) | None => Answer::Dropped,
                }
            }
            Some((_, Item::Received(Received::Down(down)))) => {
                self.requests -= 1;
                Answer::Down(down.reason)
            }
            _ => Answer::Nothing,
        }
    }

    /// Nobody waits for the answer any more: if it comes, it is thrown away.
    pub(super) fn forget(&mut self, request: Request) {
        self.requests -= 1;
        self.demonitor_flush(request.monitor);
        if self.forgotten.len() == MOST_FORGOTTEN {
            self.forgotten.remove(0);
        }
        self.forgotten.push(request.tag);
        self.has_forgotten = true;
    }
}
