//! Spawning futures, and the handle that waits for one.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use drawloom_fiber::{Body, ForcedUnwind};

use super::drive::{Target, drive};
use super::group::Group;
use super::place::awaited_at;
use crate::object::{Act, Awaited, Object};
use crate::rt::{self, Handle};
use crate::thread::TaskOf;

/// What a spawned task and its handle share.
struct Shared<T> {
    state: Object<State<T>>,
}

struct State<T> {
    result: Option<Result<T, JoinError>>,
    finished: bool,
    /// Who waits for the result.
    waker: Option<Waker>,
}

impl<T> Shared<T> {
    #[track_caller]
    fn new() -> Arc<Self> {
        Arc::new(Shared { state: Object::new(State { result: None, finished: false, waker: None }) })
    }

    fn finish(&self, place: &'static Location<'static>, result: Result<T, JoinError>) {
        let waker = self.state.update_from(place, |state| {
            state.result = Some(result);
            state.finished = true;
            state.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Spawns a task that drives `future`; it continues on its own, awaited or not.
///
/// ```
/// use drawloom::future;
///
/// let doubled = future::block_on(async { future::spawn(async { 2 * 21 }).await });
/// assert_eq!(doubled.unwrap(), 42);
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match rt::current() {
        Some(rt) => spawn_task(rt, false, future),
        None => spawn_thread(move |target| drive(future, target, false)),
    }
}

/// As [`spawn`], for a future that stays on its thread.
///
/// ```
/// use std::rc::Rc;
///
/// use drawloom::future;
///
/// drawloom::check(|| {
///     future::run(async {
///         let shared = Rc::new(42); // cannot be sent to another thread
///         let task = future::spawn_local(async move { *shared });
///         # let other = future::spawn(async { drawloom::yield_now() });
///         assert_eq!(task.await.unwrap(), 42);
///         # other.await.unwrap();
///     });
/// });
/// ```
///
/// # Panics
///
/// Outside of an exploration, where a thread has nobody to drive a second future.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let rt = rt::current().expect("`spawn_local` works inside of an exploration only");
    spawn_task(rt, false, future)
}

/// Runs `f`, which may block, on a thread of its own.
///
/// ```
/// use drawloom::{future, sync::mpsc};
///
/// let (sender, receiver) = mpsc::channel();
/// let received = future::block_on(async move {
///     let task = future::spawn_blocking(move || receiver.recv());
///     sender.send(42).unwrap();
///     task.await
/// });
/// assert_eq!(received.unwrap(), Ok(42));
/// ```
#[track_caller]
pub fn spawn_blocking<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match rt::current() {
        Some(rt) => spawn_body(rt, Abort::Nowhere, move |_| Some(f())),
        None => spawn_thread(move |_| Some(f())),
    }
}

/// As [`spawn`], for a future that takes turns with others, and asks [`is_aborted_in_turn`](super::drive::is_aborted_in_turn)
/// when it has its turn.
#[track_caller]
pub(super) fn spawn_in_turn<F: Future + 'static>(rt: Handle, future: F) -> JoinHandle<F::Output> {
    spawn_task(rt, true, future)
}

#[track_caller]
fn spawn_task<F: Future + 'static>(rt: Handle, in_turn: bool, future: F) -> JoinHandle<F::Output> {
    let abort = if in_turn { Abort::InTurn } else { Abort::Waiting };
    let handle = spawn_body(rt, abort, move |target| drive(future, target, false));
    // It waits to be woken like any other time, so that an abort can come before its first poll.
    handle.target.unpark();
    handle
}

/// Where a task can be aborted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Abort {
    Nowhere,
    /// Where it waits to be woken.
    Waiting,
    /// There, and when its turn has come.
    InTurn,
}

/// Spawns a task that runs `body`, which has no result if it was aborted.
#[track_caller]
fn spawn_body<T: 'static>(
    rt: Handle,
    abort: Abort,
    body: impl FnOnce(&Arc<Target>) -> Option<T> + 'static,
) -> JoinHandle<T> {
    let made_at = Location::caller();
    let site = rt::site(made_at);
    let shared = Shared::new();
    let theirs = shared.clone();
    let group = Group::current();
    let inherited = group.clone();
    let target = Target::spawned(made_at, abort == Abort::InTurn);
    let mine = target.clone();
    let body: Body = Box::new(move || {
        Group::enter(inherited);
        let result = match catch_unwind(AssertUnwindSafe(|| body(&mine))) {
            Ok(Some(output)) => Ok(output),
            Ok(None) => Err(JoinError::cancelled()),
            Err(payload) if payload.is::<ForcedUnwind>() => return,
            Err(payload) => {
                rt.panicked(Arc::strong_count(&theirs) == 1);
                Err(JoinError(Why::Panic(payload)))
            }
        };
        theirs.finish(made_at, result);
    });
    let task = TaskOf { task: rt.spawn(None, site, body), epoch: rt.epoch() };
    target.is(task);
    if let Some(group) = group {
        group.add(task, (abort != Abort::Nowhere).then(|| target.clone()));
    }
    JoinHandle { shared, target, task: Some(task) }
}

/// As [`spawn_body`], on a thread of the operating system.
#[track_caller]
fn spawn_thread<T: Send + 'static>(body: impl FnOnce(&Arc<Target>) -> Option<T> + Send + 'static) -> JoinHandle<T> {
    let shared = Shared::new();
    let theirs = shared.clone();
    let target = Target::native();
    let mine = target.clone();
    std::thread::spawn(move || {
        let result = match catch_unwind(AssertUnwindSafe(|| body(&mine))) {
            Ok(output) => output.ok_or_else(JoinError::cancelled),
            Err(payload) => Err(JoinError(Why::Panic(payload))),
        };
        theirs.finish(Location::caller(), result);
    });
    target.unpark();
    JoinHandle { shared, target, task: None }
}

/// Waits for a spawned future: gives its output, or says why there is none. Dropping it detaches the task.
///
/// ```
/// use drawloom::future::{self, JoinHandle};
///
/// let task: JoinHandle<u32> = future::spawn(async { 42 });
/// assert_eq!(future::block_on(task).unwrap(), 42);
/// ```
pub struct JoinHandle<T> {
    shared: Arc<Shared<T>>,
    target: Arc<Target>,
    task: Option<TaskOf>,
}

impl<T> JoinHandle<T> {
    /// Ends the task at its next wait: its future is dropped there, and its result is an error. A task that
    /// has not begun never does. One that ends before that is not touched, and what
    /// [`spawn_blocking`] runs never is.
    #[track_caller]
    pub fn abort(&self) {
        self.target.abort_from(Location::caller());
    }

    /// As a poll, by who awaits at `place`.
    #[doc(hidden)]
    pub fn poll_from(
        &mut self,
        context: &mut Context<'_>,
        place: &'static Location<'static>,
    ) -> Poll<Result<T, JoinError>> {
        let waker = context.waker().clone();
        let awaited = self.task.map_or(Awaited::Change, |id| Awaited::Task(id.task));
        let (result, before) = self.shared.state.update_doing(place, |state| match state.result.take() {
            Some(result) => ((Some(result), state.waker.take()), Act::Receives),
            None => {
                assert!(!state.finished, "a `JoinHandle` was polled after it was ready");
                ((None, state.waker.replace(waker)), Act::Awaits(awaited))
            }
        });
        drop(before);
        let Some(result) = result else { return Poll::Pending };
        if let (Some(id), Err(JoinError(Why::Panic(_)))) = (self.task, &result) {
            if let Some(rt) = id.here() {
                rt.received_panic(id.task);
            }
        }
        Poll::Ready(result)
    }

    /// The task's number in its execution.
    #[doc(hidden)]
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.task.map(|id| id.task.0)
    }

    /// As [`abort`](Self::abort), apart from the handle.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle
    where
        T: Send + 'static,
    {
        AbortHandle { target: self.target.clone(), shared: self.shared.clone() }
    }

    /// Whether the task has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.shared.state.look(|state| state.finished)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let place = awaited_at(self.target.made_at());
        self.get_mut().poll_from(context, place)
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some((rt, task)) = self.task.and_then(|id| Some((id.here()?, id.task))) {
            rt.detached(task);
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Ends a task from afar; see [`JoinHandle::abort`].
///
/// ```
/// use std::future::pending;
///
/// use drawloom::future;
///
/// let task = future::spawn(pending::<()>());
/// let handle = task.abort_handle();
/// handle.abort();
/// assert!(future::block_on(task).unwrap_err().is_cancelled());
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    target: Arc<Target>,
    shared: Arc<dyn Ended + Send + Sync + UnwindSafe + RefUnwindSafe>,
}

trait Ended {
    fn has_ended(&self, place: &'static Location<'static>) -> bool;
}

impl<T> Ended for Shared<T> {
    fn has_ended(&self, place: &'static Location<'static>) -> bool {
        self.state.look_from(place, |state| state.finished)
    }
}

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    #[track_caller]
    pub fn abort(&self) {
        self.target.abort_from(Location::caller());
    }

    /// As [`abort`](Self::abort), asked for at `place`; without one, where nobody has written it.
    #[doc(hidden)]
    pub fn abort_from(&self, place: Option<&'static Location<'static>>) {
        match place {
            Some(place) => self.target.abort_from(place),
            None => self.target.abort(),
        }
    }

    /// As [`JoinHandle::is_finished`].
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.shared.has_ended(Location::caller())
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

/// The reason why a task has no output.
///
/// ```
/// use std::future::pending;
///
/// use drawloom::future;
///
/// let task = future::spawn(pending::<()>());
/// task.abort();
/// let error = future::block_on(task).unwrap_err();
/// assert!(error.is_cancelled() && !error.is_panic());
/// ```
pub struct JoinError(Why);

enum Why {
    Cancelled,
    Panic(Box<dyn Any + Send>),
}

impl JoinError {
    pub(super) fn cancelled() -> JoinError {
        JoinError(Why::Cancelled)
    }

    pub(super) fn panicked(payload: Box<dyn Any + Send>) -> JoinError {
        JoinError(Why::Panic(payload))
    }

    /// Whether it was aborted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Why::Cancelled)
    }

    /// Whether it has panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self.0, Why::Panic(_))
    }

    /// The payload of the panic.
    ///
    /// # Panics
    ///
    /// If it has not.
    #[must_use]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic().expect("a task that was aborted has no panic")
    }

    /// The payload of the panic, if the task panicked.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.0 {
            Why::Panic(payload) => Ok(payload),
            Why::Cancelled => Err(self),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Cancelled => f.write_str("JoinError::Cancelled"),
            Why::Panic(payload) => match message(payload) {
                Some(message) => write!(f, "JoinError::Panic({message:?}, ...)"),
                None => f.write_str("JoinError::Panic(...)"),
            },
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Cancelled => f.write_str("task was cancelled"),
            Why::Panic(payload) => match message(payload) {
                Some(message) => write!(f, "task panicked with message {message:?}"),
                None => f.write_str("task panicked"),
            },
        }
    }
}

fn message(payload: &Box<dyn Any + Send>) -> Option<&str> {
    payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

impl Error for JoinError {}

// SAFETY: the payload of a panic is only ever given away whole, never shared; what is shown of it is a
// string.
unsafe impl Sync for JoinError {}
