//! Who runs: `Thread`, `ThreadId`, `current`, and what else a thread asks about itself.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::rt::{self, Handle, OpKind, TaskId};

/// A handle to a thread, as [`std::thread::Thread`]: a task inside an exploration.
#[derive(Clone)]
pub struct Thread(Who);

#[derive(Clone)]
enum Who {
    Native(std::thread::Thread),
    Task { id: TaskOf, name: Option<Arc<str>> },
}

/// A task, and the execution that it is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskOf {
    pub(crate) task: TaskId,
    pub(crate) epoch: u64,
}

impl TaskOf {
    /// The execution that this task is part of, if it is the one that the caller is part of too.
    #[inline]
    pub(crate) fn here(self) -> Option<Handle> {
        rt::current().filter(|rt| rt.epoch() == self.epoch)
    }
}

/// A thread's identity, as [`std::thread::ThreadId`].
///
/// Inside an exploration ids are given in the order of creation, beginning again in every execution,
/// so that what is printed or hashed is the same when a schedule is replayed. Ids of different
/// executions are nevertheless different.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Id {
    Native(std::thread::ThreadId),
    Task(TaskOf),
}

impl Thread {
    pub(super) fn native(thread: std::thread::Thread) -> Thread {
        Thread(Who::Native(thread))
    }

    pub(super) fn task(rt: Handle, task: TaskId, name: Option<Arc<str>>) -> Thread {
        Thread(Who::Task { id: TaskOf { task, epoch: rt.epoch() }, name })
    }

    /// As [`std::thread::Thread::id`].
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Who::Native(thread) => Id::Native(thread.id()),
            Who::Task { id, .. } => Id::Task(*id),
        })
    }

    /// As [`std::thread::Thread::name`].
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Who::Native(thread) => thread.name(),
            Who::Task { id: TaskOf { task: TaskId::MAIN, .. }, .. } => Some("main"),
            Who::Task { name, .. } => name.as_deref(),
        }
    }

    /// As [`std::thread::Thread::unpark`]. A task of an execution that is over, or that another OS
    /// thread runs, is left alone.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Who::Native(thread) => thread.unpark(),
            Who::Task { id, .. } => {
                if let Some(rt) = id.here() {
                    rt::bare(rt, OpKind::Unpark, u64::from(id.task.0));
                }
            }
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

impl ThreadId {
    /// The number as std counts: main is 1. (Task 1 is the clock, which is no thread.)
    fn number(task: TaskId) -> u32 {
        task.0.max(1)
    }
}

impl Hash for ThreadId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Id::Native(id) => id.hash(state),
            // Without the execution's number, which a replay does not repeat.
            Id::Task(id) => u64::from(ThreadId::number(id.task)).hash(state),
        }
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Id::Native(id) => id.fmt(f),
            Id::Task(id) => f.debug_tuple("ThreadId").field(&ThreadId::number(id.task)).finish(),
        }
    }
}

/// As [`std::thread::current`]. The task that runs an exploration's body is called `main`.
pub fn current() -> Thread {
    match rt::current() {
        None => Thread::native(std::thread::current()),
        Some(rt) => Thread::task(rt, rt.running(), rt.thread_name()),
    }
}

/// As [`std::thread::panicking`]: whether this task is unwinding, whatever other tasks do.
#[inline]
pub fn panicking() -> bool {
    match rt::current() {
        None => std::thread::panicking(),
        Some(rt) => rt.is_panicking(),
    }
}

/// What [`available_parallelism`] says inside an exploration.
const PARALLELISM: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// As [`std::thread::available_parallelism`]; inside an exploration always 4, since what a program
/// does must not depend on the machine that it is tested on.
pub fn available_parallelism() -> io::Result<NonZeroUsize> {
    match rt::current() {
        None => std::thread::available_parallelism(),
        Some(_) => Ok(PARALLELISM),
    }
}
