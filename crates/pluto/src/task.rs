//! Tasks: objects of Pluto's heap, each with a task of the execution.
//!
//! Their layout is Pluto's: 7 words, of which the collector looks at the first three. It frees the fifth. The last two are
//! ours to use, since generated code never looks at a task.

use std::ffi::c_void;

use drawloom_capi as capi;

use crate::cancel::{self, Waited};
use crate::foreign::{self, Pending, TASK, Word, allocate, pending, raise, set_pending};
use crate::state::{self, is_inline};
use crate::{chance, collector, ending, owners};

/// The closure; when the task is done with an error, the error's type.
const CLOSURE: usize = 0;
const RESULT: usize = 1;
const ERROR: usize = 2;
const DONE: usize = 3;
/// The handle of the execution's task.
const HANDLE: usize = 5;
const FLAGS: usize = 6;

const CANCELLED: Word = 1;
const DETACHED: Word = 2;

/// Code of Pluto's: a closure, called with itself.
type Code = extern "C" fn(Word) -> Word;

/// A task, by its object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task(pub(crate) *mut Word);

impl Task {
    fn slot(self, index: usize) -> Word {
        // SAFETY: generated code hands over tasks that `spawn` has made, of seven words.
        unsafe { *self.0.add(index) }
    }

    fn set(self, index: usize, value: Word) {
        // SAFETY: as above; one task runs at a time.
        unsafe { *self.0.add(index) = value }
    }

    pub(crate) fn handle(self) -> u64 {
        self.slot(HANDLE) as u64
    }

    pub(crate) fn is_cancelled(self) -> bool {
        self.slot(FLAGS) & CANCELLED != 0
    }

    pub(crate) fn is_done(self) -> bool {
        self.slot(DONE) != 0
    }

    fn has_outcome(self) -> bool {
        self.slot(RESULT) != 0 || self.slot(ERROR) != 0
    }

    /// Calls the closure, and keeps what comes of it.
    fn run(self) {
        let closure = self.slot(CLOSURE);
        set_pending(Pending { task: self.0 as Word, ..Pending::default() });
        // SAFETY: the first word of a closure is its code, which is called with the closure.
        let code = unsafe { std::mem::transmute::<Word, Code>(*(closure as *const Word)) };
        let result = code(closure);
        let left = pending();
        if left.error != 0 {
            self.set(ERROR, left.error);
            self.set(CLOSURE, left.kind);
            set_pending(Pending { task: left.task, ..Pending::default() });
        } else {
            self.set(RESULT, result);
        }
        self.set(DONE, 1);
        self.complain();
    }

    /// An error that nobody will ask for is said.
    fn complain(self) {
        let (flags, error) = (self.slot(FLAGS), self.slot(ERROR));
        if flags & DETACHED != 0 && error != 0 && self.is_done() {
            ending::remark(format!("pluto: error in detached task: {}", foreign::message(error)));
        }
    }

    /// The outcome of a task that is done.
    fn outcome(self) -> Word {
        let error = self.slot(ERROR);
        if error == 0 {
            return self.slot(RESULT);
        }
        set_pending(Pending { error, kind: self.slot(CLOSURE), ..pending() });
        0
    }
}

/// What the execution's task runs.
extern "C" fn run_task(task: *mut c_void) {
    collector::check_stack();
    let task = Task(task.cast());
    task.run();
    collector::release(task);
}

pub(crate) extern "C" fn spawn(closure: Word, returns_to: usize) -> Word {
    let task = Task(allocate(7, TASK, 3));
    task.set(CLOSURE, closure);
    if is_inline() {
        let before = pending();
        task.run();
        set_pending(before);
        return task.0 as Word;
    }
    let at = capi::place::loc_of_address(returns_to);
    if !collector::keep(task) {
        let most = collector::MOST_TASKS;
        ending::fail(format!("pluto: too many tasks at a time: the collector knows of {most}"), at);
    }
    let handle = capi::drawloom_task_spawn(Some(run_task), task.0.cast(), at);
    task.set(HANDLE, handle as Word);
    chance::spawned(handle);
    owners::spawned(handle);
    task.0 as Word
}

pub(crate) extern "C" fn get(task: Word, returns_to: usize) -> Word {
    let task = Task(task as *mut Word);
    if is_inline() {
        if task.is_cancelled() && !task.has_outcome() {
            raise(cancel::MESSAGE);
            return 0;
        }
        return task.outcome();
    }
    let at = capi::place::loc_of_address(returns_to);
    if cancel::is_over(at) {
        return 0;
    }
    if cancel::was_asked(task, at) && !(is_finished(task, at) && task.has_outcome()) {
        raise(cancel::MESSAGE);
        return 0;
    }
    let handle = task.handle();
    match cancel::wait(|nanos| match nanos {
        u64::MAX => capi::drawloom_task_join(handle, at),
        nanos => capi::drawloom_task_join_for(handle, nanos, at),
    }) {
        Waited::Cancelled => 0,
        Waited::Done(_) => {
            state::progress();
            task.outcome()
        }
    }
}

fn is_finished(task: Task, at: *const capi::drawloom_loc) -> bool {
    capi::drawloom_task_is_done(task.handle(), at) == capi::drawloom_status::DRAWLOOM_OK
}

pub(crate) extern "C" fn detach(task: Word, _returns_to: usize) {
    let task = Task(task as *mut Word);
    task.set(FLAGS, task.slot(FLAGS) | DETACHED);
    task.complain();
}

pub(crate) extern "C" fn cancel(task: Word, returns_to: usize) {
    let task = Task(task as *mut Word);
    state::CANCELLED.set(true);
    if !is_inline() {
        capi::drawloom_task_cancel(task.handle(), capi::place::loc_of_address(returns_to));
    }
    task.set(FLAGS, task.slot(FLAGS) | CANCELLED);
}
