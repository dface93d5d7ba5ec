//! What C code does to files and sockets, as the preloaded library tells: steps and waits like any others.
//!
//! Drivers give the interpreter's lock up while they make calls, so that every hook takes it first. Who would wait in
//! a call is entered in a list of those that wait for the same thing, and parks; whoever does something to that thing
//! unparks them, and they try again. A list is changed only right after a step on what it is for, so that what is in it
//! follows from the order of such steps.

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use drawloom_engine::{OpKind, Operation, ResourceId, Status, TaskId, outcome};
use drawloom_gates::{Baton, TornDown, baton};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::assumptions;
use crate::outside;
use crate::raise::here;
use crate::world::{Phase, is_aside, world};

#[allow(dead_code, reason = "some of it is the library's")]
mod abi;

use abi::{Answer, FOR_EVER, Hooks, Register, Text};

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn PyEval_GetFrame() -> *mut PyObject;
    fn PyFrame_GetCode(frame: *mut PyObject) -> *mut PyObject;
    fn PyFrame_GetBack(frame: *mut PyObject) -> *mut PyObject;
}

static HOOKS: Hooks = Hooks {
    version: abi::VERSION,
    controlled,
    task,
    touch,
    enlist,
    leave,
    wake,
    wait,
    give_way,
    sleep,
    outside: noted,
};

/// Waits, in one execution.
#[derive(Default)]
struct Waits {
    epoch: u64,
    /// By name: tasks in the order of their numbers, and whether they have been woken already.
    lists: HashMap<String, Vec<(TaskId, bool)>>,
    /// Those that wait until nobody else can go on.
    last: Vec<TaskId>,
}

static WAITS: Mutex<Option<Waits>> = Mutex::new(None);

/// The library's function, if it is preloaded.
fn register() -> Option<Register> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    // SAFETY: looks for a name in all libraries; what has that name is that function.
    unsafe {
        let found = dlsym(std::ptr::null_mut(), abi::REGISTER.as_ptr());
        (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, Register>(found))
    }
}

/// While it lives, the library tells us what it sees.
pub(crate) struct Looking(Option<Register>);

/// Has the library tell, if it is there.
pub(crate) fn look() -> Looking {
    let register = register();
    // SAFETY: hooks that live for ever.
    let agreed = register.filter(|register| unsafe { register(&raw const HOOKS) });
    Looking(agreed)
}

impl Drop for Looking {
    fn drop(&mut self) {
        if let Some(register) = self.0 {
            // SAFETY: takes them back.
            unsafe { register(std::ptr::null()) };
        }
    }
}

/// Whether the library is preloaded.
#[pyfunction]
fn preloaded() -> bool {
    register().is_some()
}

/// Calls `act` with the interpreter's lock, which the caller may have or not.
fn locked<R>(act: impl FnOnce(Python<'_>) -> R) -> R {
    // SAFETY: tasks are threads of the interpreter, and what is taken is given back.
    unsafe {
        let state = ffi::PyGILState_Ensure();
        let result = act(Python::assume_gil_acquired());
        ffi::PyGILState_Release(state);
        result
    }
}

/// The same with the lists of this execution, which nothing may wait with.
fn listed<R>(act: impl FnOnce(&mut Waits) -> R) -> R {
    let epoch = world().epoch;
    let mut waits = WAITS.lock().unwrap_or_else(|e| e.into_inner());
    let waits = waits.get_or_insert_default();
    if waits.epoch != epoch {
        *waits = Waits { epoch, ..Waits::default() };
    }
    act(waits)
}

/// # Safety
/// A text of the library.
unsafe fn read(text: Text) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text.start, text.length) }).into_owned()
}

fn answer(result: Result<Answer, TornDown>) -> Answer {
    result.unwrap_or(Answer::TORN_DOWN)
}

/// The baton, if what the running task does is to be looked at now; else what it is to do.
fn in_sight() -> Result<Baton, Answer> {
    let baton = baton().ok_or(Answer::PLAIN)?;
    if is_aside() || !world().exploring {
        return Err(Answer::PLAIN);
    }
    if baton.is_tearing_down() {
        return Err(baton.access_in_teardown().map_or(Answer::TORN_DOWN, |()| Answer::ENDING));
    }
    Ok(baton)
}

extern "C" fn controlled() -> bool {
    baton().is_some()
}

extern "C" fn task() -> u64 {
    locked(|_| (world().epoch << 32) | baton().map_or(0, |baton| u64::from(baton.running().0)))
}

unsafe extern "C" fn touch(name: Text, write: bool) -> Answer {
    // SAFETY: asks whether the calling thread has the lock.
    let held = unsafe { ffi::PyGILState_Check() } != 0;
    locked(|py| {
        let baton = match in_sight() {
            Ok(baton) => baton,
            Err(answer) => return answer,
        };
        // SAFETY: passed by the library.
        let name = unsafe { read(name) };
        if world().phase != Phase::Parallel || (name.starts_with("file") && is_importing(py)) {
            return Answer::PLAIN;
        }
        if is_ours(py) {
            return Answer::ANNOUNCED;
        }
        let name = match file(py, name) {
            Ok(name) => name,
            Err(_) => return Answer::TORN_DOWN,
        };
        if held && is_announced(baton) {
            return Answer::DONE;
        }
        let touched = outside::touch(py, &PyString::new(py, &name), write, false);
        match touched {
            Ok(_) if baton.is_guest() => Answer::PLAIN,
            Ok(true) => Answer::DONE,
            Ok(false) => Answer::PLAIN,
            Err(_) => Answer::TORN_DOWN,
        }
    })
}

/// The name under which files are told apart as finely as this exploration does: `drawloom/_outside/_names.py`.
fn file(py: Python<'_>, name: String) -> PyResult<String> {
    if name == FILES {
        outside::learn(py, TREE)?;
    }
    let facts = &world().knowledge.facts;
    Ok(match name.strip_prefix("file ") {
        Some(_) if facts.contains(TREE) => FILES.to_owned(),
        Some(path) if facts.contains("directories") => {
            format!("files in {}", path.rsplit_once('/').map_or("", |(directory, _)| directory))
        }
        _ => name,
    })
}

/// All files at once, and the fact that they are not told apart.
const FILES: &str = "files";
const TREE: &str = "tree";

/// Whether the call is made by code of ours that has announced it already.
fn is_ours(py: Python<'_>) -> bool {
    // SAFETY: with the interpreter's lock, the frame of the running thread is live; the new reference is given back.
    let code = unsafe {
        let frame = PyEval_GetFrame();
        (!frame.is_null()).then(|| Bound::from_owned_ptr(py, PyFrame_GetCode(frame)))
    };
    let file = code.and_then(|code| code.getattr("co_filename").ok());
    file.is_some_and(|file| file.extract::<&str>().is_ok_and(|file| file.contains("/drawloom/_outside/")))
}

/// Whether the last step of all was an instruction of the running task that may do anything. With the interpreter's lock
/// held ever since, what it does is part of that step.
fn is_announced(baton: Baton) -> bool {
    let Some(everything) = world().resources.get(&(0, 0)).copied() else { return false };
    let me = baton.running();
    baton.with_engine(|engine| engine.steps().last().is_some_and(|s| s.task == me && s.resource == everything))
}

/// Whether the interpreter is looking for a module.
fn is_importing(py: Python<'_>) -> bool {
    // SAFETY: with the interpreter's lock, frames of the running thread are live; new references are given back.
    unsafe {
        let mut frame = Py::<PyAny>::from_borrowed_ptr_or_opt(py, PyEval_GetFrame());
        while let Some(this) = frame {
            let code = Bound::from_owned_ptr(py, PyFrame_GetCode(this.as_ptr()));
            let file = code.getattr("co_filename");
            if file.is_ok_and(|file| file.extract::<&str>().is_ok_and(|file| file.starts_with("<frozen importlib"))) {
                return true;
            }
            frame = Py::<PyAny>::from_owned_ptr_or_opt(py, PyFrame_GetBack(this.as_ptr()));
        }
    }
    false
}

unsafe extern "C" fn enlist(name: Text) {
    locked(|_| {
        let Some(baton) = baton() else { return };
        let me = baton.running();
        // SAFETY: passed by the library.
        let name = unsafe { read(name) };
        listed(|waits| {
            let list = waits.lists.entry(name).or_default();
            list.retain(|(task, _)| *task != me);
            let place = list.partition_point(|(task, _)| *task < me);
            list.insert(place, (me, false));
        });
    });
}

unsafe extern "C" fn leave(name: Text) {
    locked(|_| {
        let Some(baton) = baton() else { return };
        let me = baton.running();
        // SAFETY: passed by the library.
        let name = unsafe { read(name) };
        listed(|waits| waits.lists.entry(name).or_default().retain(|(task, _)| *task != me));
    });
}

unsafe extern "C" fn wake(name: Text) -> Answer {
    locked(|_| {
        let Ok(baton) = in_sight() else { return Answer::PLAIN };
        let me = baton.running();
        // SAFETY: passed by the library.
        let name = unsafe { read(name) };
        let asleep: Vec<TaskId> = listed(|waits| {
            let list = waits.lists.get_mut(&name).into_iter().flatten();
            let others = list.filter(|(task, woken)| *task != me && !*woken);
            let wake = |(task, woken): &mut (TaskId, bool)| {
                *woken = true;
                *task
            };
            others.map(wake).collect()
        });
        let unpark = |task: &TaskId| {
            let operation = Operation::new(OpKind::Unpark, ResourceId::NONE, here()).with_arg(u64::from(task.0));
            baton.step(operation).map(|_| ())
        };
        answer(asleep.iter().try_for_each(unpark).map(|()| Answer::DONE))
    })
}

unsafe extern "C" fn wait(_shown: Text, nanos: u64, alone: bool) -> Answer {
    locked(|_| {
        let baton = match in_sight() {
            Ok(baton) if baton.is_guest() => return Answer::PLAIN,
            Ok(baton) => baton,
            Err(answer) => return answer,
        };
        let me = baton.running();
        if alone {
            listed(|waits| waits.last.push(me));
        }
        let answer = answer(park(baton, nanos, alone));
        listed(|waits| waits.last.retain(|task| *task != me));
        answer
    })
}

/// Waits to be unparked, until the time is up or, with `alone`, nobody else can go on now or later.
fn park(baton: Baton, nanos: u64, alone: bool) -> Result<Answer, TornDown> {
    let operation = Operation::new(OpKind::Park, ResourceId::NONE, here());
    let now = || baton.with_engine(|engine| engine.now());
    let until = (nanos != FOR_EVER).then(|| now().saturating_add(nanos));
    if until.is_some() {
        assumptions::time();
    }
    loop {
        // Timers fire when nobody can go on: one that comes after all others tells that nobody will.
        let latest = latest_of_others(baton).unwrap_or(0).max(now());
        let last = alone.then_some(latest + 1);
        let result = match until.into_iter().chain(last).min() {
            Some(instant) => baton.step_with_timeout(operation, instant.saturating_sub(now()).max(1))?,
            None => baton.step(operation)?,
        };
        if result == outcome::OK {
            return Ok(Answer::DONE);
        }
        if until.is_some_and(|until| until <= now()) {
            return Ok(Answer::TIMED_OUT);
        }
        if latest_of_others(baton).is_none_or(|latest| latest <= now()) {
            return Ok(Answer::ALONE);
        }
    }
}

/// When the last wait of another task ends by itself.
fn latest_of_others(baton: Baton) -> Option<u64> {
    let me = baton.running();
    let last = listed(|waits| waits.last.clone());
    baton.with_engine(|engine| {
        let others = (0..engine.tasks().len() as u32).map(TaskId).filter(|task| *task != me && !last.contains(task));
        let ends = others.filter_map(|task| match engine.task(task) {
            known if known.status == Status::Finished => None,
            known if known.pending.kind == OpKind::Sleep => Some(known.pending.arg),
            _ => engine.deadline(task),
        });
        ends.max()
    })
}

extern "C" fn give_way() -> Answer {
    locked(|_| match baton() {
        Some(baton) if baton.is_tearing_down() && baton.let_others_unwind() => Answer::DONE,
        _ => Answer::PLAIN,
    })
}

extern "C" fn sleep(nanos: u64) -> Answer {
    locked(|_| {
        let baton = match in_sight() {
            Ok(baton) if baton.is_guest() => return Answer::PLAIN,
            Ok(baton) => baton,
            Err(answer) => return answer,
        };
        assumptions::time();
        let until = baton.with_engine(|engine| engine.now()).saturating_add(nanos);
        let operation = Operation::new(OpKind::Sleep, ResourceId::NONE, here()).with_arg(until);
        answer(baton.step(operation).map(|_| Answer::DONE))
    })
}

unsafe extern "C" fn noted(name: Text) {
    // SAFETY: passed by the library.
    let name = unsafe { read(name) };
    locked(|_| outside::uncontrolled(&name));
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(preloaded, module)?)
}
