//! What is raised in code under test, and where it is.

use drawloom_engine::Site;
use drawloom_engine::finding::{Divergence, FindingKind};
use drawloom_gates::Baton;
use pyo3::exceptions::PySystemExit;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use crate::code::{Whose, code_at};
use crate::world::world;

unsafe extern "C" {
    fn PyFrame_GetCode(frame: *mut PyObject) -> *mut PyObject;
    fn PyFrame_GetBack(frame: *mut PyObject) -> *mut PyObject;
    fn PyFrame_GetLineNumber(frame: *mut PyObject) -> i32;
    fn PyEval_GetFrame() -> *mut PyObject;
}

/// The exception that unwinds a task whose execution is over.
pub(crate) fn torn_down(py: Python<'_>) -> PyErr {
    match &world().torn_down {
        Some(class) => match class.call0(py) {
            Ok(exception) => PyErr::from_value(exception.into_bound(py)),
            Err(error) => error,
        },
        None => PySystemExit::new_err("torn down"),
    }
}

/// Gives the exploration up: nothing could be said of it.
pub(crate) fn unsupported(py: Python<'_>, baton: Baton, what: &str) -> PyErr {
    world().unsupported.get_or_insert_with(|| what.to_owned());
    let divergence = Divergence { step: 0, expected: String::new(), found: what.to_owned(), task: None };
    baton.fail(FindingKind::Divergence(Box::new(divergence)));
    torn_down(py)
}

/// The same, of what a task of an event loop cannot do, but could if the loop were a thread.
pub(crate) fn needs_threads(py: Python<'_>, baton: Baton, what: &str) -> PyErr {
    world().needs_threads = true;
    unsupported(py, baton, what)
}

/// The place of the code under test that runs now.
pub(crate) fn here() -> Site {
    // SAFETY: called with the interpreter's lock; the frames of a running thread are live, and every new reference
    // is given back.
    unsafe {
        let mut frame = PyEval_GetFrame();
        if frame.is_null() {
            return Site::UNKNOWN;
        }
        ffi::Py_INCREF(frame);
        loop {
            let code = PyFrame_GetCode(frame);
            let foreign = code_at(code).foreign;
            if !foreign {
                let line = PyFrame_GetLineNumber(frame).max(0) as usize;
                let site = site_of(code, line);
                ffi::Py_DECREF(code);
                ffi::Py_DECREF(frame);
                return site;
            }
            ffi::Py_DECREF(code);
            let back = PyFrame_GetBack(frame);
            ffi::Py_DECREF(frame);
            if back.is_null() {
                return Site::UNKNOWN;
            }
            frame = back;
        }
    }
}

/// Calls `look` with the code of each frame of the running thread, the innermost first, until it says something.
pub(crate) fn codes_on_stack<R>(mut look: impl FnMut(*mut PyObject) -> Option<R>) -> Option<R> {
    // SAFETY: called with the interpreter's lock; the frames of a running thread are live, and every new reference
    // is given back.
    unsafe {
        let mut frame = PyEval_GetFrame();
        ffi::Py_XINCREF(frame);
        while !frame.is_null() {
            let code = PyFrame_GetCode(frame);
            let said = look(code);
            ffi::Py_DECREF(code);
            let back = if said.is_none() { PyFrame_GetBack(frame) } else { std::ptr::null_mut() };
            ffi::Py_DECREF(frame);
            if said.is_some() {
                return said;
            }
            frame = back;
        }
    }
    None
}

/// Whether it is the program itself that does what is done now, and no library on its own behalf.
pub(crate) fn is_by_program() -> bool {
    let whose = codes_on_stack(|code| Some(code_at(code).whose).filter(|whose| *whose != Whose::PassedOn));
    whose == Some(Whose::Program)
}

/// A line of a code, which lives as long as it is known.
fn site_of(code: *mut PyObject, line: usize) -> Site {
    if let Some(site) = world().sites.get(&(code as usize, line)) {
        return *site;
    }
    // SAFETY: as above.
    let py = unsafe { Python::assume_gil_acquired() };
    // SAFETY: as above.
    let object = unsafe { Bound::from_borrowed_ptr(py, code) };
    let file = object.getattr("co_filename").and_then(|file| file.extract::<String>()).unwrap_or_default();
    let site = world().site(&file, line);
    world().sites.insert((code as usize, line), site);
    site
}
