//! Tasks: processes that compute one value.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::backend::{Place, Tie};
use super::ctx::Ctx;
use super::pid::AnyPid;
use super::reason::ExitReason;
use super::reply::{Answer, ReplyTo, Request};
use super::signal::{Message, MonitorRef};

/// The reason why a task has no value.
///
/// ```
/// use drawloom::actor::TaskError;
///
/// assert_eq!(TaskError::Timeout.to_string(), "the task took too long");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TaskError {
    /// The task ended before it had a value.
    Ended(ExitReason),
    /// The task took too long.
    Timeout,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Ended(reason) => write!(f, "the task has ended without a value: {reason}"),
            TaskError::Timeout => f.write_str("the task took too long"),
        }
    }
}

impl Error for TaskError {}

/// A process that computes a value for the one that has started it: Elixir's `Task`.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::actor::{self, Ctx, Task};
///
/// let sum = actor::run(async |mut ctx: Ctx<()>| {
///     let left = Task::spawn(&mut ctx, |_| async { 20 });
///     let right = Task::spawn(&mut ctx, |_| async { 22 });
///     left.join(&mut ctx, None).await.unwrap() + right.join(&mut ctx, Duration::from_secs(5)).await.unwrap()
/// });
/// assert_eq!(sum, 42);
/// ```
#[must_use = "a task whose value is never read should be a process: `Ctx::spawn`"]
pub struct Task<T> {
    pid: AnyPid,
    request: Request,
    at: Place,
    computes: PhantomData<fn() -> T>,
}

impl<T: Send + 'static> Task<T> {
    /// Starts a task that is linked to this process: if one of them fails, so does the other.
    #[track_caller]
    pub fn spawn<M, F, Fut>(ctx: &mut Ctx<M>, f: F) -> Task<T>
    where
        M: Message,
        F: FnOnce(Ctx<()>) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        Task::launch(Location::caller(), ctx, true, f)
    }

    /// Starts a task whose failure only shows when it is [joined](Self::join).
    #[track_caller]
    pub fn spawn_nolink<M, F, Fut>(ctx: &mut Ctx<M>, f: F) -> Task<T>
    where
        M: Message,
        F: FnOnce(Ctx<()>) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        Task::launch(Location::caller(), ctx, false, f)
    }

    fn launch<M, F, Fut>(at: Place, ctx: &mut Ctx<M>, link: bool, f: F) -> Task<T>
    where
        M: Message,
        F: FnOnce(Ctx<()>) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        let request = Request { tag: ctx.make_ref(), monitor: MonitorRef(ctx.make_ref()) };
        let child = ctx.conceive::<()>();
        let reply = ReplyTo::new(ctx.me().any().clone(), Some(child.any().clone()), request.tag, at);
        let body = move |ctx: Ctx<()>| async move { reply.send(f(ctx).await) };
        ctx.requests += 1;
        ctx.start_as(at, &child, body, Tie { link, monitor: Some(request.monitor) });
        Task { pid: child.any().clone(), request, at, computes: PhantomData }
    }

    /// The process of the task.
    pub fn pid(&self) -> &AnyPid {
        &self.pid
    }

    /// Waits for the value, as `Task.await`; `None` is no limit. It must be the process that has started the task that waits.
    ///
    /// # Errors
    ///
    /// If there is none, or none in time: the task continues then, and its value is thrown away.
    ///
    /// # Panics
    ///
    /// If another process has started it.
    pub async fn join<M: Message>(self, ctx: &mut Ctx<M>, limit: impl Into<Option<Duration>>) -> Result<T, TaskError> {
        match self.poll(ctx, limit.into()).await {
            Ok(result) => result,
            Err(task) => {
                ctx.forget(task.request);
                Err(TaskError::Timeout)
            }
        }
    }

    /// Waits for the value for so long, as `Task.yield`, and gives the task back if there is none.
    ///
    /// # Errors
    ///
    /// The task, if it is still at it.
    pub async fn yield_for<M: Message>(
        self,
        ctx: &mut Ctx<M>,
        limit: Duration,
    ) -> Result<Result<T, TaskError>, Task<T>> {
        self.poll(ctx, Some(limit)).await
    }

    /// Ends the task, as `Task.shutdown`: gently, and when the time is up by a kill. Its value, if it had one before.
    ///
    /// # Errors
    ///
    /// If it had none.
    pub async fn shutdown<M: Message>(self, ctx: &mut Ctx<M>, limit: Duration) -> Result<T, TaskError> {
        ctx.unlink(&self.pid);
        ctx.send_exit(&self.pid, ExitReason::Shutdown);
        match self.poll(ctx, Some(limit)).await {
            Ok(result) => result,
            Err(task) => {
                ctx.kill(&task.pid);
                task.join(ctx, None).await
            }
        }
    }

    async fn poll<M: Message>(
        self,
        ctx: &mut Ctx<M>,
        limit: Option<Duration>,
    ) -> Result<Result<T, TaskError>, Task<T>> {
        assert!(
            self.request.tag.by == ctx.me().id(),
            "the task that another process started at {} is joined: its value goes to that process",
            self.at
        );
        match ctx.answer(self.at, self.request, limit).await {
            Answer::Value(value) => Ok(Ok(value)),
            Answer::Down(reason) => Ok(Err(TaskError::Ended(reason))),
            Answer::Dropped => Ok(Err(TaskError::Ended(ExitReason::because("it has dropped its value")))),
            Answer::Nothing => Err(self),
        }
    }

    /// Waits for all of them, in their order.
    ///
    /// # Errors
    ///
    /// For each that has no value.
    pub async fn join_all<M: Message>(tasks: Vec<Task<T>>, ctx: &mut Ctx<M>) -> Vec<Result<T, TaskError>> {
        let mut results = Vec::with_capacity(tasks.len());
        for task in tasks {
            results.push(task.join(ctx, None).await);
        }
        results
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {:?}", self.pid)
    }
}

/// Tasks for each of many items, some at a time: `Task.async_stream`.
///
/// ```
/// use drawloom::actor::{self, Ctx, Stream};
///
/// let squares = actor::run(async |mut ctx: Ctx<()>| {
///     let mut squares = Stream::new(1..=4, |n: u32| async move { n * n });
///     let mut got = Vec::new();
///     while let Some(square) = squares.next(&mut ctx).await {
///         got.push(square.unwrap());
///     }
///     got
/// });
/// assert_eq!(squares, [1, 4, 9, 16]);
/// ```
pub struct Stream<I, F, T> {
    items: I,
    f: F,
    running: VecDeque<Task<T>>,
    at_once: usize,
    limit: Option<Duration>,
    at: Place,
}

impl<I: Iterator, F, T> Stream<I, F, T> {
    /// Four at a time, on every machine, each for up to 5 s; results come in the order of the items.
    #[track_caller]
    pub fn new<Fut>(items: impl IntoIterator<IntoIter = I>, f: F) -> Stream<I, F, T>
    where
        F: Fn(I::Item) -> Fut,
        Fut: Future<Output = T> + Send + 'static,
    {
        let (items, limit) = (items.into_iter(), Some(Duration::from_secs(5)));
        Stream { items, f, running: VecDeque::new(), at_once: 4, limit, at: Location::caller() }
    }

    /// Runs at most `tasks` tasks at a time.
    ///
    /// # Panics
    ///
    /// If `tasks` is 0.
    #[must_use]
    pub fn at_once(mut self, tasks: usize) -> Self {
        assert!(tasks > 0, "no task at all would run");
        self.at_once = tasks;
        self
    }

    /// A time limit for each task; `None` is no limit.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// The next result. A task that took too long is killed.
    pub async fn next<M, Fut>(&mut self, ctx: &mut Ctx<M>) -> Option<Result<T, TaskError>>
    where
        M: Message,
        I::Item: Send + 'static,
        F: Fn(I::Item) -> Fut,
        Fut: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        while self.running.len() < self.at_once {
            let Some(item) = self.items.next() else { break };
            let future = (self.f)(item);
            self.running.push_back(Task::launch(self.at, ctx, true, move |_| future));
        }
        let task = self.running.pop_front()?;
        match task.poll(ctx, self.limit).await {
            Ok(result) => Some(result),
            Err(task) => {
                ctx.unlink(&task.pid);
                ctx.kill(&task.pid);
                ctx.forget(task.request);
                Some(Err(TaskError::Timeout))
            }
        }
    }
}

impl<I, F, T> fmt::Debug for Stream<I, F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("running", &self.running).finish_non_exhaustive()
    }
}
