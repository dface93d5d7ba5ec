//! What is raised in code under test, and where it is.

use drawloom_engine::{Site, Stop};
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
    baton.stop(Stop::Unsupported(what.into()));
    torn_down(py)
}

/// The same, of what a task of an event loop cannot do, but could if the loop were a thread.
pub(crate) fn needs_threads(py: Python<'_>, baton: Baton, what: &str) -> PyErr {
    world().needs_threads = true;
    unsupported(py, baton, what)
}

/// The place of the code under test that runs now. What an event, a queue or a framework does inside is done by who uses
/// it: then it is the place of that.
pub(crate) fn here() -> Site {
    let (mut innermost, mut of_library) = (None, None);
    let of_user = frames_on_stack(|frame, code| {
        let known = code_at(code);
        if known.foreign {
            return None;
        }
        let site = site_in(frame, code);
        innermost.get_or_insert(site);
        match known.whose {
            Whose::Program => return Some(of_library.unwrap_or(site)),
            Whose::Library | Whose::Awaiting | Whose::Bridge if !world().met_framework => return Some(site),
            // It may work for a framework.
            Whose::Library | Whose::Awaiting | Whose::Bridge => drop(of_library.get_or_insert(site)),
            Whose::Framework => of_library = None,
            Whose::PassedOn | Whose::Forgetting | Whose::Importing => {}
        }
        None
    });
    of_user.or(innermost).unwrap_or(Site::UNKNOWN)
}

/// The same, be it inside of an event or a queue.
pub(crate) fn here_inside() -> Site {
    let innermost = |frame, code: *mut PyObject| (!code_at(code).foreign).then(|| site_in(frame, code));
    frames_on_stack(innermost).unwrap_or(Site::UNKNOWN)
}

/// The class of what the program uses now, if that is made of locks in the standard library: `Event`, `Queue`.
pub(crate) fn used_object() -> Option<String> {
    let mut called = None;
    frames_on_stack(|_, code| {
        let known = code_at(code);
        match known.whose {
            _ if known.foreign => None,
            Whose::PassedOn => {
                called = Some(code as usize);
                None
            }
            Whose::Program
            | Whose::Library
            | Whose::Framework
            | Whose::Importing
            | Whose::Awaiting
            | Whose::Bridge
            | Whose::Forgetting => Some(()),
        }
    });
    // SAFETY: a code that was analysed is kept, and the interpreter's lock is held.
    let code = unsafe { Bound::from_borrowed_ptr(Python::assume_gil_acquired(), called? as *mut PyObject) };
    // Before 3.11 a code does not know its class.
    let name = code.getattr("co_qualname").ok()?.to_string();
    let class = name.split_once('.')?.0.trim_start_matches("_Py");
    MADE_OF_LOCKS.contains(&class).then(|| class.to_owned())
}

/// What the standard library makes of locks, and what programs wait at.
const MADE_OF_LOCKS: [&str; 8] =
    ["Event", "Semaphore", "BoundedSemaphore", "Barrier", "Queue", "LifoQueue", "PriorityQueue", "SimpleQueue"];

/// The line that a frame is at.
fn site_in(frame: *mut PyObject, code: *mut PyObject) -> Site {
    // SAFETY: the caller has a live frame, and the interpreter's lock.
    let line = unsafe { PyFrame_GetLineNumber(frame) };
    site_of(code, line.max(0) as usize)
}

/// Calls `look` with each frame of the running thread and its code, the innermost first, until it says something.
fn frames_on_stack<R>(mut look: impl FnMut(*mut PyObject, *mut PyObject) -> Option<R>) -> Option<R> {
    // SAFETY: called with the interpreter's lock; the frames of a running thread are live, and every new reference
    // is given back.
    unsafe {
        let mut frame = PyEval_GetFrame();
        ffi::Py_XINCREF(frame);
        while !frame.is_null() {
            let code = PyFrame_GetCode(frame);
            let said = look(frame, code);
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

/// Calls `look` with the code of each frame of the running thread, the innermost first, until it says something.
pub(crate) fn codes_on_stack<R>(mut look: impl FnMut(*mut PyObject) -> Option<R>) -> Option<R> {
    frames_on_stack(|_, code| look(code))
}

/// Whether it is the program itself that does what is done now, and no library on its own behalf.
pub(crate) fn is_by_program() -> bool {
    let is_own = |whose: &Whose| !matches!(whose, Whose::PassedOn | Whose::Forgetting);
    let whose = codes_on_stack(|code| Some(code_at(code).whose).filter(is_own));
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
