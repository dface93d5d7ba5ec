//! Where processes run.

use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use super::backend::{Backend, Body};
use super::ctx::Ctx;
use super::mailbox::Mailbox;
use super::native::Runtime;
use super::pid::{AnyPid, Pid, ProcessId};
use super::process::{Core, body};
use super::reason::ExitReason;
use super::signal::Message;

/// When messages and signals arrive.
///
/// ```
/// use drawloom::actor::{Ctx, Delivery, System};
///
/// let system = System::new().delivery(Delivery::Split);
/// assert_eq!(system.run(async |_: Ctx<()>| 42), Ok(42));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Delivery {
    /// At once: a send puts the message into the mailbox. So it is on one node, as far as messages go, though nobody promises it.
    #[default]
    Atomic,
    /// At any time later. Messages and exit signals from one process to another one keep their order, and there is no other order: this is what
    /// the documentation of Erlang promises.
    Split,
}

/// Where processes run, and how.
///
/// ```
/// use drawloom::actor::{Ctx, ExitReason, System};
///
/// let ended = System::new().run(async |ctx: Ctx<()>| {
///     ctx.exit(ExitReason::Shutdown);
/// });
/// assert_eq!(ended, Err(ExitReason::Shutdown));
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct System {
    delivery: Delivery,
}

impl System {
    /// The engine inside of an exploration, and threads outside.
    pub fn new() -> System {
        System::default()
    }

    /// Sets the delivery, which only matters in an exploration.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> System {
        self.delivery = delivery;
        self
    }

    /// Runs the process `f`, and those that it spawns, until it ends. The others are left where they are then.
    ///
    /// # Errors
    ///
    /// If the process does not return: the reason for which it ended instead.
    #[track_caller]
    pub fn run<M, F, Fut>(self, f: F) -> Result<Fut::Output, ExitReason>
    where
        M: Message,
        F: FnOnce(Ctx<M>) -> Fut + Send + 'static,
        Fut: Future<Output: Send + 'static> + Send + 'static,
    {
        let First { root, body, output } = first(self.backend(), f);
        let reason = root.core().backend.run(Location::caller(), &root, body);
        taken(&output).ok_or(reason)
    }

    /// As [`run`](Self::run), as a future that runs the processes as tasks of `runtime`. In an exploration the engine runs them.
    ///
    /// Who drops the future ends the system.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    #[track_caller]
    pub fn run_on<M, F, Fut>(
        self,
        runtime: impl Runtime,
        f: F,
    ) -> impl Future<Output = Result<Fut::Output, ExitReason>> + Send
    where
        M: Message,
        F: FnOnce(Ctx<M>) -> Fut + Send + 'static,
        Fut: Future<Output: Send + 'static> + Send + 'static,
    {
        let at = Location::caller();
        async move {
            #[cfg(feature = "controlled")]
            if crate::rt::current().is_some() {
                let First { root, body, output } = first(self.backend(), f);
                let reason = root.core().backend.run(at, &root, body);
                return taken(&output).ok_or(reason);
            }
            let _ = at;
            let native = super::native::on_tasks(Arc::new(runtime));
            let First { root, body, output } = first(Arc::clone(&native) as Arc<dyn Backend>, f);
            let reason = native.run_as_task(&root, body).await;
            taken(&output).ok_or(reason)
        }
    }

    fn backend(self) -> Arc<dyn Backend> {
        #[cfg(feature = "controlled")]
        if crate::rt::current().is_some() {
            return super::controlled::World::begin(self.delivery);
        }
        super::native::on_threads()
    }
}

/// The first process of a system.
struct First<T> {
    root: AnyPid,
    body: Body,
    /// What it returns.
    output: Arc<Mutex<Option<T>>>,
}

fn first<M, F, Fut>(backend: Arc<dyn Backend>, f: F) -> First<Fut::Output>
where
    M: Message,
    F: FnOnce(Ctx<M>) -> Fut + Send + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    let root = Pid::new(Arc::new(Mailbox::new(Core::new(ProcessId::OUTSIDE.child(1), backend))));
    let output = Arc::new(Mutex::new(None));
    let returned = Arc::clone(&output);
    let body = body(root.clone(), move |ctx| async move {
        let output = f(ctx).await;
        *returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
    });
    First { root: root.into(), body, output }
}

fn taken<T>(output: &Mutex<Option<T>>) -> Option<T> {
    output.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs the process `f`, and those that it spawns, as tasks of the tokio runtime in which this is awaited; inside of an exploration the
/// engine runs them.
///
/// ```
/// use drawloom::actor::{self, Ctx};
///
/// async fn answer() -> u32 {
///     actor::run_on_tokio(async |_: Ctx<()>| 42).await
/// }
/// # let _ = answer;
/// ```
///
/// # Panics
///
/// If the process ends in another way than by returning, or outside of a runtime.
#[cfg(feature = "actors-tokio")]
#[allow(clippy::manual_async_fn, reason = "the future can be sent, as its type says")]
#[track_caller]
pub fn run_on_tokio<M, F, Fut>(f: F) -> impl Future<Output = Fut::Output> + Send
where
    M: Message,
    F: FnOnce(Ctx<M>) -> Fut + Send + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    async move {
        #[cfg(feature = "controlled")]
        if crate::rt::current().is_some() {
            return run(f);
        }
        match System::new().run_on(tokio::runtime::Handle::current(), f).await {
            Ok(output) => output,
            Err(reason) => panic!("the first process has ended: {reason}"),
        }
    }
}

/// Runs the process `f`, and those that it spawns, until it returns. Inside of an exploration the engine runs them, outside
/// each has a thread.
///
/// ```
/// use drawloom::actor::{self, Ctx};
///
/// assert_eq!(actor::run(async |_: Ctx<()>| 42), 42);
/// ```
///
/// # Panics
///
/// If the process ends in another way.
#[track_caller]
pub fn run<M, F, Fut>(f: F) -> Fut::Output
where
    M: Message,
    F: FnOnce(Ctx<M>) -> Fut + Send + 'static,
    Fut: Future<Output: Send + 'static> + Send + 'static,
{
    match System::new().run(f) {
        Ok(output) => output,
        Err(reason) => panic!("the first process has ended: {reason}"),
    }
}
