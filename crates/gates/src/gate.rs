//! Where a thread waits for its turn.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::thread::Thread;

use drawloom_engine::TaskId;

/// A gate: closed, unless somebody has opened it for its thread to come through once.
#[derive(Debug)]
pub struct Gate {
    open: AtomicBool,
    thread: OnceLock<Thread>,
    /// The task that its thread is to run when it comes through.
    task: AtomicU32,
    /// Its thread stands still somewhere else, and never comes through again.
    given_up: AtomicBool,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate {
            open: AtomicBool::new(false),
            thread: OnceLock::new(),
            task: AtomicU32::new(TaskId::NONE.0),
            given_up: AtomicBool::new(false),
        }
    }

    /// The calling thread is the one that waits here.
    pub(crate) fn belongs_to_caller(&self) {
        let _ = self.thread.set(std::thread::current());
        fence(Ordering::SeqCst);
    }

    pub(crate) fn assign(&self, task: TaskId) {
        self.task.store(task.0, Ordering::Relaxed);
    }

    pub(crate) fn assigned(&self) -> TaskId {
        TaskId(self.task.load(Ordering::Relaxed))
    }

    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::SeqCst)
    }

    /// Lets its thread through.
    pub fn open(&self) {
        // What was done before is seen by whoever comes through.
        self.open.store(true, Ordering::SeqCst);
        // Either its thread is known here, or it finds the gate open when it first comes to it.
        fence(Ordering::SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Waits until it is opened, and closes it behind the caller.
    pub fn wait(&self) {
        while !self.open.swap(false, Ordering::SeqCst) {
            std::thread::park();
        }
    }
}
