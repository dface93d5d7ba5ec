//! Tasks on threads of the system: each has one to itself, where its `_Thread_local` variables and its exceptions are its own.
//!
//! The executor is that of fibers, and so are schedules, steps and stacks: whoever runs executions waits at a gate while a thread runs the piece
//! of a task that was handed to it, and that thread waits at another one until the next. A thread is started when its task begins, and
//! ends with it; so variables of threads have their first values in every task of every execution.

use std::any::Any;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use drawloom_engine::TaskId;
use drawloom_gates::Gate;

use crate::execution::{self, Execution, in_hook};
use crate::hooks::{self, Hooks};

/// A thread runs nothing of its task's on its own stack but destructors of its variables.
const STACK: usize = 256 << 10;

/// What a thread is handed to run, and the thread-local state of whoever hands it over.
#[derive(Clone, Copy)]
struct Errand {
    run: *mut (dyn FnMut() + 'static),
    running: *mut Execution,
    session: Hooks,
}

/// What a thread and whoever hands errands to it share.
struct Shared {
    /// Opened for the thread.
    go: Gate,
    /// Opened for whoever waits for it.
    done: Gate,
    /// None sends the thread home.
    errand: UnsafeCell<Option<Errand>>,
    panic: UnsafeCell<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the gates order all accesses: the one side touches the cells before it opens a gate, and the other after it has come through.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

struct Carrier {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

thread_local! {
    /// By task of the running execution.
    static CARRIERS: RefCell<Vec<Option<Carrier>>> = const { RefCell::new(Vec::new()) };
}

thread_local! {
    static WANTED: Cell<bool> = const { Cell::new(false) };
    /// The calling thread is one of these.
    static IS_ONE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling task has its thread to itself.
pub(crate) fn carry_this() -> bool {
    IS_ONE.get()
}

/// Whether tasks of the executions that follow on this thread are to have threads of their own.
pub(crate) fn want(wanted: bool) {
    WANTED.set(wanted);
}

pub(crate) fn are_wanted() -> bool {
    WANTED.get()
}

impl Shared {
    /// What the thread does.
    fn serve(&self) {
        self.go.belongs_to_caller();
        drawloom_fiber::know_this_thread();
        IS_ONE.set(true);
        loop {
            self.go.wait();
            // SAFETY: it was written before the gate was opened, and nobody writes to it before `done` is.
            let Some(errand) = (unsafe { *self.errand.get() }) else { return };
            execution::set_running(errand.running);
            hooks::set_session(errand.session);
            // SAFETY: whoever has handed it over waits for us, so what it points to is alive and nobody else's.
            let run = unsafe { &mut *errand.run };
            let came_to = catch_unwind(AssertUnwindSafe(run));
            execution::set_running(std::ptr::null_mut());
            // SAFETY: as for the errand.
            unsafe { *self.panic.get() = came_to.err() };
            self.done.open();
        }
    }
}

impl Carrier {
    fn start() -> io::Result<Carrier> {
        let (go, done) = (Gate::new(), Gate::new());
        let shared = Arc::new(Shared { go, done, errand: UnsafeCell::new(None), panic: UnsafeCell::new(None) });
        shared.done.belongs_to_caller();
        let for_thread = Arc::clone(&shared);
        // The program's names of the C library may lead to ours: to start this thread is no call of a task's.
        let thread = in_hook(|| {
            std::thread::Builder::new().name("task".into()).stack_size(STACK).spawn(move || for_thread.serve())
        })?;
        Ok(Carrier { shared, thread })
    }

    fn hand(&self, errand: Option<Errand>) {
        // SAFETY: the thread waits at its gate.
        unsafe { *self.shared.errand.get() = errand };
        self.shared.go.open();
    }
}

/// Calls `run` on the thread of `task`, and waits for it.
pub(crate) fn carry(task: TaskId, run: &mut dyn FnMut()) -> io::Result<()> {
    let shared = CARRIERS.with_borrow_mut(|carriers| {
        if carriers.len() <= task.index() {
            carriers.resize_with(task.index() + 1, || None);
        }
        let carrier = match carriers[task.index()].take() {
            Some(known) => known,
            None => Carrier::start()?,
        };
        // SAFETY: only the lifetime is another one: this function waits until the thread does not use it any more.
        let run = unsafe { std::mem::transmute::<*mut (dyn FnMut() + '_), *mut (dyn FnMut() + 'static)>(run) };
        carrier.hand(Some(Errand { run, running: execution::pointer(), session: hooks::session() }));
        let shared = Arc::clone(&carrier.shared);
        carriers[task.index()] = Some(carrier);
        Ok::<_, io::Error>(shared)
    })?;
    // To wait is no call of a task's either.
    let running = execution::set_running(std::ptr::null_mut());
    shared.done.wait();
    execution::set_running(running);
    // SAFETY: the thread has opened the gate, and waits at its own.
    if let Some(panic) = unsafe { (*shared.panic.get()).take() } {
        resume_unwind(panic);
    }
    Ok(())
}

/// Sends the thread of `task` home, and waits until its variables are destroyed.
pub(crate) fn end(task: TaskId) {
    let carrier = CARRIERS.with_borrow_mut(|carriers| carriers.get_mut(task.index()).and_then(Option::take));
    if let Some(carrier) = carrier {
        carrier.hand(None);
        let running = execution::set_running(std::ptr::null_mut());
        // It has nothing to say.
        let _ = carrier.thread.join();
        execution::set_running(running);
    }
}
