//! Tasks that are awaited together, as `tokio::task::JoinSet`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use drawloom::object::Object;

use super::{AbortHandle, Id, JoinError, JoinHandle, LocalSet, coop, spawn_blocking_in, spawn_in, spawn_local};
use crate::context;
use crate::runtime::Handle;
use crate::sync::permits::Place;
use crate::waiting::Wakers;

/// Tasks that are awaited in the order in which they end. Dropping it aborts them.
pub struct JoinSet<T> {
    tasks: BTreeMap<u64, Member<T>>,
    /// Those that were never polled, so that nobody would be woken by their end.
    fresh: VecDeque<u64>,
    made: u64,
    ended: Arc<Ended>,
}

struct Member<T> {
    handle: JoinHandle<T>,
    waker: Waker,
}

/// Those that have ended since the set was last looked at.
struct Ended {
    state: Object<State>,
    made_at: Place,
}

#[derive(Default)]
struct State {
    keys: VecDeque<u64>,
    waker: Option<Waker>,
}

/// Wakes the set because of one of its tasks.
struct MemberWaker {
    key: u64,
    ended: Arc<Ended>,
}

impl Wake for MemberWaker {
    fn wake(self: Arc<Self>) {
        let waker = self.ended.state.update_from(self.ended.made_at, |state| {
            state.keys.push_back(self.key);
            state.waker.take()
        });
        Wakers::from(waker).wake();
    }
}

impl<T> JoinSet<T> {
    /// Without tasks.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        let ended = Ended { state: Object::default(), made_at: Location::caller() };
        JoinSet { tasks: BTreeMap::new(), fresh: VecDeque::new(), made: 0, ended: Arc::new(ended) }
    }

    /// How many tasks are not yet awaited.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether all are awaited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        self.made += 1;
        let key = self.made;
        let waker = Waker::from(Arc::new(MemberWaker { key, ended: self.ended.clone() }));
        self.tasks.insert(key, Member { handle, waker });
        self.fresh.push_back(key);
        abort
    }

    /// Spawns a task into the set.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let handle = spawn_in(&context::current(), task);
        self.insert(handle)
    }

    /// As [`spawn`](Self::spawn), on another runtime.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let handle = handle.spawn(task);
        self.insert(handle)
    }

    /// As [`spawn_local`], into the set.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let handle = spawn_local(task);
        self.insert(handle)
    }

    /// As [`LocalSet::spawn_local`], into the set.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let handle = local_set.spawn_local(task);
        self.insert(handle)
    }

    /// As [`spawn_blocking`](super::spawn_blocking), into the set.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let handle = spawn_blocking_in(&context::current(), f);
        self.insert(handle)
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), on another runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let handle = handle.spawn_blocking(f);
        self.insert(handle)
    }

    /// The next task to look at: a new one, or one that has ended; without one, who is to be woken waits.
    fn next_key(&mut self, waker: Option<&Waker>, place: Place) -> Option<u64> {
        self.fresh.pop_front().or_else(|| {
            self.ended.state.update_from(place, |state| {
                let key = state.keys.pop_front();
                if key.is_none() {
                    state.waker = waker.cloned();
                }
                key
            })
        })
    }

    fn poll_next(&mut self, waker: Option<&Waker>, place: Place) -> Poll<Option<Result<(Id, T), JoinError>>> {
        while !self.tasks.is_empty() {
            let Some(key) = self.next_key(waker, place) else { return Poll::Pending };
            let Some(member) = self.tasks.get_mut(&key) else { continue };
            let member_waker = member.waker.clone();
            let polled = member.handle.poll_from(&mut Context::from_waker(&member_waker), Some(place));
            if let Poll::Ready(result) = polled {
                let id = member.handle.id();
                self.tasks.remove(&key);
                return Poll::Ready(Some(result.map(|output| (id, output))));
            }
            // It is not the task that has to be waited for: this one has done enough.
            if !coop::has_budget_remaining() {
                if let Some(mine) = waker {
                    mine.wake_by_ref();
                }
                return Poll::Pending;
            }
        }
        Poll::Ready(None)
    }

    /// Waits for the next task to end; none if there is none.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> {
        let next = self.join_next_with_id();
        async move { next.await.map(without_id) }
    }

    /// As [`join_next`](Self::join_next), with its name.
    #[track_caller]
    pub fn join_next_with_id(&mut self) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> {
        let place = Location::caller();
        poll_fn(move |context| self.poll_next(Some(context.waker()), place))
    }

    /// The next task that has ended, if there is one.
    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// As [`try_join_next`](Self::try_join_next), with its name.
    #[track_caller]
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let _unlimited = coop::Limited::none();
        match self.poll_next(None, Location::caller()) {
            Poll::Ready(next) => next,
            Poll::Pending => None,
        }
    }

    /// Aborts all, and waits for them.
    #[track_caller]
    pub fn shutdown(&mut self) -> impl Future<Output = ()> {
        let place = Location::caller();
        async move {
            self.abort_from(Some(place));
            while poll_fn(|context| self.poll_next(Some(context.waker()), place)).await.is_some() {}
        }
    }

    /// Waits for all, and gives their outputs in the order in which they have ended.
    ///
    /// # Panics
    ///
    /// If one of them has, or was aborted.
    #[track_caller]
    pub fn join_all(mut self) -> impl Future<Output = Vec<T>> {
        let place = Location::caller();
        async move {
            let mut outputs = Vec::with_capacity(self.len());
            while let Some(result) = poll_fn(|context| self.poll_next(Some(context.waker()), place)).await {
                match result {
                    Ok((_, output)) => outputs.push(output),
                    Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                    Err(error) => panic!("{error}"),
                }
            }
            outputs
        }
    }

    /// As [`join_next`](Self::join_next), as a poll.
    #[track_caller]
    pub fn poll_join_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(context).map(|next| next.map(without_id))
    }

    /// As [`join_next_with_id`](Self::join_next_with_id), as a poll.
    #[track_caller]
    pub fn poll_join_next_with_id(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.poll_next(Some(context.waker()), Location::caller())
    }
}

fn without_id<T>(result: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    result.map(|(_, output)| output)
}

impl<T> JoinSet<T> {
    /// Aborts all; they are still to be awaited.
    #[track_caller]
    pub fn abort_all(&mut self) {
        self.abort_from(Some(Location::caller()));
    }

    fn abort_from(&self, place: Option<&'static Location<'static>>) {
        for member in self.tasks.values() {
            member.handle.abort_from(place);
        }
    }

    /// Lets all continue by themselves.
    pub fn detach_all(&mut self) {
        self.fresh.clear();
        self.tasks.clear();
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_from(None);
    }
}

impl<T> Default for JoinSet<T> {
    #[track_caller]
    fn default() -> Self {
        JoinSet::new()
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(tasks: I) -> Self {
        let mut set = JoinSet::new();
        set.extend(tasks);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, tasks: I) {
        for task in tasks {
            self.spawn(task);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}
