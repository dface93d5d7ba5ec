//! Tasks that stay on their thread, as `tokio::task::LocalSet`.
//!
//! They are polled in turn with the future that drives the set, and only while it is driven.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use drawloom::future;
use drawloom::future::facade::{self, Tasks};
use drawloom::object::{Awaited, Object};

use super::{Id, JoinHandle, begin};
use crate::context;
use crate::runtime::{Handle, Runtime};
use crate::sync::permits::Place;
use crate::turns::{InTurn, Turns};
use crate::waiting::{Until, Waiting, Wakers};

/// A set of tasks that need not be `Send`. Dropping it ends them.
pub struct LocalSet {
    inner: Rc<Inner>,
    /// Set while the set is awaited as a future.
    driving: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

struct Inner {
    turns: Arc<Turns>,
    tasks: Tasks,
    live: Arc<Object<Live>>,
    /// How many drive it. While nobody does, the set itself has the turn.
    drivers: Cell<usize>,
}

struct Live {
    count: usize,
    none: Waiting,
}

drawloom::thread_local! {
    static CURRENT: RefCell<Option<Rc<Inner>>> = const { RefCell::new(None) };
}

/// Spawns a task into the running [`LocalSet`].
///
/// # Panics
///
/// Outside of one, and outside of an exploration.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let current = CURRENT.with(|current| current.borrow().clone());
    let inner = current.expect("`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`");
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
        self.live.update(|live| live.count += 1);
        let ends = Ends { live: self.live.clone(), place };
        // The set ends its tasks before it goes, so a task need not keep it.
        let set = Rc::downgrade(self);
        let output = Arc::new(Mutex::new(None));
        let theirs = output.clone();
        let task = begin(context::runtime(), native, async move {
            let _ends = ends;
            let _entered = set.upgrade().map(LocalEnterGuard::enter);
            let output = future.await;
            *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
        });
        let _entered = self.tasks.enter();
        let task = InTurn::new(self.turns.clone(), task);
        // On a runtime of one thread nothing else of that happens meanwhile, either.
        let handle = match context::runtime().as_ref().and_then(Handle::turns) {
            Some(turns) => future::spawn_local(InTurn::new(turns.clone(), task)),
            None => future::spawn_local(task),
        };
        JoinHandle::local(handle, output, native)
    }

    /// `future`, in turn with the tasks of the set, which are polled from its first poll to its end.
    async fn drive<F: Future>(self: Rc<Self>, place: Place, future: F) -> F::Output {
        let _driver = Driver::new(&self, place);
        let mut future = std::pin::pin!(InTurn::new(self.turns.clone(), future));
        poll_fn(|context| {
            let _entered = LocalEnterGuard::enter(self.clone());
            future.as_mut().poll(context)
        })
        .await
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
        if self.inner.drivers.get() == 0 {
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
            turns: Turns::new(true),
            tasks: Tasks::default(),
            live: Arc::new(Object::new(Live { count: 0, none: Waiting::new() })),
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
        let place = Location::caller();
        let driving = match self.driving.take() {
            Some(driving) => driving,
            None => {
                let live = inner.live.clone();
                let none = async move {
                    let ended = |live: &mut Live| (live.count == 0).then_some(());
                    Until::new(&live, place, Awaited::Change, |live| &mut live.none, ended).await;
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
        if !facade::is_over() {
            let _driver = Driver::new(&self.inner, Location::caller());
            self.inner.tasks.end();
        }
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
