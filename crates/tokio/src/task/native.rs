//! Tasks outside of explorations: those that were woken are polled first come, first served.
//!
//! Tasks of a `LocalSet` and of a runtime of one thread are polled by whoever drives these; a runtime of several threads
//! has workers.

use std::any::Any;
use std::cell::Cell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use drawloom::future::JoinError;
use drawloom::future::facade;

use super::{Id, coop};
use crate::context::AsTask;

/// So many tasks are polled before whoever drives them is asked again.
const AT_ONCE: usize = 61;

/// Tasks that are polled together. `B` is what is known of their bodies: whether they are `Send`.
pub(crate) struct NativeTasks<B: ?Sized> {
    ready: Arc<Ready>,
    tasks: Mutex<BTreeMap<u64, Task<B>>>,
    made: AtomicU64,
}

/// Tasks that stay on their thread.
pub(super) type LocalTasks = NativeTasks<dyn Body>;

/// Tasks of a runtime.
pub(crate) type SharedTasks = NativeTasks<dyn Body + Send>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those that were woken, and who polls them.
#[derive(Default)]
struct Ready {
    state: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    woken: VecDeque<u64>,
    phases: BTreeMap<u64, Phase>,
    /// Who polls them while driving something else.
    drivers: Vec<(u64, Waker)>,
    /// One of them does at this moment.
    is_driven: bool,
    /// Whether nothing is polled any more.
    has_ended: bool,
    workers: Workers,
    /// Of each worker; of who drives them, where there are none.
    measured: Vec<Measured>,
}

/// What a worker has done so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Measured {
    /// How often it began to wait, and how often it continued.
    pub(crate) turns: u64,
    /// How long it did not wait.
    pub(crate) busy: Duration,
}

#[derive(Default)]
struct Workers {
    wanted: usize,
    started: usize,
    /// Those of them that poll nothing any more.
    leaving: usize,
    made: usize,
}

/// Of a task that was woken.
#[derive(PartialEq, Eq)]
enum Phase {
    Queued,
    Polled,
    /// It was woken while it was polled.
    PolledAgain,
}

impl Queue {
    fn measured(&mut self, worker: usize) -> &mut Measured {
        if self.measured.len() <= worker {
            self.measured.resize(worker + 1, Measured::default());
        }
        &mut self.measured[worker]
    }

    fn pop(&mut self) -> Option<u64> {
        let number = self.woken.pop_front()?;
        self.phases.insert(number, Phase::Polled);
        Some(number)
    }
}

impl Ready {
    fn push(&self, number: u64) {
        let drivers = {
            let mut queue = lock(&self.state);
            match queue.phases.entry(number) {
                Entry::Vacant(entry) => {
                    entry.insert(Phase::Queued);
                    queue.woken.push_back(number);
                }
                Entry::Occupied(mut entry) => {
                    if *entry.get() == Phase::Polled {
                        entry.insert(Phase::PolledAgain);
                    }
                    return;
                }
            }
            self.changed.notify_one();
            queue.drivers.iter().map(|(_, waker)| waker.clone()).collect::<Vec<_>>()
        };
        drivers.iter().for_each(Waker::wake_by_ref);
    }

    /// A task was polled; whether it continues.
    fn polled(&self, number: u64, goes_on: bool) {
        let again = {
            let mut queue = lock(&self.state);
            if queue.has_ended {
                // Somebody may wait for that.
                self.changed.notify_all();
            }
            queue.phases.remove(&number) == Some(Phase::PolledAgain)
        };
        if again && goes_on {
            self.push(number);
        }
    }
}

struct Task<B: ?Sized> {
    state: Arc<TaskState>,
    id: Id,
    body: Box<B>,
}

/// What others know of a task.
pub(super) struct TaskState {
    number: u64,
    ready: Arc<Ready>,
    aborted: AtomicBool,
    finished: AtomicBool,
}

impl TaskState {
    pub(super) fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
        self.ready.push(self.number);
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }
}

impl Wake for TaskState {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.number);
    }
}

/// What a task and its handle share.
pub(super) struct Output<T> {
    slot: Mutex<Slot<T>>,
}

struct Slot<T> {
    result: Option<Result<T, JoinError>>,
    waker: Option<Waker>,
}

impl<T> Output<T> {
    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        let mut slot = lock(&self.slot);
        match slot.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                let before = slot.waker.replace(context.waker().clone());
                drop(slot);
                drop(before);
                Poll::Pending
            }
        }
    }
}

/// A task, whatever its output is.
pub(crate) trait Body {
    /// Whether it has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> bool;

    fn cancel(&mut self);
}

struct Run<F: Future> {
    future: Option<Pin<Box<F>>>,
    output: Arc<Output<F::Output>>,
    state: Arc<TaskState>,
}

impl<F: Future> Run<F> {
    /// The future is gone by now.
    fn finish(&self, result: Result<F::Output, JoinError>) {
        self.state.finished.store(true, Ordering::Release);
        let waker = {
            let mut slot = lock(&self.output.slot);
            slot.result = Some(result);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Drops the future; what it panicked with.
    fn drop_future(&mut self) -> Result<(), Box<dyn Any + Send>> {
        catch_unwind(AssertUnwindSafe(|| self.future = None))
    }
}

impl<F: Future> Body for Run<F> {
    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        let Some(future) = &mut self.future else { return true };
        let poll = catch_unwind(AssertUnwindSafe(|| std::pin::pin!(coop::budgeted(future.as_mut())).poll(context)));
        let result = match poll {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(facade::panicked(payload)),
        };
        let dropped = self.drop_future();
        self.finish(dropped.map_err(facade::panicked).and(result));
        true
    }

    fn cancel(&mut self) {
        if self.future.is_some() {
            let dropped = self.drop_future();
            self.finish(Err(dropped.map_or_else(facade::panicked, |()| facade::cancelled())));
        }
    }
}

/// The handle of a task: what it leaves, and what can be done to it.
pub(super) type Spawned<T> = (Arc<Output<T>>, Arc<TaskState>);

impl<B: ?Sized + Body> Default for NativeTasks<B> {
    fn default() -> Self {
        NativeTasks { ready: Arc::default(), tasks: Mutex::new(BTreeMap::new()), made: AtomicU64::new(0) }
    }
}

impl<B: ?Sized + Body> NativeTasks<B> {
    /// `body` makes of the task what is kept.
    fn spawn_as<F: Future>(&self, id: Id, future: F, body: impl FnOnce(Run<F>) -> Box<B>) -> Spawned<F::Output> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let state = Arc::new(TaskState {
            number,
            ready: self.ready.clone(),
            aborted: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        });
        let output = Arc::new(Output { slot: Mutex::new(Slot { result: None, waker: None }) });
        let run = Run { future: Some(Box::pin(future)), output: output.clone(), state: state.clone() };
        if self.keep(number, Task { state: state.clone(), id, body: body(run) }) {
            self.ready.push(number);
        }
        (output, state)
    }

    /// Keeps a task for its next poll, or cancels it if there will be none; whether it is kept.
    fn keep(&self, number: u64, mut task: Task<B>) -> bool {
        {
            // Under this lock, so that whoever ends the tasks finds it, or it finds that they have ended.
            let mut tasks = lock(&self.tasks);
            if !lock(&self.ready.state).has_ended {
                tasks.insert(number, task);
                return true;
            }
        }
        let _as_task = AsTask::new(task.id);
        task.body.cancel();
        false
    }

    /// Polls a task that was woken.
    fn poll(&self, number: u64) {
        let task = lock(&self.tasks).remove(&number);
        let Some(mut task) = task else { return self.ready.polled(number, false) };
        let has_ended = {
            let _as_task = AsTask::new(task.id);
            if task.state.aborted.load(Ordering::Acquire) {
                task.body.cancel();
                true
            } else {
                let waker = Waker::from(task.state.clone());
                task.body.poll(&mut Context::from_waker(&waker))
            }
        };
        let goes_on = !has_ended && self.keep(number, task);
        self.ready.polled(number, goes_on);
    }

    /// Polls those that were woken, unless somebody else does.
    fn tick(&self, driver: &Waker) {
        if std::mem::replace(&mut lock(&self.ready.state).is_driven, true) {
            return;
        }
        let mut all = false;
        for _ in 0..AT_ONCE {
            let next = lock(&self.ready.state).pop();
            let Some(number) = next else {
                all = true;
                break;
            };
            self.poll(number);
        }
        lock(&self.ready.state).is_driven = false;
        if !all {
            driver.wake_by_ref();
        }
    }

    /// From now on `waker` is woken, for the driver that is called `number`.
    fn drive_by(&self, number: u64, waker: &Waker) {
        let mut queue = lock(&self.ready.state);
        let before = match queue.drivers.iter_mut().find(|(known, _)| *known == number) {
            Some((_, known)) => Some(std::mem::replace(known, waker.clone())),
            None => {
                queue.drivers.push((number, waker.clone()));
                None
            }
        };
        drop(queue);
        drop(before);
    }

    /// Polls those that were woken; ready when there are none left. Whoever polls is woken until the tasks are gone.
    pub(super) fn poll_all(&self, context: &mut Context<'_>) -> Poll<()> {
        self.drive_by(u64::MAX, context.waker());
        self.tick(context.waker());
        if lock(&self.tasks).is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// A driver, until it is dropped.
    pub(crate) fn driver(&self) -> Driver<'_, B> {
        Driver { tasks: self, number: self.made.fetch_add(1, Ordering::Relaxed), waits: Cell::new(false) }
    }

    /// Cancels all, and whatever is polled just now when that is over.
    pub(crate) fn end(&self) {
        lock(&self.ready.state).has_ended = true;
        self.ready.changed.notify_all();
        loop {
            let next = lock(&self.tasks).pop_first();
            let Some((_, mut task)) = next else { return };
            let _as_task = AsTask::new(task.id);
            task.body.cancel();
        }
    }

    /// Waits until none is polled, and all workers are gone.
    pub(crate) fn wait(&self) {
        let mut queue = lock(&self.ready.state);
        while queue.workers.started > 0 || queue.phases.values().any(|phase| *phase != Phase::Queued) {
            queue = self.ready.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl LocalTasks {
    pub(super) fn spawn<F: Future + 'static>(&self, id: Id, future: F) -> Spawned<F::Output> {
        self.spawn_as(id, future, |run| Box::new(run))
    }
}

impl SharedTasks {
    pub(super) fn spawn<F>(&self, id: Id, future: F) -> Spawned<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        self.spawn_as(id, future, |run| Box::new(run))
    }

    /// From now on so many more threads poll the tasks; they end with the tasks.
    pub(crate) fn employ(self: &Arc<Self>, workers: usize, hooks: &ThreadHooks) {
        let (missing, first) = {
            let mut queue = lock(&self.ready.state);
            queue.workers.wanted += workers;
            let missing = (queue.workers.wanted + queue.workers.leaving).saturating_sub(queue.workers.started);
            queue.workers.started += missing;
            let first = queue.workers.made;
            queue.workers.made += missing;
            (missing, first)
        };
        for worker in first..first + missing {
            let (tasks, hooks) = (self.clone(), hooks.clone());
            std::thread::spawn(move || {
                hooks.around(|| tasks.work(worker));
                {
                    let workers = &mut lock(&tasks.ready.state).workers;
                    workers.started -= 1;
                    workers.leaving -= 1;
                }
                tasks.ready.changed.notify_all();
            });
        }
    }

    /// Takes back what [`employ`](Self::employ) did, for so many.
    pub(crate) fn dismiss(&self, workers: usize) {
        lock(&self.ready.state).workers.wanted -= workers;
        self.ready.changed.notify_all();
    }

    /// How many were woken, and are not polled yet.
    pub(crate) fn woken(&self) -> usize {
        lock(&self.ready.state).woken.len()
    }

    /// What a worker has done so far.
    pub(crate) fn measured(&self, worker: usize) -> Measured {
        *lock(&self.ready.state).measured(worker)
    }

    fn work(&self, worker: usize) {
        let mut since = Instant::now();
        loop {
            let mut queue = lock(&self.ready.state);
            let number = loop {
                if queue.has_ended || queue.workers.started - queue.workers.leaving > queue.workers.wanted {
                    queue.workers.leaving += 1;
                    queue.measured(worker).busy += since.elapsed();
                    return;
                }
                match queue.pop() {
                    Some(number) => break number,
                    None => {
                        let measured = queue.measured(worker);
                        measured.busy += since.elapsed();
                        measured.turns += 1;
                        queue = self.ready.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                        queue.measured(worker).turns += 1;
                        since = Instant::now();
                    }
                }
            };
            drop(queue);
            self.poll(number);
        }
    }
}

/// What users have asked to be called where a thread begins and ends.
#[derive(Clone, Default)]
pub(crate) struct ThreadHooks {
    pub(crate) start: Option<Hook>,
    pub(crate) stop: Option<Hook>,
}

/// It may panic: then nothing of ours is broken.
pub(crate) type Hook = Arc<AssertUnwindSafe<Box<dyn Fn() + Send + Sync>>>;

impl ThreadHooks {
    /// Runs `f`, which is all that a thread does.
    pub(crate) fn around<T>(&self, f: impl FnOnce() -> T) -> T {
        struct Stops<'a>(&'a ThreadHooks);
        impl Drop for Stops<'_> {
            fn drop(&mut self) {
                self.0.stop.iter().for_each(|stop| (stop.0)());
            }
        }
        self.start.iter().for_each(|start| (start.0)());
        let _stops = Stops(self);
        f()
    }
}

/// What [`NativeTasks::driver`] returns.
pub(crate) struct Driver<'a, B: ?Sized + Body> {
    tasks: &'a NativeTasks<B>,
    number: u64,
    waits: Cell<bool>,
}

impl<B: ?Sized + Body> Driver<'_, B> {
    /// Polls `future`, and then those that were woken if it is not ready.
    pub(crate) fn poll<F: Future>(&self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.tasks.drive_by(self.number, context.waker());
        let since = Instant::now();
        let went_on = self.waits.get();
        let poll = future.poll(context);
        if poll.is_pending() {
            self.tasks.tick(context.waker());
        }
        self.waits.set(poll.is_pending());
        let mut queue = lock(&self.tasks.ready.state);
        let measured = queue.measured(0);
        measured.busy += since.elapsed();
        measured.turns += u64::from(went_on) + u64::from(poll.is_pending());
        poll
    }
}

impl<B: ?Sized + Body> Drop for Driver<'_, B> {
    fn drop(&mut self) {
        let others = {
            let mut queue = lock(&self.tasks.ready.state);
            queue.drivers.retain(|(number, _)| *number != self.number);
            match queue.woken.is_empty() {
                true => Vec::new(),
                false => queue.drivers.iter().map(|(_, waker)| waker.clone()).collect(),
            }
        };
        others.iter().for_each(Waker::wake_by_ref);
    }
}
