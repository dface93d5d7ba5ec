//! Tasks that stay on their thread, as `tokio::task::LocalSet`.
//!
//! They are polled in turn with the future that drives the set, and only while it is driven.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use drawloom::future;
use drawloom::future::facade::{self, Tasks};
use drawloom::object::{Awaited, Object};

use super::native::LocalTasks;
use super::spawn::begin_local;
use super::{Id, JoinHandle};
use crate::context;
use crate::runtime::{Handle, Id as RuntimeId, Runtime};
use crate::sync::permits::Place;
use crate::turns::{InTurn, OfSet, OfThreadForSet, Turns};
use crate::waiting::{Until, Waiting, Wakers};

/// A set of tasks that need not be `Send`. Dropping it ends them.
pub struct LocalSet {
    inner: Rc<Inner>,
    /// Set while the set is awaited as a future.
    driving: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

struct Inner {
    turns: Arc<OfSet>,
    tasks: Tasks,
    live: Arc<Object<Live>>,
    /// The tasks outside of explorations.
    natives: LocalTasks,
    /// Set before the set ends its tasks: whoever drops it has the turn of the runtime already.
    ending: Arc<AtomicBool>,
    /// How many drive it. While nobody does, the set itself has the turn.
    drivers: Cell<usize>,
}

struct Live {
    count: usize,
    none: Waiting,
}

drawloom::thread_local! {
    static CURRENT: RefCell<Option<Rc<Inner>>> = const { RefCell::new(None) };
    /// Whether a future of a set is being polled.
    static POLLING: Cell<bool> = const { Cell::new(false) };
    /// The local runtimes that were made here.
    static RUNTIMES: RefCell<Vec<(RuntimeId, Weak<Inner>)>> = const { RefCell::new(Vec::new()) };
}

/// Whether the running task polls a future that has to stay where it is.
pub(crate) fn is_local() -> bool {
    POLLING.try_with(Cell::get).unwrap_or(false)
}

/// The running task is one of a set, to its end.
pub(super) fn begin_local_task() {
    POLLING.set(true);
}

/// While it lives, a future of a set is being polled.
struct Polling {
    before: bool,
}

impl Polling {
    fn new() -> Self {
        Polling { before: POLLING.try_with(|polling| polling.replace(true)).unwrap_or(false) }
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        let _ = POLLING.try_with(|polling| polling.set(self.before));
    }
}

/// The set that `runtime` spawns into, where it was made.
#[track_caller]
fn of_runtime(runtime: &Handle) -> Rc<Inner> {
    let id = runtime.id();
    let found = RUNTIMES.with(|runtimes| {
        runtimes.borrow().iter().find(|(known, _)| *known == id).and_then(|(_, inner)| inner.upgrade())
    });
    match found {
        Some(inner) => inner,
        None => {
            panic!("Local tasks can only be spawned on a LocalRuntime from the thread the runtime was created on")
        }
    }
}

/// While it lives, what is spawned locally in the context of a runtime goes into its set.
#[derive(Debug)]
pub(crate) struct LocalsOf(RuntimeId);

impl LocalsOf {
    pub(crate) fn new(runtime: &Handle, set: &LocalSet) -> Self {
        RUNTIMES.with(|runtimes| runtimes.borrow_mut().push((runtime.id(), Rc::downgrade(&set.inner))));
        LocalsOf(runtime.id())
    }
}

impl Drop for LocalsOf {
    fn drop(&mut self) {
        let _ = RUNTIMES.try_with(|runtimes| runtimes.borrow_mut().retain(|(id, _)| *id != self.0));
    }
}

/// Spawns a task into the running [`LocalSet`].
///
/// # Panics
///
/// Outside of one.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let inner = match CURRENT.with(|current| current.borrow().clone()) {
        Some(inner) => inner,
        None => match context::runtime().filter(Handle::is_local) {
            Some(runtime) => of_runtime(&runtime),
            None => panic!("`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`"),
        },
    };
    inner.spawn(future)
}

impl Inner {
    #[track_caller]
    fn spawn<F>(self: &Rc<Self>, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let place = Location::caller();
        let native = Id::native();
        if facade::running().is_none() {
            return JoinHandle::native(self.natives.spawn(native, future), native);
        }
        self.live.update(|live| live.count += 1);
        let ends = Ends { live: self.live.clone(), place };
        // The set ends its tasks before it goes, so a task need not keep it.
        let set = Rc::downgrade(self);
        let output = Arc::new(Mutex::new(None));
        let theirs = output.clone();
        let task = begin_local(context::runtime(), native, async move {
            let _ends = ends;
            let _entered = set.upgrade().map(LocalEnterGuard::enter);
            let output = future.await;
            *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
        });
        let _entered = self.tasks.enter();
        let task = InTurn::new(self.turns.clone(), task);
        // On a runtime of one thread nothing else of that happens meanwhile, either.
        let handle = match context::runtime().as_ref().and_then(Handle::turns) {
            Some(turns) => {
                let turns = Arc::new(OfThreadForSet(turns.clone()));
                let task = InTurn::new(turns, task).until(self.ending.clone());
                future::spawn_local(task)
            }
            None => future::spawn_local(task),
        };
        JoinHandle::local(handle, output, native)
    }

    /// `future`, in turn with the tasks of the set, which are polled from its first poll to its end.
    async fn drive<F: Future>(self: Rc<Self>, place: Place, future: F) -> F::Output {
        if facade::running().is_none() {
            return self.drive_natives(future).await;
        }
        let _driver = Driver::new(&self, place);
        let mut future = std::pin::pin!(InTurn::new(self.turns.clone(), future));
        poll_fn(|context| {
            let _entered = LocalEnterGuard::enter(self.clone());
            let _polling = Polling::new();
            future.as_mut().poll(context)
        })
        .await
    }

    /// As [`drive`](Self::drive), outside of explorations.
    async fn drive_natives<F: Future>(self: Rc<Self>, future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        let driver = self.natives.driver();
        poll_fn(|context| {
            let _entered = LocalEnterGuard::enter(self.clone());
            let _polling = Polling::new();
            driver.poll(future.as_mut(), context)
        })
        .await
    }

    /// Polls the tasks outside of explorations, until there are none.
    fn poll_natives(self: &Rc<Self>, context: &mut Context<'_>) -> Poll<()> {
        let _entered = LocalEnterGuard::enter(self.clone());
        let _polling = Polling::new();
        self.natives.poll_all(context)
    }
}

/// While one of them lives, the tasks of the set are polled.
struct Driver<'a> {
    inner: &'a Inner,
    place: Place,
}

impl<'a> Driver<'a> {
    fn new(inner: &'a Inner, place: Place) -> Self {
        if inner.drivers.replace(inner.drivers.get() + 1) == 0 {
            inner.turns.release(place);
        }
        Driver { inner, place }
    }
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        self.inner.drivers.set(self.inner.drivers.get() - 1);
        if self.inner.drivers.get() == 0 && !facade::is_over() {
            self.inner.turns.take(None, self.place);
        }
    }
}

/// One task fewer when dropped.
struct Ends {
    live: Arc<Object<Live>>,
    place: Place,
}

impl Drop for Ends {
    fn drop(&mut self) {
        let waiting = self.live.update_from(self.place, |live| {
            live.count -= 1;
            if live.count == 0 { live.none.take() } else { Wakers::default() }
        });
        waiting.wake();
    }
}

impl LocalSet {
    /// Without tasks.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        let inner = Inner {
            turns: OfSet::new(),
            tasks: Tasks::default(),
            live: Arc::new(Object::new(Live { count: 0, none: Waiting::new() })),
            natives: LocalTasks::default(),
            ending: Arc::new(AtomicBool::new(false)),
            drivers: Cell::new(0),
        };
        LocalSet { inner: Rc::new(inner), driving: None }
    }

    /// Until the returned guard is dropped, [`spawn_local`] spawns into this set.
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard::enter(self.inner.clone())
    }

    /// Spawns a task into the set.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.inner.spawn(future)
    }

    /// Runs `future`, and meanwhile the set, on a runtime.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.run_until(future))
    }

    /// Runs `future`, and meanwhile the set.
    #[track_caller]
    pub fn run_until<F: Future>(&self, future: F) -> impl Future<Output = F::Output> {
        self.inner.clone().drive(Location::caller(), future)
    }
}

/// Runs the set until all of its tasks have ended.
impl Future for LocalSet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let inner = self.inner.clone();
        if facade::running().is_none() {
            return inner.poll_natives(context);
        }
        let place = Location::caller();
        let driving = match self.driving.take() {
            Some(driving) => driving,
            None => {
                let live = inner.live.clone();
                let none = async move {
                    let ended = |live: &mut Live| (live.count == 0).then_some(());
                    Until::new(&*live, place, Awaited::Change, |live| &mut live.none, ended).await;
                };
                Box::pin(inner.drive(place, none))
            }
        };
        let driving = self.driving.insert(driving);
        let poll = driving.as_mut().poll(context);
        if poll.is_ready() {
            self.driving = None;
        }
        poll
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        self.driving = None;
        let entered = LocalEnterGuard::try_enter(&self.inner);
        let _polling = Polling::new();
        self.inner.natives.end();
        if !facade::is_over() {
            let _driver = Driver::new(&self.inner, Location::caller());
            self.inner.ending.store(true, Ordering::Release);
            self.inner.tasks.end();
        }
        drop(entered);
    }
}

impl Default for LocalSet {
    #[track_caller]
    fn default() -> Self {
        LocalSet::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").finish_non_exhaustive()
    }
}

/// What [`LocalSet::enter`] returns.
pub struct LocalEnterGuard {
    before: Option<Rc<Inner>>,
}

impl LocalEnterGuard {
    /// Not where the thread itself is about to go.
    fn try_enter(inner: &Rc<Inner>) -> Option<Self> {
        let before = CURRENT.try_with(|current| current.replace(Some(inner.clone()))).ok()?;
        Some(LocalEnterGuard { before })
    }

    fn enter(inner: Rc<Inner>) -> Self {
        LocalEnterGuard { before: CURRENT.with(|current| current.replace(Some(inner))) }
    }
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.replace(self.before.take()));
    }
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish()
    }
}
