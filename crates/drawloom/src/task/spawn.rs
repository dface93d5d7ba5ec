//! Spawning a task, and getting its result.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::cancel::{self, Cancellable, Cancellation};
use crate::object::Object;
use crate::rt;
use crate::thread;
use crate::time::Instant;
use crate::wait::{Ended, Wait};

/// Spawns a task that runs `f`. In production it is a thread.
///
/// ```
/// use drawloom::task;
///
/// let task = task::spawn(|| 42);
/// assert_eq!(task.get().unwrap(), 42);
/// ```
#[track_caller]
pub fn spawn<F, T>(f: F) -> Task<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (control, body) = Control::with(f);
    Task { control, handle: thread::spawn(body) }
}

/// What a task and its handle share.
#[derive(Clone)]
pub(super) struct Control {
    pub(super) cancellation: Arc<Cancellation>,
    end: Arc<Object<End>>,
}

#[derive(Default)]
struct End {
    reached: bool,
    /// Who waits for it.
    waiting: Vec<Arc<Wait>>,
}

/// The output of a task that was not cancelled.
type Output<T> = Option<T>;

impl Control {
    /// Shared state for a new task, and what the task is to run.
    #[track_caller]
    pub(super) fn with<F: FnOnce() -> T, T>(f: F) -> (Control, impl FnOnce() -> Output<T>) {
        let control = Control { cancellation: Cancellation::new(), end: Arc::default() };
        let mine = control.clone();
        let body = move || {
            let _end = mine.end_with_task();
            cancel::enter(mine.cancellation.clone());
            match catch_unwind(AssertUnwindSafe(f)) {
                Ok(output) => Some(output),
                Err(payload) if cancel::is_cancellation(&*payload) => {
                    rt::caught();
                    None
                }
                Err(payload) => resume_unwind(payload),
            }
        };
        (control, body)
    }

    fn end_with_task(&self) -> impl Drop + use<> {
        struct Guard(Arc<Object<End>>);
        impl Drop for Guard {
            fn drop(&mut self) {
                let waiting = self.0.update(|end| {
                    end.reached = true;
                    std::mem::take(&mut end.waiting)
                });
                for wait in waiting {
                    wait.end_and_release(Ended::By(0));
                }
            }
        }
        Guard(self.end.clone())
    }

    #[track_caller]
    pub(super) fn is_finished(&self) -> bool {
        self.end.look(|end| end.reached)
    }

    /// Waits for the task's end, which unwinds the caller if it is cancelled.
    #[track_caller]
    pub(super) fn wait(&self) {
        let wait = Wait::new();
        let cancellable = Cancellable::begin(&wait);
        let reached = self.end.update(|end| {
            if !end.reached {
                end.waiting.push(wait.clone());
            }
            end.reached
        });
        let ended = if reached { Ended::By(0) } else { wait.wait(None) };
        cancellable.end();
        if ended == Ended::Cancelled {
            let mine = self.end.update(|end| {
                let at = end.waiting.iter().position(|waiting| Arc::ptr_eq(waiting, &wait));
                at.map(|at| end.waiting.remove(at))
            });
            drop(mine);
            cancel::unwind();
        }
    }
}

/// The handle of a task. Dropping it lets the task continue on its own, as [`detach`](Self::detach) does.
///
/// ```
/// use std::time::Duration;
///
/// use drawloom::task::{self, Task};
///
/// let slow: Task<()> = task::spawn(|| task::sleep(Duration::from_secs(3600)));
/// slow.cancel();
/// assert!(slow.get().unwrap_err().is_cancelled());
/// ```
#[must_use = "get the task's result, cancel it, or detach it"]
pub struct Task<T> {
    control: Control,
    handle: thread::JoinHandle<Output<T>>,
}

impl<T> Task<T> {
    /// Waits for the task, and takes what it has returned.
    ///
    /// # Errors
    ///
    /// If it was cancelled, or has panicked.
    #[track_caller]
    pub fn get(self) -> Result<T, TaskError> {
        self.control.wait();
        judge(self.handle.join())
    }

    /// Asks the task to end; see [the module](crate::task) for where that takes effect. It may have ended before,
    /// and may continue until then: [`get`](Self::get) tells.
    #[track_caller]
    pub fn cancel(&self) {
        self.control.cancellation.ask();
    }

    /// Lets the task continue on its own.
    pub fn detach(self) {}

    /// Whether the task has ended.
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.control.is_finished()
    }

    /// The thread that the task is.
    #[must_use]
    pub fn thread(&self) -> &thread::Thread {
        self.handle.thread()
    }
}

pub(super) fn judge<T>(joined: thread::Result<Output<T>>) -> Result<T, TaskError> {
    match joined {
        Ok(Some(output)) => Ok(output),
        Ok(None) => Err(TaskError::Cancelled),
        Err(payload) => Err(TaskError::Panicked(payload)),
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

/// The reason why a task has no result.
///
/// ```
/// use drawloom::task::{self, TaskError};
///
/// let task = task::spawn(|| task::sleep(std::time::Duration::from_secs(3600)));
/// task.cancel();
/// assert!(matches!(task.get(), Err(TaskError::Cancelled)));
/// ```
#[non_exhaustive]
pub enum TaskError {
    /// The task was cancelled.
    Cancelled,
    /// The task panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
}

impl TaskError {
    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, TaskError::Cancelled)
    }

    /// The text of the panic, if it has one.
    #[must_use]
    pub fn panic_message(&self) -> Option<&str> {
        match self {
            TaskError::Cancelled => None,
            TaskError::Panicked(payload) => {
                let text = payload.downcast_ref::<&str>().copied();
                text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            }
        }
    }
}

impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Cancelled => f.write_str("Cancelled"),
            TaskError::Panicked(_) => write!(f, "Panicked({:?})", self.panic_message().unwrap_or("..")),
        }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.panic_message()) {
            (TaskError::Cancelled, _) => f.write_str("the task was cancelled"),
            (TaskError::Panicked(_), Some(message)) => write!(f, "the task panicked: {message}"),
            (TaskError::Panicked(_), None) => f.write_str("the task panicked"),
        }
    }
}

impl Error for TaskError {}

/// Waits for time to pass, in virtual time inside an exploration; the task can be cancelled meanwhile.
///
/// ```
/// drawloom::task::sleep(std::time::Duration::from_millis(1));
/// ```
#[track_caller]
pub fn sleep(duration: Duration) {
    let wait = Wait::new();
    let cancellable = Cancellable::begin(&wait);
    let ended = wait.wait(Instant::now().checked_add(duration));
    cancellable.end();
    if ended == Ended::Cancelled {
        cancel::unwind();
    }
}
