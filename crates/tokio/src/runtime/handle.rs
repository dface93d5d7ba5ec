//! The handle of a runtime.

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use drawloom::future::facade::{Entered, Tasks, running};
use drawloom::object::Object;

use super::RuntimeFlavor;
use super::alive::{Alive, Counts};
use super::metrics::RuntimeMetrics;
use super::runtime::shut_down;
use crate::context::{self, Async, Within};
use crate::sync::permits::Place;
use crate::task::{Hook, JoinHandle, SharedTasks, ThreadHooks, coop, spawn_blocking_in, spawn_in};
use crate::turns::{InTurn, OfThread};

/// Under tokio's own name this is put in the place of tokio in crates that were not written for it. They hold locks
/// of their own while they notify or send; if another task were let run then, and wanted the same lock, the whole
/// process would wait. So there, tasks take turns on every runtime: all orders of polls are explored, and none of what
/// happens within them.
const POLLS_ARE_ATOMIC: bool = matches!(env!("CARGO_PKG_NAME").as_bytes(), b"tokio");

/// What a runtime is known by, as `tokio::runtime::Handle`.
#[derive(Clone)]
pub struct Handle {
    inner: Arc<Inner>,
}

struct Inner {
    flavor: RuntimeFlavor,
    workers: usize,
    tasks: Tasks,
    /// Whose turn it is, where tasks take turns.
    turns: Option<Arc<OfThread>>,
    /// Tasks outside of explorations.
    natives: Option<Arc<SharedTasks>>,
    paused: AtomicBool,
    id: u64,
    name: Option<String>,
    has_time: bool,
    /// Whether what is spawned locally can be spawned on it: it is a `LocalRuntime`.
    is_local: bool,
    /// Whether the runtime has ended, for those who know no more of it than a handle.
    ended: Object<bool>,
    made_at: Place,
    /// The same, for its own tasks, which end together with it.
    has_ended: AtomicBool,
    counts: Arc<Counts>,
    park: Option<Hook>,
    threads: ThreadHooks,
}

/// What a runtime is made with.
pub(super) struct Making {
    pub(super) flavor: RuntimeFlavor,
    pub(super) workers: usize,
    pub(super) paused: bool,
    pub(super) name: Option<String>,
    pub(super) has_time: bool,
    pub(super) is_local: bool,
    pub(super) park: Option<Hook>,
    pub(super) threads: ThreadHooks,
}

impl Handle {
    #[track_caller]
    pub(super) fn new(making: Making) -> Handle {
        let Making { flavor, workers, paused, name, has_time, is_local, park, threads } = making;
        static MADE: AtomicU64 = AtomicU64::new(1);
        let takes_turns = flavor == RuntimeFlavor::CurrentThread || POLLS_ARE_ATOMIC;
        // Not in a closure, which would be the place that it was made at.
        let turns = if takes_turns { Some(OfThread::new()) } else { None };
        let natives = running().is_none().then(Arc::<SharedTasks>::default);
        if let (Some(natives), RuntimeFlavor::MultiThread) = (&natives, flavor) {
            natives.employ(workers, &threads);
        }
        let inner = Inner {
            flavor,
            workers,
            tasks: Tasks::default(),
            turns,
            natives,
            paused: AtomicBool::new(paused),
            id: MADE.fetch_add(1, Ordering::Relaxed),
            name,
            has_time,
            is_local,
            ended: Object::new(false),
            made_at: Location::caller(),
            has_ended: AtomicBool::new(false),
            counts: Arc::new(Counts::default()),
            park,
            threads,
        };
        drawloom::label(&inner.ended, "runtime");
        Handle { inner: Arc::new(inner) }
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.inner.tasks
    }

    pub(crate) fn turns(&self) -> Option<&Arc<OfThread>> {
        self.inner.turns.as_ref()
    }

    pub(crate) fn is_local(&self) -> bool {
        self.inner.is_local
    }

    /// A task begins here: one that can be aborted, or one that blocks.
    pub(crate) fn alive(&self, can_be_aborted: bool) -> Alive {
        Alive::new(self.inner.counts.clone(), can_be_aborted)
    }

    /// A timer is made here.
    #[track_caller]
    pub(crate) fn needs_time(&self) {
        assert!(
            self.inner.has_time,
            "A Tokio 1.x context was found, but timers are disabled. Call `enable_time` on the runtime builder to \
             enable timers."
        );
    }

    /// Whether the runtime has ended. Who is not a task of it looks in a step.
    #[track_caller]
    pub(crate) fn has_ended(&self) -> bool {
        match context::runtime().is_some_and(|current| Arc::ptr_eq(&current.inner, &self.inner)) {
            true => self.inner.has_ended.load(Ordering::Acquire),
            false => self.inner.ended.look(|ended| *ended),
        }
    }

    /// Whether nobody fires its timers any more for whoever polls one now. A runtime ends when none of its own tasks is
    /// polled any more; one of them that is polled here all the same is dropped when it waits.
    #[track_caller]
    pub(crate) fn has_no_timers(&self) -> bool {
        let is_current = context::runtime().is_some_and(|current| Arc::ptr_eq(&current.inner, &self.inner));
        let is_own_task = is_current && context::task().is_some() && context::holds_the_runtime();
        !is_own_task && self.has_ended()
    }

    /// Fails if the runtime has ended.
    #[track_caller]
    pub(crate) fn is_there(&self) -> io::Result<()> {
        match self.has_ended() {
            true => Err(shut_down()),
            false => Ok(()),
        }
    }

    /// From now on nothing can be spawned.
    pub(super) fn end(&self) {
        self.inner.ended.update_from(self.inner.made_at, |ended| *ended = true);
        self.inner.has_ended.store(true, Ordering::Release);
    }

    /// Ends the tasks outside of explorations, and waits for those that block no longer than `limit`; without one,
    /// for whatever is polled, too.
    pub(super) fn end_natives(&self, limit: Option<Duration>) {
        if let Some(natives) = self.natives() {
            let _within = context::within(self.clone());
            natives.end();
            if limit.is_none() {
                natives.wait();
            }
            self.inner.counts.wait(limit);
        }
    }

    /// The tasks, outside of explorations.
    pub(crate) fn natives(&self) -> Option<&Arc<SharedTasks>> {
        self.inner.natives.as_ref().filter(|_| running().is_none())
    }

    /// What is called around threads outside of explorations.
    pub(crate) fn thread_hooks(&self) -> ThreadHooks {
        match running() {
            None => self.inner.threads.clone(),
            Some(_) => ThreadHooks::default(),
        }
    }

    /// While the returned value lives somebody blocks a worker, so there is one more.
    pub(crate) fn one_worker_more(&self) -> OneMore {
        let natives = self.natives().cloned();
        if let Some(natives) = &natives {
            natives.employ(1, &self.inner.threads);
        }
        OneMore { natives }
    }

    #[track_caller]
    pub(crate) fn pause(&self, paused: bool) {
        assert!(
            !paused || self.inner.flavor == RuntimeFlavor::CurrentThread,
            "`time::pause()` requires the `current_thread` Tokio runtime"
        );
        let before = self.inner.paused.swap(paused, Ordering::AcqRel);
        assert!(before != paused, "time is {} frozen", if paused { "already" } else { "not" });
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.inner.paused.load(Ordering::Acquire)
    }

    /// Until the returned guard is dropped, this is the current runtime.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard { _within: context::enter(self.clone()), _entered: self.tasks().enter(), of: PhantomData }
    }

    /// The current runtime.
    ///
    /// # Panics
    ///
    /// Outside of one.
    #[must_use]
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// The current runtime, if there is one.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        context::runtime().ok_or(TryCurrentError(()))
    }

    /// As [`tokio::spawn`](crate::spawn), on this runtime.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_in(self, future)
    }

    /// As [`spawn_blocking`](crate::task::spawn_blocking), on this runtime.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, func: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        spawn_blocking_in(self, func)
    }

    /// Runs a future to its end on the calling thread.
    ///
    /// # Panics
    ///
    /// From within a future.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        // On a runtime of one thread it is not that thread that runs it.
        match self.inner.flavor {
            RuntimeFlavor::CurrentThread => self.run(future, None, Async::aside()),
            RuntimeFlavor::MultiThread => self.run(future, self.turns().cloned(), Async::set(true)),
        }
    }

    /// As [`block_on`](Self::block_on), on the thread that a runtime of one thread has.
    #[track_caller]
    pub(super) fn drive<F: Future>(&self, future: F) -> F::Output {
        self.run(future, self.turns().cloned(), Async::set(true))
    }

    #[track_caller]
    fn run<F: Future>(&self, future: F, turns: Option<Arc<OfThread>>, is_async: Async) -> F::Output {
        assert!(
            !is_async.was_async(),
            "Cannot start a runtime from within a runtime. This happens because a function (like `block_on`) \
             attempted to block the current thread while the thread is being used to drive asynchronous tasks."
        );
        let _entered = self.enter();
        let _async = is_async;
        let drives = turns.is_some() && self.inner.flavor == RuntimeFlavor::CurrentThread;
        let future = coop::budgeted(Parks { future, park: self.inner.park.clone() });
        match turns {
            _ if running().is_none() => match self.natives().filter(|_| drives) {
                None => drawloom::future::block_on(future),
                Some(natives) => {
                    let mut future = std::pin::pin!(future);
                    let driver = natives.driver();
                    drawloom::future::block_on(poll_fn(|context| driver.poll(future.as_mut(), context)))
                }
            },
            Some(turns) => drawloom::future::block_on(InTurn::new(turns, future)),
            None => drawloom::future::block_on(future),
        }
    }

    /// Whether it has one thread or several.
    #[must_use]
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        self.inner.flavor
    }

    /// The name of the runtime.
    #[must_use]
    pub fn id(&self) -> Id {
        Id(self.inner.id)
    }

    /// What the runtime was [called](super::Builder::name).
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }

    /// What is known of it in numbers.
    #[must_use]
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::new(self.inner.workers, self.inner.counts.clone(), self.natives().cloned())
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("flavor", &self.inner.flavor).finish_non_exhaustive()
    }
}

/// What [`Handle::one_worker_more`] returns.
pub(crate) struct OneMore {
    natives: Option<Arc<SharedTasks>>,
}

impl Drop for OneMore {
    fn drop(&mut self) {
        if let Some(natives) = &self.natives {
            natives.dismiss(1);
        }
    }
}

/// A future that blocks a thread, which calls `park` whenever it is about to wait.
struct Parks<F> {
    future: F,
    park: Option<Hook>,
}

impl<F: Future> Future for Parks<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: nothing moves it out, and there is no destructor.
        let (future, park) = unsafe {
            let Parks { future, park } = self.get_unchecked_mut();
            (Pin::new_unchecked(future), park)
        };
        let poll = future.poll(context);
        if let (Some(park), Poll::Pending) = (park, &poll) {
            (park.0)();
        }
        poll
    }
}

/// The name of a runtime.
#[derive(Clone, Copy, Debug, Hash, Eq, PartialEq)]
pub struct Id(u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What [`Handle::enter`] returns.
#[must_use = "Creating and dropping a guard does nothing"]
pub struct EnterGuard<'a> {
    // No destructor of its own, so that a runtime may be given away before its guard goes.
    _within: Within,
    _entered: Entered,
    of: PhantomData<&'a Handle>,
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// There is no current runtime.
#[derive(Debug)]
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Whether there is no current runtime: always.
    #[must_use]
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Whether the thread is about to end: never.
    #[must_use]
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(context::MISSING)
    }
}

impl Error for TryCurrentError {}
