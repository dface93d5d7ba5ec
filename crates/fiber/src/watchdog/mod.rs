//! The watchdog: a task that neither makes a step nor ends is told of, and left behind.
//!
//! Tasks are fibers on one OS thread, so a task that spins, or blocks in a lock that is not under control, stops all
//! others. Nobody can wait for its next step. One thread for the whole process, the *monitor*, looks at every OS thread
//! that runs executions a few times in a second:
//!
//! 1. Each of these threads says that it begins and ends an execution, by a store to its [`Watch`]. That is all that the
//!    watchdog costs; steps cost nothing.
//! 2. Only an execution that lasts is looked at closer. The monitor sends its thread a signal, and the handler answers how
//!    many steps were made. Steps that go on are progress. The time of the exploration may be over all the same: then the
//!    handler tells the engine, which ends the execution at its next step.
//! 3. If no step was made for as long as [`Settings::patience`](drawloom_engine::Settings::patience) says, the handler of
//!    another signal captures the task's stack and waits for a verdict. The monitor finds the names in it. A task that is
//!    in the user's own code, or sleeps in the kernel, can be *left*; one that is in the middle of the engine, the allocator
//!    or a write to standard output cannot, and is looked at again a moment later.
//! 4. To leave a task, the handler has the thread go on in [`signal::leave`] instead of where it was, on the same stack,
//!    which suspends the fiber as a step would. The executor goes on with a finding. The stack is never touched again, as
//!    those of leaked tasks: for the rest of the program the task is one that is not scheduled any more.
//!
//! What was left in the middle of a panic or of anything else of the OS thread's own stays so; therefore no executions
//! are made on that thread any more ([`Executor::is_spent`](crate::Executor::is_spent)).
//!
//! Where a task cannot be left (another platform, a signal that is blocked, a strategy of the user's that does not return)
//! the monitor prints what it knows and ends the process.
//!
//! An abort that Rust makes of a panic in a destructor is met in the same way: the task is left instead.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod monitor;
#[cfg(unix)]
mod registry;
#[cfg(unix)]
mod signal;
mod stack;

use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use drawloom_engine::Settings;
use drawloom_engine::finding::Frame;

#[cfg(not(unix))]
pub(crate) use absent::{CAN_LEAVE, catch_aborts, watch};
#[cfg(unix)]
pub(crate) use registry::watch;
#[cfg(unix)]
pub(crate) use signal::{CAN_LEAVE, catch_aborts};
pub(crate) use stack::users_frames;

/// Instants are kept as nanoseconds since this one.
static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// No deadline.
const NEVER: u64 = u64::MAX;

/// What the monitor and a thread that it watches tell each other.
#[cfg_attr(not(unix), allow(dead_code))]
pub(crate) struct Watch {
    /// The thread, while it is alive.
    #[cfg(unix)]
    thread: Mutex<Option<registry::Thread>>,
    /// Counts beginnings and ends of executions: odd while one runs.
    execution: AtomicU64,
    /// Nanoseconds without a step that are too many.
    patience: AtomicU64,
    /// When the execution is to be cut.
    deadline: AtomicU64,
    /// The execution whose time is over: the handler of the next signal tells the engine.
    over: AtomicU64,
    /// What the monitor asks, and what the handler answers.
    question: AtomicU8,
    answer: AtomicU8,
    verdict: AtomicU8,
    /// The thread sleeps: it is in the C library to wait there, and not for an allocation.
    sleeps: AtomicBool,
    /// Steps that the execution has made.
    steps: AtomicU64,
    captured: AtomicPtr<Backtrace>,
    left: Mutex<Vec<Left>>,
}

/// What is known of a task that was left.
#[derive(Default)]
pub(crate) struct Left {
    pub(crate) stack: Vec<Frame>,
    pub(crate) sleeps: bool,
    pub(crate) still: Duration,
}

impl Watch {
    fn new() -> Watch {
        Watch {
            #[cfg(unix)]
            thread: Mutex::new(None),
            execution: AtomicU64::new(0),
            patience: AtomicU64::new(0),
            deadline: AtomicU64::new(NEVER),
            over: AtomicU64::new(0),
            question: AtomicU8::new(0),
            answer: AtomicU8::new(0),
            verdict: AtomicU8::new(0),
            sleeps: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            captured: AtomicPtr::new(std::ptr::null_mut()),
            left: Mutex::new(Vec::new()),
        }
    }

    /// An execution begins, on the calling thread.
    pub(crate) fn begin(&self, settings: &Settings) {
        self.patience.store(nanos(settings.patience), Ordering::Relaxed);
        let deadline = settings.deadline.map_or(NEVER, |deadline| nanos(deadline.duration_since(*BEGINNING)));
        self.deadline.store(deadline, Ordering::Relaxed);
        self.count();
    }

    /// The execution is over.
    pub(crate) fn end(&self) {
        self.count();
    }

    /// Nobody else writes to it.
    fn count(&self) {
        let count = self.execution.load(Ordering::Relaxed);
        self.execution.store(count + 1, Ordering::Release);
    }

    /// Whether the running execution is to be cut.
    #[cfg(unix)]
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) == self.execution.load(Ordering::Relaxed)
    }

    /// Whether a task was left since somebody asked.
    pub(crate) fn has_left(&self) -> bool {
        !lock(&self.left).is_empty()
    }

    /// What is known of the tasks that were left since somebody asked.
    pub(crate) fn take_left(&self) -> Vec<Left> {
        std::mem::take(&mut *lock(&self.left))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(NEVER - 1)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
