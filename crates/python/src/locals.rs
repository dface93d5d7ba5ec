//! Thread-local data of the interpreter, made before the exploration, and what else belongs to a thread.
//!
//! The threads of an exploration are used again and again, but each task is a new one: what it has its own of is gone
//! when it ends. What the thread that explores has is as before when an execution ends.

use drawloom_engine::TaskId;
use drawloom_gates::Baton;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

use crate::world::world;

/// What a thread has its own of is kept under names that begin like this.
const PREFIX: &str = "thread.local.";

/// The running task is about to touch its own part of `local`. What main finds there is to be found there by the next
/// execution, too.
pub(crate) fn touched(baton: Baton, local: *mut PyObject) {
    let me = baton.running();
    if me != TaskId::MAIN && !baton.is_guest() {
        if !world().own_locals.contains(&(me, local as usize)) {
            world().own_locals.push((me, local as usize));
            world().keep(local);
        }
        return;
    }
    if world().locals.iter().any(|(known, _)| known.as_ptr() == local) {
        return;
    }
    // SAFETY: a live operand, and the interpreter's lock.
    let local = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), local) };
    let Ok(values) = local.getattr("__dict__").and_then(|values| values.downcast_into::<PyDict>()?.copy()) else {
        return;
    };
    world().locals.push((local.unbind(), values.unbind()));
}

/// What main has its own of is again as it was before the execution.
pub(crate) fn restore() {
    for (local, values) in std::mem::take(&mut world().locals) {
        // SAFETY: executions are begun by Python code.
        let py = unsafe { Python::assume_gil_acquired() };
        let found = local.bind(py).getattr("__dict__");
        if let Ok(now) = found.and_then(|now| Ok(now.downcast_into::<PyDict>()?)) {
            now.clear();
            let _ = now.update(values.bind(py).as_mapping());
        }
    }
}

/// The task that ran on the calling thread has ended: nobody finds what it had its own of.
pub(crate) fn forget(py: Python<'_>) {
    // SAFETY: the dictionary is the calling thread's.
    let Some(state) = (unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyThreadState_GetDict()) }) else { return };
    let Ok(state) = state.downcast::<PyDict>() else { return };
    let names: Vec<_> = state.keys().iter().filter(|name| name.to_string().starts_with(PREFIX)).collect();
    for name in names {
        let _ = state.del_item(name);
    }
}

/// The same where these are kept elsewhere, from 3.13 on: of those that were seen to be touched.
pub(crate) fn empty(py: Python<'_>, task: TaskId) {
    let own: Vec<usize> = world().own_locals.iter().filter(|(of, _)| *of == task).map(|(_, local)| *local).collect();
    for local in own {
        // SAFETY: it is kept for the execution.
        let local = unsafe { Bound::from_borrowed_ptr(py, local as *mut PyObject) };
        if let Ok(values) = local.getattr("__dict__").and_then(|values| Ok(values.downcast_into::<PyDict>()?)) {
            values.clear();
        }
    }
}

/// Calls `run` in a context of its own: empty, as new threads have it, or a copy of the caller's.
pub(crate) fn in_own_context<R>(py: Python<'_>, copied: bool, run: impl FnOnce() -> R) -> R {
    // SAFETY: contexts are entered and left by the thread that runs, in the order of a stack; the new reference is
    // given back.
    unsafe {
        let context = if copied { ffi::PyContext_CopyCurrent() } else { ffi::PyContext_New() };
        let entered = !context.is_null() && ffi::PyContext_Enter(context) == 0;
        let result = run();
        if entered {
            ffi::PyContext_Exit(context);
        }
        if !context.is_null() {
            ffi::Py_DECREF(context);
        }
        if !entered {
            PyErr::take(py);
        }
        result
    }
}
