//! Ends an execution that does not end by itself, and says where its threads stand.
//!
//! All of it is done with the interpreter's lock, by a thread that is no part of the execution. The thread that runs is
//! unwound by an exception that the interpreter raises in it, wherever it is in its Python code; if it stands still, or goes
//! on all the same, it is left behind.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use drawloom_engine::{Engine, ResourceId, Site, Status, Stop, TaskId};
use drawloom_gates::Baton;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::watch;
use crate::world::{aside, place, world};

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn PyThreadState_SetAsyncExc(thread: std::ffi::c_ulong, exception: *mut ffi::PyObject) -> i32;
}

/// How often a thread is told to unwind before it is left behind.
const MOST_TIMES: u32 = 20;

/// How far an execution has come.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    execution: u64,
    steps: usize,
    task: u32,
    is_torn_down: bool,
}

/// Why an execution is ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Ctrl-C was pressed.
    Interrupted { stands_still: bool },
    /// The time is up.
    OutOfTime { stands_still: bool },
    /// The thread that runs stands still in something that is not under control.
    StandsStill,
    /// It computes, and makes no step.
    NoStep,
}

/// The thread that an exception may be on its way to.
static TOLD: AtomicU64 = AtomicU64::new(0);
/// How often one was raised in the execution that runs.
static TIMES: AtomicU32 = AtomicU32::new(0);

/// How far the execution has come, if it still runs.
pub(crate) fn progress(execution: u64) -> Option<Progress> {
    let baton = world().baton.filter(|_| watch::is_current(execution))?;
    let (steps, is_torn_down) = baton.with_engine(|engine| (engine.steps().len(), engine.is_tearing_down()));
    Some(Progress { execution, steps, task: baton.running().0, is_torn_down })
}

/// Ends the execution, if it still runs, and `thread` in it.
pub(crate) fn act(py: Python<'_>, thread: u64, execution: u64, why: Why) {
    let still_runs = watch::is_current(execution) && watch::running_thread() == thread && thread != 0;
    let Some(baton) = world().baton.filter(|_| still_runs) else { return };
    let is_main = baton.running() == TaskId::MAIN || baton.is_guest();
    let place = locate(py, thread);
    match why {
        // Main cannot be left behind. What is raised in it, to end it, is nothing that the program does.
        Why::Interrupted { .. } if is_main => {
            baton.stop(Stop::Interrupted);
            watch::interrupt_main(thread);
        }
        Why::Interrupted { stands_still: true } => leave_behind(baton, Stop::Interrupted, place),
        Why::Interrupted { stands_still: false } => unwind(baton, thread, Stop::Interrupted, place),
        Why::StandsStill if is_main => {
            tell(py, baton, thread, "main blocks in code outside drawloom's control");
            baton.stop(Stop::Stuck(place.as_str().into()));
            watch::wake_main(thread, &place);
        }
        Why::StandsStill => leave_behind(baton, Stop::Stuck(place.as_str().into()), place),
        Why::OutOfTime { stands_still } => {
            if world().unending.is_none() {
                world().was_cut_short = world().made > 0 && !watch::takes_unusually_long();
            }
            tell(py, baton, thread, "the time was up during an execution");
            match (stands_still, is_main) {
                (true, true) => {
                    baton.stop(Stop::OutOfTime);
                    watch::wake_main(thread, &place);
                }
                (true, false) => leave_behind(baton, Stop::OutOfTime, place),
                (false, _) => unwind(baton, thread, Stop::OutOfTime, place),
            }
        }
        Why::NoStep => {
            tell(py, baton, thread, "an execution does not end");
            unwind(baton, thread, Stop::Stuck(place.as_str().into()), place);
        }
    }
}

/// Has the interpreter raise what unwinds it in the thread that runs. Who goes on all the same is left behind.
fn unwind(baton: Baton, thread: u64, why: Stop, place: String) {
    let is_main = baton.running() == TaskId::MAIN || baton.is_guest();
    if TIMES.fetch_add(1, Ordering::Relaxed) >= MOST_TIMES && !is_main {
        return leave_behind(baton, why, place);
    }
    baton.stop(why);
    TOLD.store(thread, Ordering::Relaxed);
    raise_in(thread, world().torn_down.as_ref());
}

/// Has the interpreter raise `exception` in a thread, whenever that runs Python code; or nothing any more.
fn raise_in(thread: u64, exception: Option<&Py<PyAny>>) {
    let exception = exception.map_or(std::ptr::null_mut(), |exception| exception.as_ptr());
    // SAFETY: it is a class that is kept for good, and the interpreter finds the thread by its number, if there is one.
    unsafe { PyThreadState_SetAsyncExc(thread as std::ffi::c_ulong, exception) };
}

/// Gives up the thread that runs, which is at `place`, and the exploration.
fn leave_behind(baton: Baton, why: Stop, place: String) {
    calm();
    let told = format!("{} in {place}", why.word());
    if baton.give_up_running(why) {
        world().stuck.get_or_insert(place);
        world().unsupported.get_or_insert(told);
    }
}

/// Nothing that is on its way to a thread reaches it any more. To be called with the interpreter's lock, before another
/// thread runs than the one that was told to unwind.
///
/// It is not enough to take it back: the interpreter would still look for it, and 3.11 does so for ever at the beginning
/// of a function that is traced, until some thread is found to have something raised. So the caller does that, in a
/// function of no consequence.
#[inline]
pub(crate) fn calm() {
    if TOLD.load(Ordering::Relaxed) != 0 {
        take_back();
    }
}

#[cold]
fn take_back() {
    // SAFETY: as the callers say.
    let py = unsafe { Python::assume_gil_acquired() };
    raise_in(TOLD.swap(0, Ordering::Relaxed), None);
    // SAFETY: it takes nothing.
    raise_in(unsafe { pthread_self() } as u64, world().torn_down.as_ref());
    let nothing = world().nothing.as_ref().map(|nothing| nothing.clone_ref(py));
    // What is being raised already goes on being raised.
    let raised = PyErr::take(py);
    let _ = nothing.map(|nothing| aside(|| nothing.call0(py)));
    if let Some(raised) = raised {
        raised.restore(py);
    }
}

/// An execution begins.
pub(crate) fn begin_execution() {
    TIMES.store(0, Ordering::Relaxed);
}

/// Where a thread is, in one line.
fn locate(py: Python<'_>, thread: u64) -> String {
    let told = world().locate.as_ref().map(|locate| locate.clone_ref(py));
    let told = told.and_then(|locate| aside(|| locate.call1(py, (thread,))).ok());
    told.and_then(|told| told.extract(py).ok()).unwrap_or_else(|| "code not written in Python".to_owned())
}

/// The same with who has called it, a line each.
fn stack(py: Python<'_>, thread: u64) -> Vec<String> {
    let told = world().stack.as_ref().map(|stack| stack.clone_ref(py));
    let told = told.and_then(|stack| aside(|| stack.call1(py, (thread,))).ok());
    told.and_then(|told| told.extract(py).ok()).unwrap_or_default()
}

/// Takes note of how the execution stood when it was ended, unless that was done.
fn tell(py: Python<'_>, baton: Baton, thread: u64, what: &str) {
    if world().unending.is_some() {
        return;
    }
    let frames = stack(py, thread);
    world().unending = Some(baton.with_engine(|engine| standing(engine, baton.running(), what, &frames)));
}

fn standing(engine: &Engine, running: TaskId, what: &str, frames: &[String]) -> String {
    let mut text = format!("{what}: {} runs, after {} steps", called(engine, running), engine.steps().len());
    for frame in frames {
        let _ = write!(text, "\n    {frame}");
    }
    for held in held_by(engine, running) {
        let _ = write!(text, "\n    {held}");
    }
    let others = (0..engine.tasks().len() as u32).map(TaskId);
    for task in others.filter(|task| *task != running && !engine.task(*task).environment) {
        let pending = engine.task(task).pending;
        let state = match engine.task(task).status {
            Status::Finished => continue,
            Status::Unsettled | Status::Ready => "is about to",
            Status::Disabled | Status::Waiting => "waits in",
        };
        let _ = write!(text, "\n  {} {state} {}{}", called(engine, task), pending.kind.word(), at(pending.site));
        for held in held_by(engine, task) {
            let _ = write!(text, "\n    {held}");
        }
    }
    text
}

fn called(engine: &Engine, task: TaskId) -> String {
    match (task, engine.task(task).name.as_deref()) {
        (TaskId::MAIN, _) => "main".to_owned(),
        (_, Some(name)) => format!("task {} `{name}`", engine.path(task)),
        (_, None) => format!("task {}", engine.path(task)),
    }
}

fn held_by(engine: &Engine, task: TaskId) -> Vec<String> {
    let holds = |held: &(usize, &drawloom_engine::Resource)| held.1.holders.iter().any(|holder| holder.task == task);
    let held = engine.resources().iter().enumerate().filter(holds);
    held.map(|(number, resource)| {
        let name = resource.name.as_deref().unwrap_or(resource.kind.word());
        format!("holds {name}, taken{}", at(engine.taken_at(task, ResourceId(number as u32))))
    })
    .collect()
}

fn at(site: Site) -> String {
    place(site).map(|place| format!(" at {}:{}", place.file, place.line)).unwrap_or_default()
}
