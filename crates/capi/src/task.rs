//! Tasks.

use std::ffi::{c_char, c_void};

use drawloom_engine::{OpKind, Operation, ResourceId, ResourceKind, Site, State, TaskId, outcome};
use drawloom_fiber::Seen;

use crate::control::is_ok;
use crate::execution::{self, Here, Task, here};
use crate::place::{drawloom_loc, site};
use crate::speak::text;
use crate::status::*;

/// What a fiber or thread runs that was made for a task.
pub(crate) fn run_task() {
    let Some(here) = execution::running() else { return };
    let me = here.running();
    if let Some(task) = here.state().tasks.get(me.index()).copied() {
        (task.entry)(task.arg);
    }
    here.ends(me);
}

impl Here {
    /// The code of `task` is over; its last step is not made yet.
    pub(crate) fn ends(&self, task: TaskId) {
        let hooks = self.state().hooks;
        hooks.task_end(self.handle_of(task));
    }

    fn spawn(&self, entry: extern "C" fn(*mut c_void), arg: *mut c_void, site: Site) -> drawloom_handle {
        let task = self.control().spawn(site);
        let tasks = &mut self.state().tasks;
        // Tasks of the environment have numbers, too, and no code.
        tasks.resize(task.index(), Task::new(execution::NO_ENTRY, std::ptr::null_mut()));
        tasks.push(Task::new(entry, arg));
        self.handle_of(task)
    }

    /// Whom others tell that `task` is to end.
    fn cancellation_of(&self, task: TaskId, site: Site) -> ResourceId {
        let known = self.state().tasks[task.index()].cancellation;
        if known != ResourceId::NONE {
            return known;
        }
        let made = self.control().create(ResourceKind::Object, State::Plain, site);
        self.state().tasks[task.index()].cancellation = made;
        made
    }
}

/// Spawns a task that calls `entry(arg)`. Its handle, or 0 outside of a session.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_spawn(
    entry: Option<extern "C" fn(*mut c_void)>,
    arg: *mut c_void,
    at: *const drawloom_loc,
) -> drawloom_handle {
    match (here(), entry) {
        (Ok(here), Some(entry)) => here.spawn(entry, arg, site(at)),
        (Ok(here), None) => here.misuse("misuse: a task needs an entry".into(), site(at)),
        (Err(_), _) => 0,
    }
}

/// Waits until `task` has ended.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_join(task: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, site(at));
    here.control().step(Operation::new(OpKind::Join, ResourceId::NONE, site(at)).with_arg(u64::from(task.0)));
    here.state().tasks[task.index()].given_up = true;
    DRAWLOOM_OK
}

/// The same, for so many nanoseconds of virtual time at most.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_join_for(
    task: drawloom_handle,
    nanos: u64,
    at: *const drawloom_loc,
) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, site(at));
    let join = Operation::new(OpKind::Join, ResourceId::NONE, site(at)).with_arg(u64::from(task.0));
    if here.control().step_within(join, nanos) == outcome::TIMED_OUT {
        return DRAWLOOM_TIMED_OUT;
    }
    here.state().tasks[task.index()].given_up = true;
    DRAWLOOM_OK
}

/// `DRAWLOOM_OK` if `task` has ended, `DRAWLOOM_BUSY` if not.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_is_done(task: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, site(at));
    let operation = Operation::new(OpKind::IsFinished, ResourceId::NONE, site(at)).with_arg(u64::from(task.0));
    if is_ok(here.control().step(operation)) { DRAWLOOM_OK } else { DRAWLOOM_BUSY }
}

/// The handle of the running task; 0 outside of a session.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_self() -> drawloom_handle {
    here().map_or(0, |here| here.handle_of(here.running()))
}

/// The number of a task in this execution: 0 for main, and the others in the order in which they were spawned.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_number(task: drawloom_handle) -> u64 {
    task & 0xFF_FFFF
}

/// Ends the running task. Nothing on its stack is cleaned up.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_exit() -> ! {
    match here() {
        Ok(here) => {
            here.ends(here.running());
            here.control().end_task()
        }
        Err(_) => {
            eprintln!("drawloom: drawloom_task_exit was called outside of a session");
            std::process::abort()
        }
    }
}

/// Lets another task go on, if there is one that can: nothing can be gained by running on.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_yield(at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.control().step(Operation::new(OpKind::Yield, ResourceId::NONE, site(at)));
    DRAWLOOM_OK
}

/// Gives a task a name for reports.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_name(task: drawloom_handle, name: *const c_char) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let Some(name) = text(name) else { return DRAWLOOM_E_NULL };
    let task = here.task(task, Site::UNKNOWN);
    here.control().engine(|engine| engine.name_task(task, &name));
    DRAWLOOM_OK
}

/// Nobody waits for `task`: when all others have ended, it is left where it is.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_make_daemon(task: drawloom_handle) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, Site::UNKNOWN);
    here.control().engine(|engine| engine.make_daemon(task));
    DRAWLOOM_OK
}

/// Asks `task` to end. It learns of that when it asks [`drawloom_task_is_cancelled`].
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_cancel(task: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, site(at));
    let object = here.cancellation_of(task, site(at));
    here.control().access(Operation::new(OpKind::Rmw, object, site(at)), || {
        let known = &mut here.state().tasks[task.index()].cancelled;
        let before = std::mem::replace(known, true);
        ((), Seen { value: u64::from(before), other: 1, outcome: 0 })
    });
    DRAWLOOM_OK
}

/// `DRAWLOOM_CANCELLED` if `task` was asked to end, else `DRAWLOOM_OK`.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_is_cancelled(task: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, site(at));
    let object = here.cancellation_of(task, site(at));
    let asked = here.control().access(Operation::new(OpKind::Load, object, site(at)), || {
        let asked = here.state().tasks[task.index()].cancelled;
        (asked, Seen { value: u64::from(asked), other: 0, outcome: 0 })
    });
    if asked { DRAWLOOM_CANCELLED } else { DRAWLOOM_OK }
}

/// Kills `task`: it makes no further step, and gives nothing back that it holds. To others it has ended.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_kill(task: drawloom_handle, at: *const drawloom_loc) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    let task = here.task(task, site(at));
    here.control().step(Operation::new(OpKind::Kill, ResourceId::NONE, site(at)).with_arg(u64::from(task.0)));
    DRAWLOOM_OK
}

/// A pointer that belongs to the running task; null until it is set, and outside of a session.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_local() -> *mut c_void {
    here().map_or(std::ptr::null_mut(), |here| here.state().tasks[here.running().index()].local)
}

/// Sets the pointer that belongs to the running task.
#[unsafe(no_mangle)]
pub extern "C" fn drawloom_task_set_local(local: *mut c_void) -> drawloom_status {
    let here = match here() {
        Ok(here) => here,
        Err(why) => return why,
    };
    here.state().tasks[here.running().index()].local = local;
    DRAWLOOM_OK
}
